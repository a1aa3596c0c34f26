"""P-values: corrections for their number, and their text."""

from __future__ import annotations

import numpy as np

from golem.runtime.types import Vector

_LEAST_SHOWN = 1e-99


def holm(p: Vector) -> Vector:
    """Adjust p-values for their number, whatever their dependence (Holm 1979).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.asarray(np.minimum(stepped, 1.0)[np.argsort(order)])


def p_text(p: float) -> str:
    """Return a p-value as text.

    Examples
    --------
    >>> p_text(0.0312), p_text(0.0)
    ('p = 0.031', 'p < 1e-99')
    """
    return f"p = {p:.2g}" if p >= _LEAST_SHOWN else f"p < {_LEAST_SHOWN}"
