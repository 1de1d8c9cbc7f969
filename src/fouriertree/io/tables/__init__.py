"""Table files as float64: CSV, TSV, Parquet and Excel, compressed or from a pipe, with one set of checks."""
