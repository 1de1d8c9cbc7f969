"""Benchmarks: laws to find again and tables to predict, solved by this package and by other systems, judged alike."""
