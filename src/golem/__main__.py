"""`python -m golem` is the command `golem`."""

from golem.cli import main

main()
