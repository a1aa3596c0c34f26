"""Edges as users type them, such as "A->B"."""

from __future__ import annotations

from collections.abc import Sequence

from golem.data.knowledge import Knowledge, NamedKnowledge
from golem.runtime.messages import shown, suggestion


def read_edge(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Read "A->B" as an edge between two columns; blanks and quotes around the names are ignored.

    A name may contain "->" itself: the text is split at the arrow that leaves two column names.

    Examples
    --------
    >>> read_edge("a->b -> c", ["a->b", "c"])
    ('a->b', 'c')
    """
    pieces = text.split("->")
    if len(pieces) < 2:
        raise ValueError(f"{shown(text)} is not an edge. Write 'A->B', with the cause first.")
    known = set(names)
    splits = [("->".join(pieces[:k]), "->".join(pieces[k:])) for k in range(1, len(pieces))]
    found = [(_unquoted(cause, known), _unquoted(effect, known)) for cause, effect in splits]
    fitting = list(dict.fromkeys(edge for edge in found if known.issuperset(edge)))
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        ways = " or ".join(f"{shown(cause)} -> {shown(effect)}" for cause, effect in fitting)
        raise ValueError(f"{shown(text)} is ambiguous: {ways}. Put the names in double quotes.")
    if len(found) > 1:
        raise ValueError(f"{shown(text)} is not an edge between two columns. Write 'A->B', one edge at a time.")
    unknown = next(name for name in found[0] if name not in known)
    raise ValueError(
        f"{shown(text)} refers to {shown(unknown)}, which is not a column. {suggestion(unknown, names, 'columns')}"
    )


def _unquoted(text: str, known: set[str]) -> str:
    """Strip blanks and quotes unless they belong to the name."""
    for name in (text, text.strip()):
        if name in known:
            return name
    name = text.strip()
    return name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name


def with_edges(
    known: NamedKnowledge | None, forbid: Sequence[str], require: Sequence[str], columns: Sequence[str]
) -> NamedKnowledge | None:
    """Add edges between columns, such as "A->B", to knowledge by name; None if nothing is known."""
    forbidden, required = ([read_edge(text, columns) for text in texts] for texts in (forbid, require))
    known = (known or NamedKnowledge()).joined(Knowledge.named(forbidden, required))
    return None if known.is_empty else known
