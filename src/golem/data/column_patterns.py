"""Columns chosen by names, by patterns such as `T*`, or by the word `all`, and patterns that describe some columns."""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Sequence

from golem.runtime.messages import quoted, suggestion
from golem.runtime.problems import ProblemError, Set

_ALL = "all"
_WILDCARD = re.compile(r"[*?]")
# So many columns are listed by name.
_FEW = 5


def column_types(
    categorical: Sequence[str], numeric: Sequence[str], names: Sequence[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the columns that are categories and numbers by choice.

    A column given by its name is not among those that a pattern of the other kind matches.

    Raises
    ------
    ValueError
        If a name or a pattern matches no column, or if both choices have the same column.

    Examples
    --------
    >>> chosen = column_types(["all"], ["age"], ["age", "T1", "T2"])
    >>> sorted(chosen[0]), sorted(chosen[1])
    (['T1', 'T2'], ['age'])
    """
    named, found = [set(categorical), set(numeric)], []
    for k, (option, given) in enumerate((("categorical", categorical), ("numeric", numeric))):
        found.append(frozenset({*columns_of(given, names, option)} - (named[1 - k] - named[k])))
    if both := sorted(found[0] & found[1]):
        raise ProblemError("Use either ", Set("categorical", both), " or ", Set("numeric", both), ", not both.")
    return found[0], found[1]


def expanded(given: Sequence[str], names: Sequence[str], option: str) -> list[str]:
    """Return names with the columns that match in place of patterns; other names stay, whether they exist or not.

    Examples
    --------
    >>> expanded(["T*", "age"], ["T1", "T2", "size"], "drop")
    ['T1', 'T2', 'age']
    """
    known = set(names)
    found = ([one] if one in known or not is_pattern(one) else _matching(one, option, names) for one in given)
    return list(dict.fromkeys(name for own in found for name in own))


def columns_of(given: Sequence[str], names: Sequence[str], option: str) -> list[str]:
    """Return the columns of names and patterns; raise a ValueError for those without a column.

    Examples
    --------
    >>> columns_of(["T*", "age"], ["T1", "T2", "age"], "log")
    ['T1', 'T2', 'age']
    """
    known = set(names)
    found = ([one] if one in known else _matching(one, option, names) for one in given)
    return list(dict.fromkeys(name for own in found for name in own))


def _matching(given: str, option: str, names: Sequence[str]) -> list[str]:
    """Return the columns that match a pattern, which is not the name of a column."""
    if given == _ALL:
        return list(names)
    if is_pattern(given) and (found := [name for name in names if matches(given, name)]):
        return found
    what = (
        f"No column matches {given!r}"
        if is_pattern(given)
        else f"There is no column {quoted([given])} among those used"
    )
    raise ProblemError(f"{what} (", Set(option, [given]), f"). {suggestion(given, names, 'columns')}")


def is_pattern(text: object) -> bool:
    """Return whether a text has wildcards."""
    return isinstance(text, str) and bool(_WILDCARD.search(text))


def matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern; brackets are letters, because names of columns contain units."""
    regex = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return is_pattern(pattern) and re.fullmatch(regex, name, re.DOTALL) is not None


def as_patterns(chosen: Collection[str], names: Sequence[str]) -> list[str]:
    """Return names and patterns that match the chosen columns and no others; a few columns keep their names.

    Examples
    --------
    >>> items = [f"T{k}" for k in range(1, 41)]
    >>> as_patterns([*items, "sex"], ["age", "sex", *items])
    ['T*', 'sex']
    >>> as_patterns(items, items)
    ['all']
    """
    if len(chosen) == len(names) and _ALL not in names:
        return [_ALL]
    if len(chosen) <= _FEW:
        return [name for name in names if name in chosen]
    found: list[str] = []
    left, others, k = sorted(chosen), sorted(set(names).difference(chosen)), 0
    while k < len(left):
        name, end = left[k], k + 1
        begins = (name[:length] for length in range(1, len(name) + 1))
        begin = next((text for text in begins if not _begins_one(text, others)), None)
        while begin is not None and end < len(left) and left[end].startswith(begin):
            end += 1
        pattern = f"{begin}*"
        is_pattern = end - k > 1 and not _WILDCARD.search(str(begin)) and pattern not in names
        found.append(pattern if is_pattern else name)
        k = end if is_pattern else k + 1
    return found


def _begins_one(text: str, names: Sequence[str]) -> bool:
    """Return whether one of some sorted names begins with a text."""
    k = bisect.bisect_left(names, text)
    return k < len(names) and names[k].startswith(text)
