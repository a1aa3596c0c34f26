"""GIES as its package runs it, and with help, so that graphs with 50 nodes can be compared too.

`gies-chordless` returns the same graph in less time (`golem_experiments/chordless_gies.py` says why).
`gies-chordless-mbic` has golem's default penalty, log n + 2 log d per edge instead of log n, so that only the searches
differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from golem.comparison.other_packages import OTHER_PACKAGES
from golem_experiments import chordless_gies

Tables, Targets = list[Any], list[list[int]]


def plain(tables: Tables, targets: Targets) -> np.ndarray:
    """Run gies as it is; return an interventional class."""
    return OTHER_PACKAGES["gies"].learn_environments(tables, targets).graph


def chordless(tables: Tables, targets: Targets) -> np.ndarray:
    """Run gies with its list of paths reduced to chordless ones."""
    return chordless_gies.learn(tables, targets).graph


def chordless_mbic(tables: Tables, targets: Targets) -> np.ndarray:
    """Run the same with golem's default penalty."""
    import gies
    from gies.scores.gauss_int_l0_pen import GaussIntL0Pen

    n, d = sum(map(len, tables)), tables[0].shape[1]
    with chordless_gies.chordless():
        score = GaussIntL0Pen(tables, targets, lmbda=math.log(n) / 2 + math.log(d))
        return np.asarray(gies.fit(score)[0]) != 0


GIES: dict[str, Callable[[Tables, Targets], np.ndarray]] = {
    "gies": plain,
    "gies-chordless": chordless,
    "gies-chordless-mbic": chordless_mbic,
}
