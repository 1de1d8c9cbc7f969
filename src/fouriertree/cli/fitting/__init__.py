"""The parts of `fouriertree fit`: options, arguments and their checks, columns, hold-out set, outputs."""
