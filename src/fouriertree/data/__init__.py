"""The data of a fit: validation of the input, duplicate rows and weights, training and validation set."""
