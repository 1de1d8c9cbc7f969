"""Reliability of equations: prediction and parameter intervals, stability, certificates.

May import `search`, `projection`, `model` and what is below them.
"""
