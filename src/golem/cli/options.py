"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import csv
from typing import Annotated, Any

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is random.", min=0)]


def names(text: str | None) -> list[str] | None:
    """Read a list of names with commas between them; quotes protect a comma in a name."""
    return None if text is None else [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def number_or_word(text: str | None) -> Any:
    """Read an option that takes a number or a word."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
