"""Names of variables: check them, make them up, find them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from golem.runtime.messages import quoted


def column_names(names: Sequence[Any] | None, d: int) -> tuple[str, ...]:
    """Check column names, or make up `x0, x1, ...`.

    Raises
    ------
    ValueError
        If names are missing, empty or duplicated.
    """
    if names is None:
        return tuple(f"x{j}" for j in range(d))
    names = tuple(str(name) for name in names)
    if len(names) != d:
        raise ValueError(f"{len(names)} names for {d} columns")
    empty = [j + 1 for j, name in enumerate(names) if not name.strip()]
    if empty:
        raise ValueError(
            f"column {', '.join(map(str, empty))} has an empty name; name it, or choose the columns to use (--columns)"
        )
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ValueError(f"column names must be unique; repeated: {quoted(repeated)}")
    return names


def positions(names: Sequence[str], among: Sequence[str]) -> list[int]:
    """Find names among others.

    Examples
    --------
    >>> positions(["c", "a"], ["a", "b", "c"])
    [2, 0]
    """
    place = {name: position for position, name in enumerate(among)}
    return [place[name] for name in names]
