"""Guesses of the user: fits from many initial values of their parameters, and their rows in the table."""
