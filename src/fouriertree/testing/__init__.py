"""Contract suites: requirements on every engine, space, projector, search and executor, also on user-defined ones."""
