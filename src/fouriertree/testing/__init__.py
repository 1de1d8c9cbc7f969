"""Contract suites: requirements on every engine, space, projector and search, also on user-defined ones."""
