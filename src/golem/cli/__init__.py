"""The command line: one module per command, assembled in `application`. This file imports nothing large.

Standard output and standard error never stop the work: results in files matter more than text.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, TextIO

from golem.runtime.interrupts import exit_now, handle_signals, received
from golem.runtime.machine import lack_of_addresses


def main() -> None:
    """Run the command line."""
    handle_signals()  # before the imports, which take half a second
    sys.stdout, sys.stderr = _tolerant(sys.stdout), _tolerant(sys.stderr)
    if problem := lack_of_addresses():
        sys.exit(f"Error: {problem}")
    from golem.cli.application import app

    try:
        app(prog_name="golem")
    except SystemExit as end:
        if received():
            # Threads may still be reading or searching.
            sys.stdout.flush()
            exit_now(int(end.code or 0))
        raise


class TolerantStream(io.TextIOWrapper):
    """A stream that escapes characters outside its encoding, and discards its text after an error.

    `problem` is the first error. A reader that has closed its pipe wants no more text, which is not an error.
    """

    problem: OSError | None = None

    def write(self, text: str) -> int:
        """Write text, if the stream still works."""
        try:
            return super().write(text)
        except OSError as error:
            self._discard(error)
            return len(text)

    def flush(self) -> None:
        """Flush the stream, if it still works."""
        try:
            super().flush()
        except OSError as error:
            self._discard(error)

    def _discard(self, error: OSError) -> None:
        if error.errno != errno.EPIPE:
            self.problem = self.problem or error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())  # so that what is left in the buffer can be flushed
        os.close(nowhere)


def output_problem() -> OSError | None:
    """Return why standard output could not be written, or None."""
    sys.stdout.flush()
    return getattr(sys.stdout, "problem", None)


def _tolerant(stream: Any) -> TextIO:
    if stream is None:  # closed; its number would go to the next file that is opened
        return open(os.devnull, "w", encoding="utf-8")
    return TolerantStream(
        stream.detach(), stream.encoding, errors="backslashreplace", line_buffering=stream.line_buffering
    )


def __getattr__(name: str) -> Any:
    if name == "app":
        from golem.cli.application import app

        return app
    raise AttributeError(f"module 'golem.cli' has no attribute {name!r}")
