"""Bundled data sets."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix

__all__ = ["Dataset", "load_sachs"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with a reference graph.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        The rows.
    names : tuple of str
        Column names.
    truth : ndarray of shape (d, d), bool
        The reference graph.
    provenance : str
        Origin of the data, and what to cite.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]
    truth: BoolMatrix
    provenance: str

    @property
    def table(self) -> Any:
        """The rows as a PyArrow table with named columns, ready for `Golem.fit`."""
        import pyarrow as pa

        return pa.table({name: self.values[:, j] for j, name in enumerate(self.names)})


def load_sachs() -> Dataset:
    """Load the protein data of Sachs et al. (2005) and their consensus network of 17 edges.

    853 observational measurements of 11 phosphorylated proteins and phospholipids in human T cells: raw fluorescence
    intensities, positive, with heavy right tails. The paper mentions no preprocessing.

    Examples
    --------
    >>> sachs = load_sachs()
    >>> sachs.values.shape, int(sachs.truth.sum())
    ((853, 11), 17)
    """
    folder = resources.files("golem.data") / "bundled"
    header, *lines = (folder / "sachs.csv").read_text(encoding="utf-8").splitlines()
    names = tuple(header.split(","))
    values = np.loadtxt(lines, delimiter=",")
    truth = np.zeros((len(names), len(names)), dtype=bool)
    for edge in (folder / "sachs_consensus.csv").read_text(encoding="utf-8").splitlines()[1:]:
        source, target = edge.split(",")
        truth[names.index(source), names.index(target)] = True
    return Dataset(values, names, truth, (folder / "SOURCES.md").read_text(encoding="utf-8"))
