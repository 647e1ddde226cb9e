"""`python -m etendue` is the command `etendue`."""

from ._cli import main

if __name__ == "__main__":
    main()
