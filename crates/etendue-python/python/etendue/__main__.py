"""`python -m etendue` is the command `etendue`."""

from ._cli import main

main()
