"""Warnings that point at the user's line."""

from __future__ import annotations

import sys
import warnings

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
