"""From candidates to the table of equations: refit, snap constants, simplify, compare with linear models, choose.

May import `search` and what is below it.
"""
