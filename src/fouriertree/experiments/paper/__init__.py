"""Reproduction of the published experiments, tables and figures, with tests of agreement: one artefact per file.

Antonov, Kalkreuth, Yang, Bäck, van Stein, Kononova: A Functional Analysis Approach to Symbolic Regression.
GECCO 2024.
"""
