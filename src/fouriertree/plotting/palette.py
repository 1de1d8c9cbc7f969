"""The colours of all figures.  No two are equal, so that a page can replace each by a variable of its style."""

INK = "#24292f"
#: reference lines: the diagonal, zero, edges of a tree
FAINT = "#8c959f"
POINTS = "#2f6fb5"
VALIDATION = "#c2571a"
CHOSEN = "#b3263a"
#: individual curves, one per row, behind their mean
CURVES = "#7d93ab"

# Nodes of an expression tree.
OPERATOR = "#dbe7f6"
FEATURE = "#d8efdc"
CONSTANT = "#f3ecd9"
