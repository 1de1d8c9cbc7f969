"""Benchmarks: ground-truth and black-box problems, solved by this package and by other systems under the same rules."""
