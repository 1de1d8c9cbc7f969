"""What a fit sees: checks of the input, rows without duplicates, weights.

May import `io` and `errors`.
"""
