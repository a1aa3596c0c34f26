"""Commands as a user types them, run in this process."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner, Result

from golem.cli import app


def golem(*arguments: object, expect: int = 0, **options: Any) -> Result:
    """Run a command, check its exit code, and return what it printed."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
    assert result.exit_code == expect, result.output
    return result
