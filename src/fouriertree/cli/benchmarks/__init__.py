"""What `fouriertree bench` is made of: the choice of cases and systems, and the run with its tables."""
