"""python -m golem.cli, where the program itself is not on the path."""

from golem.cli import main

main()
