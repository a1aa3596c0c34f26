"""Columns sorted by name, so that a search does not depend on the order in which a table lists them."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.score.regression import Regressions
from golem.score.solution import Solution
from golem.search.solver import as_order


class NameOrder:
    """The order of columns by name, with numbers in names compared as numbers: `x2` comes before `x10`.

    Examples
    --------
    >>> order = NameOrder(["x10", "x2"])
    >>> order.names
    ('x2', 'x10')
    >>> order.sort(np.array([[1, 2], [3, 4]]))
    array([[4, 3],
           [2, 1]])
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._index = np.array(sorted(range(len(names)), key=lambda j: _key(names[j])), dtype=np.intp)
        self.place = np.argsort(self._index)  # of each column among the sorted ones
        self._is_sorted = bool(np.all(self._index[:-1] < self._index[1:]))
        self.names = tuple(names[j] for j in self._index)

    def sort(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Return a (d, d) matrix with rows and columns by name; without a copy if they are so already."""
        return matrix if self._is_sorted else matrix[np.ix_(self._index, self._index)]

    def restore(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Undo `sort`."""
        return matrix if self._is_sorted else matrix[np.ix_(self.place, self.place)]

    def sort_start(self, init: NDArray[Any]) -> NDArray[Any]:
        """Return a start of a search, an order (d,) or a graph (d, d), for the sorted columns."""
        d = len(self._index)
        return self.sort(init) if init.shape == (d, d) else self.place[as_order(init, d)]

    def restore_solution(self, solution: Solution) -> Solution:
        """Return a solution for the sorted columns as one for the original columns."""
        if self._is_sorted:
            return solution
        choice = solution.noise_choice
        if choice is not None:
            graphs = {kind: self.restore(graph) for kind, graph in choice.graphs.items()}
            choice = dataclasses.replace(choice, graphs=graphs)
        raw = (
            solution.raw.renumbered(self._index)
            if isinstance(solution.raw, Regressions)
            else self.restore(solution.raw)
        )
        return dataclasses.replace(solution, raw=raw, noise_choice=choice)


@functools.lru_cache(maxsize=4)
def name_order(names: tuple[str, ...]) -> NameOrder:
    """Return the order of some columns by name; cached, because a fit needs it twice and a bootstrap often."""
    return NameOrder(names)


def _key(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return what names are sorted by: their parts, with numbers as numbers, then the whole name."""
    parts = re.findall(r"([0-9]*)([^0-9]*)", name)
    # int() refuses very long numbers. Without leading zeros, a longer number is larger.
    return [(len(number.lstrip("0")), number.lstrip("0") + text) for number, text in parts], name
