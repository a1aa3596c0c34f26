"""The terminal: what all commands share to print text, warnings and tables."""

from __future__ import annotations

import contextlib
import json
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console

from golem.runtime.dialects import SHELL
from golem.runtime.messages import printable
from golem.runtime.problems import told

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from golem.graphs.graph_document import GraphDocument


class _Terminal(Console):
    """A console for text that contains names from files, which must not control the terminal.

    A terminal gets long lines wrapped at words; redirected text has them whole.
    """

    lines = 0  # that texts took so far

    def print(self, *objects: Any, **how: Any) -> None:
        """Print text with control characters escaped."""
        texts = [printable(one) if isinstance(one, str) else one for one in objects]
        is_text = all(isinstance(one, str) for one in objects)
        if is_text:
            self.lines += sum(max(1, -(-len(line) // self.width)) for text in texts for line in text.split("\n"))
        super().print(*texts, **{"soft_wrap": is_text and not self.is_terminal} | how)

    def most(self, count: int) -> int:
        """Return how many lines of a list to print: at least 50 if the output is redirected."""
        return count if self.is_terminal else max(count, _MOST_REDIRECTED)


# Lines of a list in redirected output. Files have the whole list, and what follows a longer one is easily missed.
_MOST_REDIRECTED = 50
# No markup: column names are the user's text, and "[red]" is a valid name.
out = _Terminal(highlight=False, markup=False)
err = _Terminal(stderr=True, highlight=False, markup=False)
_SENTENCE_END = re.compile(r"(?<=[\w'\")]{2}\.) (?=[A-Z])")
# The least width of a name in a table; in a narrow terminal the lines of the table are wrapped instead.
_NAME_WIDTH = 12


@contextlib.contextmanager
def showing_warnings(quiet: bool, brief: bool = False) -> Iterator[None]:
    """Print warnings as soon as they occur, or only their first sentence, or hide them."""

    def show(message: Warning | str, *about: Any) -> None:
        if not quiet:
            text = told(message, SHELL)
            err.print(f"Warning: {_SENTENCE_END.split(text, maxsplit=1)[0] if brief else text}", style="yellow")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def edge_table(*headings: str) -> Table:
    """Return a table without lines that begins with source, arrow and target of an edge."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("edge", "", ""):
        table.add_column(heading, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def name_cell(text: str) -> Text:
    """Return a name as a cell of a table."""
    from rich.text import Text

    return Text(printable(text).replace("\n", "\\n"))


def width_of(table: Table) -> int:
    """Return the width that a table needs, with names folded to 12 characters in a terminal."""
    from rich.cells import cell_len

    needed = 2 * (len(table.columns) - 1)
    for column in table.columns:
        width = max(cell_len(str(cell)) for cell in (column.header, *column.cells))
        needed += min(width, _NAME_WIDTH) if column.overflow == "fold" and out.is_terminal else width
    return needed


def print_table(table: Table) -> None:
    """Print a table. A narrow terminal folds names, and wraps lines that are still too long.

    Redirected output has no width, so nothing is folded.
    """
    needed = width_of(table)
    if needed > out.width:
        table.width = needed
    out.print(table, crop=False)


def print_json(document: GraphDocument, more: dict[str, Any]) -> None:
    """Print a document as one line of JSON, without its long lists except for the edges."""
    about = document.plain()
    for key in ("names", "weighted", "noise_variances", "intercepts", "raw_weights", "trace"):
        del about[key]
    for key in ("data", "bootstrap", "diagnostics"):
        if about[key] is None:
            del about[key]
    print(json.dumps(about | {"edge_list": about.pop("edge_table")} | more, allow_nan=False))  # noqa: T201
