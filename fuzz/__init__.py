"""Fuzz tests: `python -m fuzz` attacks every reader of untrusted input.

A target is a function of bytes that returns if the input was accepted or refused correctly, and raises otherwise.  The
same functions are driven by Atheris (coverage-guided), by a simple loop where Atheris is not installed, and by
Hypothesis in the tests.
"""
