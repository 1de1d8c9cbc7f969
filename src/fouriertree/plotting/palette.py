"""The colours of all pictures.  No two are equal, so that a page can exchange each for one of its own."""

INK = "#24292f"
#: lines that help to read: the diagonal, zero, edges of a tree
FAINT = "#8c959f"
POINTS = "#2f6fb5"
VALIDATION = "#c2571a"
CHOSEN = "#b3263a"
#: one curve per row of data, behind their mean
CURVES = "#7d93ab"

# Insides of a tree's nodes.
OPERATOR = "#dbe7f6"
COLUMN = "#d8efdc"
NUMBER = "#f3ecd9"
