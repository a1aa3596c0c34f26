"""Names of variables: check them, generate them, find them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from golem.runtime.messages import quoted, shortened
from golem.runtime.problems import ProblemError, Set

_LONGEST = 1000


def column_names(names: Sequence[Any] | None, d: int) -> tuple[str, ...]:
    """Return the names of d columns, by default `x0, x1, ...`; refuse missing, empty and repeated names."""
    if names is None:
        return tuple(f"x{j}" for j in range(d))
    names = tuple(str(name) for name in names)
    if len(names) != d:
        raise ValueError(f"There are {len(names)} names for {d} columns. Give one name per column.")
    if empty := [str(j + 1) for j, name in enumerate(names) if not name.strip()]:
        which, it = ("Column", "it") if len(empty) == 1 else ("Columns", "them")
        has = "has an empty name" if len(empty) == 1 else "have empty names"
        raise ProblemError(
            f"{which} {', '.join(empty)} {has}. Name {it}, or choose the columns to use (", Set("columns", [...]), ")."
        )
    if long := [f"{j + 1} ({len(name)})" for j, name in enumerate(names) if len(name) > _LONGEST]:
        raise ValueError(f"Names have at most {_LONGEST} characters. Shorten those of column {shortened(long)}.")
    if repeated := sorted(name for name, count in Counter(names).items() if count > 1):
        raise ValueError(f"Column names must be unique; repeated: {quoted(repeated)}. Rename them.")
    return names


def positions(names: Sequence[str], among: Sequence[str]) -> list[int]:
    """Return the positions of names in a list of names.

    Examples
    --------
    >>> positions(["c", "a"], ["a", "b", "c"])
    [2, 0]
    """
    place = {name: position for position, name in enumerate(among)}
    return [place[name] for name in names]
