"""`python -m fouriertree`: the command, where the shell does not find it by name."""

from fouriertree.cli import main

if __name__ == "__main__":
    main()
