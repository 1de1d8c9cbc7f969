"""The scikit-learn interface: regressor, classifier, transformer, several targets, inspection of fitted models.

May import everything but `cli`, `experiments` and `testing`.
"""
