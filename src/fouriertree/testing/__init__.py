"""Contract suites: what every engine, space, projector and search must satisfy, yours included."""
