"""The command line: one module per command, assembled in `application`. This file imports nothing large."""

from __future__ import annotations

import sys
from typing import Any

from golem.runtime.interrupts import exit_now, handle_signals, received


def main() -> None:
    """Run the command line."""
    handle_signals()  # before the imports, which take half a second
    from golem.cli.streams import use_tolerant_streams

    use_tolerant_streams()
    from golem.cli.application import app

    try:
        app(prog_name="golem")
    except SystemExit as end:
        if received():
            # Threads may still be reading or searching.
            sys.stdout.flush()
            exit_now(int(end.code or 0))
        raise


def __getattr__(name: str) -> Any:
    if name == "app":
        from golem.cli.application import app

        return app
    raise AttributeError(f"module 'golem.cli' has no attribute {name!r}")
