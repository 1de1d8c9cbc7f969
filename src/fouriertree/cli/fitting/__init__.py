"""The parts of `fouriertree fit`: options, arguments, columns and hold-out set, outputs."""
