"""One fit, from valid data to a table of equations: pipeline, starting points, stopping, memory.

May import `selection`, `search` and what is below them; the recorder of a fit is passed in.
"""
