"""Experiments: `paper` reproduces the published tables, `bench` compares systems; only the CLI imports them."""
