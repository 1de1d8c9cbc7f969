"""Hostile input: `python -m fuzz` attacks everything that reads what others wrote.

A target is a function of bytes that returns if the package behaved, whether it took the input or refused it, and raises
if it did not.  The same functions are driven by Atheris (guided by coverage), by a loop of our own where Atheris is not
installed, and by Hypothesis in the tests.
"""
