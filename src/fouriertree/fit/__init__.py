"""One fit, from valid data to a table of equations: pipeline, starting points, stopping, memory.

May import `selection`, `search` and what is below them; what records a fit is handed in.
"""
