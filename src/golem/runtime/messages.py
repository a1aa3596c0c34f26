"""Parts of messages: shortened lists, counts, quoted names."""

from __future__ import annotations

import csv
import difflib
import io
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence

# The screen that a command prints by default.
MOST_LINES, WIDTH = 25, 80
_LONG = 100
# Control characters except the newline, marks that reverse the direction of text, line separators, half characters.
_UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Escape characters with which text from files could control the terminal.

    Examples
    --------
    >>> printable("a\x1b[31m")
    'a\\x1b[31m'
    """
    return _UNPRINTABLE.sub(lambda match: repr(match[0])[1:-1], text)


def shortened(items: Sequence[str], most: int = 8) -> str:
    """Join items for a message; count those after the first `most`."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def one_line(text: str) -> str:
    """Return a text that fits into one line of the screen, without its end if it is longer."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3].rstrip()}..."


def counted(count: int, one: str, written: Callable[[int], str] = str) -> str:
    """Return a count with its noun in singular or plural.

    Examples
    --------
    >>> counted(1, "edge"), counted(0, "edge")
    ('1 edge', '0 edges')
    """
    return f"{written(count)} {one if count == 1 else one + 's'}"


def shown(value: object) -> str:
    """Return the representation of a value, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def quoted(names: Sequence[str], most: int = 8) -> str:
    """Join quoted names for a message; of long ones, show the beginning."""
    return shortened([repr(name if len(name) <= _LONG else f"{name[:_LONG]}...") for name in names], most)


def typed_names(names: Sequence[str]) -> str:
    r"""Return names as one value of an option, to be pasted into a shell.

    Examples
    --------
    >>> typed_names(["age", "blood pressure", "a,b"])
    '\'age,blood pressure,"a,b"\''
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return shlex.quote(line.getvalue())


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that is most like an unknown one, or the only one that begins with it, if any.

    Examples
    --------
    >>> nearest("scroe", ["score_function", "scores"]), nearest("score", ["noise", "score_function"])
    ('scores', 'score_function')
    """
    folded = {other.casefold().strip(): other for other in known}
    own = name.casefold().strip()
    near = difflib.get_close_matches(own, folded, n=1)
    near = near or [other for other in folded if own and other.startswith(own)]
    return folded[near[0]] if len(near) == 1 else None


def suggestion(name: str, known: Sequence[str], what: str, most: int = 8) -> str:
    """Suggest the known name that is most like an unknown one, or list the known names, at most `most` of them.

    Examples
    --------
    >>> suggestion("Incme", ["age", "income"], "columns")
    "Did you mean 'income'?"
    >>> suggestion("z", ["age", "income"], "columns")
    "The columns are 'age', 'income'."
    """
    near = nearest(name, known)
    return f"The {what} are {quoted(known, most)}." if near is None else f"Did you mean {near!r}?"


# Modules between a warning and the user's line: golem, and those with which it calls itself.
_PASSED = ("golem", "contextlib", "functools")


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the innermost line outside of golem; Python 3.12 has `skip_file_prefixes` for this.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("The table has few rows.")
    >>> str(caught[0].message)
    'The table has few rows.'
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
