"""Small deterministic fits whose results `tools/golden.py` compares between two versions of the package.

Cases use the public interface only: the names of `fouriertree.__all__`, methods and fitted attributes of estimators,
and the command `python -m fouriertree`.  They limit evaluations, never time, so that a case has one right answer.
"""
