"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import csv
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from golem.data.knowledge import NamedKnowledge

# Headings of the options in the help of a command.
DATA = "Data"
KNOWN = "What you know"
MODEL = "Model"
WORK = "How to work"
TRUST = "What to believe"

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is random.", min=0)]


class MissingValues(StrEnum):
    """Choices of --missing."""

    error = "error"
    drop = "drop"
    em = "em"


Missing = Annotated[
    MissingValues,
    typer.Option(
        help="What to do about missing values (empty cells, NA, NaN, null): refuse them (error), leave their rows out "
        "(drop), or estimate means and covariances by Gaussian EM (em).",
        rich_help_panel=DATA,
    ),
]
NotAvailable = Annotated[
    list[str],
    typer.Option(
        "--na",
        metavar="MARKER",
        help="What stands for a missing value beside empty cells, NA, NaN and null, such as . or -999; a number stands "
        "for all cells of that value. Repeat for more.",
        rich_help_panel=DATA,
    ),
]
Forbid = Annotated[
    list[str],
    typer.Option(metavar="EDGE", help="An edge that cannot be, as 'A->B'; repeat for more.", rich_help_panel=KNOWN),
]
Require = Annotated[
    list[str],
    typer.Option(metavar="EDGE", help="An edge that must be, as 'A->B'; repeat for more.", rich_help_panel=KNOWN),
]
KnowledgeFile = Annotated[
    Path | None,
    typer.Option(
        "--knowledge",
        metavar="FILE",
        help='JSON with forbidden and required edges and tiers: {"forbidden": [["A", "B"]], "required": [], "tiers": '
        '[["A"], ["B", "C"]]}.',
        rich_help_panel=KNOWN,
    ),
]


def names(text: str | None) -> list[str] | None:
    """Read a list of names with commas between them; quotes protect a comma in a name."""
    return None if text is None else [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def all_names(texts: list[str]) -> list[str]:
    """Read an option that may be repeated, with names and commas between them in each."""
    return [name for text in texts for name in names(text) or []]


def given_options(context: typer.Context, but: Collection[str]) -> list[str]:
    """List the options that were typed, less those of some names."""
    given = []
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name not in but and source is not None and source.name == "COMMANDLINE":
            given.append(option.opts[0])
    return given


def number_or_word(text: str | None) -> Any:
    """Read an option that takes a number or a word."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def read_knowledge_file(path: Path | None) -> NamedKnowledge | None:
    """Read --knowledge, where it was given."""
    from golem.data.knowledge import Knowledge

    return None if path is None else Knowledge.read(path)
