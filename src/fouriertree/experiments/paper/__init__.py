"""The published experiments, their tables and figures, and how closely ours agree: one artefact per file.

Antonov, Kalkreuth, Yang, Bäck, van Stein, Kononova: A Functional Analysis Approach to Symbolic Regression.
GECCO 2024.
"""
