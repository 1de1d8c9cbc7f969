"""Experiments with the package, which nothing imports but the command line: the paper's, and benchmarks."""
