"""Small pieces of HTML for notebooks. Texts are escaped, and colours follow the theme of the page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

# Inline styles, because notebooks that are exported or not trusted lose style sheets.
_CELL = "padding:0.15em 0.6em;border-bottom:1px solid rgba(128,128,128,0.35);vertical-align:top"
# Rows that a table in a notebook shows.
MOST_ROWS = 20
_LEVELS = {"warning": "#c25700", "note": "#2a78b8", "ok": "#3d8b40"}

Cell = str | float | bool | None


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], note: str = "") -> str:
    """Return a table with a line of text below it; numbers have three digits and are aligned to the right.

    >>> "a &lt; b" in html_table(["a < b"], [["x", 0.25]])
    True
    """
    head = "".join(f'<th style="{_CELL};text-align:left">{html.escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    table = f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return table + (paragraph(note) if note else "")


def paragraph(text: str, *, strong: bool = False) -> str:
    """Return a paragraph of plain text."""
    escaped = html.escape(text)
    return f'<p style="margin:0.5em 0">{f"<strong>{escaped}</strong>" if strong else escaped}</p>'


def leveled_list(items: Iterable[tuple[str, str, str]]) -> str:
    """Return a list of (level, name, text), with the level in its colour."""
    lines = [
        f'<li><span style="color:{_LEVELS.get(level, "inherit")};font-weight:bold">{html.escape(level)}</span> '
        f"<strong>{html.escape(name)}</strong> {html.escape(text)}</li>"
        for level, name, text in items
    ]
    return f'<ul style="margin:0.5em 0;padding-left:1.2em">{"".join(lines)}</ul>' if lines else ""


def _cell(value: Cell) -> str:
    """Return one cell of a table."""
    if isinstance(value, float):
        return f'<td style="{_CELL};text-align:right">{value:.3g}</td>'
    shown = "" if value is None else ("yes" if value else "no") if isinstance(value, bool) else str(value)
    align = "right" if isinstance(value, int) and not isinstance(value, bool) else "left"
    return f'<td style="{_CELL};text-align:{align}">{html.escape(shown)}</td>'
