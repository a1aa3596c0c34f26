"""Run the command line as `python -m golem.cli`."""

from golem.cli import main

main()
