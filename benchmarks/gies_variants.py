"""GIES as its package runs it, and with help, so that graphs with 50 nodes can be compared too.

gies lists all semi-directed paths between two nodes and asks whether each meets a set of nodes. Their number can grow
exponentially. It is enough to ask this of chordless paths: the nodes of every path include those of a chordless one. So
`gies-chordless` returns the graph that `gies` returns, in less time. `gies-chordless-mbic` has golem's default penalty,
log n + 2 log d per edge instead of log n, so that only the searches differ.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Tables, Targets = list[Any], list[list[int]]


def plain(tables: Tables, targets: Targets) -> np.ndarray:
    """Run gies as it is; return an interventional class."""
    import gies

    return np.asarray(gies.fit_bic(tables, targets)[0]) != 0


def chordless(tables: Tables, targets: Targets) -> np.ndarray:
    """Run gies with its list of paths reduced to chordless ones."""
    with _chordless_paths():
        return plain(tables, targets)


def chordless_mbic(tables: Tables, targets: Targets) -> np.ndarray:
    """Run the same with golem's default penalty."""
    import gies
    from gies.scores.gauss_int_l0_pen import GaussIntL0Pen

    n, d = sum(map(len, tables)), tables[0].shape[1]
    with _chordless_paths():
        score = GaussIntL0Pen(tables, targets, lmbda=math.log(n) / 2 + math.log(d))
        return np.asarray(gies.fit(score)[0]) != 0


GIES: dict[str, Callable[[Tables, Targets], np.ndarray]] = {
    "gies": plain,
    "gies-chordless": chordless,
    "gies-chordless-mbic": chordless_mbic,
}


def chordless_paths(source: int, target: int, A: np.ndarray) -> list[list[int]]:
    """Return the semi-directed paths without shortcuts; the edge source -> target is a path, but not a shortcut."""
    source, target, d = int(source), int(target), len(A)
    data = np.ascontiguousarray(A != 0).tobytes()
    successors, useful = _successors(data, d), _ancestors(data, d, target) & ~(1 << target)
    paths = [[source, target]] if successors[source] >> target & 1 else []

    def extend(path: list[int], seen: int) -> None:
        own = successors[path[-1]]
        if len(path) > 1 and own >> target & 1:
            paths.append([*path, target])
            return
        left = own & useful & ~seen
        while left:
            lowest = left & -left
            left ^= lowest
            extend([*path, lowest.bit_length() - 1], seen | own)

    extend([source], 1 << source)
    return paths


@functools.lru_cache(maxsize=4)
def _successors(data: bytes, d: int) -> list[int]:
    """Return the children and neighbours of every node, as bits of an integer."""
    A = np.frombuffer(data, dtype=bool).reshape(d, d)
    return [sum(1 << j for j in np.flatnonzero(row).tolist()) for row in A]


@functools.lru_cache(maxsize=1000)
def _ancestors(data: bytes, d: int, target: int) -> int:
    """Return the nodes with a semi-directed path to the target, as bits of an integer."""
    successors, found, more = _successors(data, d), 0, 1 << target
    while more != found:
        found = more
        more |= sum(1 << i for i in range(d) if successors[i] & found and not found >> i & 1)
    return found


@contextlib.contextmanager
def _chordless_paths() -> Iterator[None]:
    """Let gies list chordless paths."""
    from gies import utils

    listed = utils.semi_directed_paths
    utils.semi_directed_paths = chordless_paths
    try:
        yield
    finally:
        utils.semi_directed_paths = listed
