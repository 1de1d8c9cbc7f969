"""Tables of any format in, numbers out: CSV, TSV, Parquet, Excel, compressed or from a pipe; one set of checks."""
