"""The parts of `fouriertree bench`: planning (cases and systems) and running (fits and tables)."""
