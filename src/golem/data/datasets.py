"""Bundled data sets."""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix

__all__ = ["Dataset", "load_sachs"]

_OBSERVATIONAL = 853
_SACHS_TARGETS: dict[str, tuple[str, ...]] = {
    "cd3_cd28": (),
    "cd3_cd28_icam2": (),
    "akt_inhibitor": ("Akt",),
    "g06976": ("PKC",),
    "psitectorigenin": ("PIP2",),
    "u0126": ("Mek",),
    "ly294002": ("PIP3",),
    "pma": ("PKC",),
    "b2camp": ("PKA",),
}


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
    environments : ndarray of shape (n,), optional
        The experiment that each row comes from.
    targets : mapping of str to list of str, optional
        The columns that each experiment changed.

    Examples
    --------
    >>> from golem.datasets import load_sachs
    >>> sachs = load_sachs()
    >>> sachs.values.shape, sachs.names[:3], int(sachs.truth.sum())
    ((853, 11), ('Raf', 'Mek', 'Plcg'), 17)
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]
    truth: BoolMatrix
    provenance: str
    environments: NDArray[np.str_] | None = None
    targets: Mapping[str, list[str]] | None = None

    @property
    def table(self) -> Any:
        """The rows as a PyArrow table with named columns, ready for `Golem.fit`."""
        import pyarrow as pa

        return pa.table({name: self.values[:, j] for j, name in enumerate(self.names)})


def load_sachs(*, interventional: bool = False) -> Dataset:
    """Load the protein data of Sachs et al. (2005) and their consensus network of 17 edges.

    Measurements of 11 phosphorylated proteins and phospholipids in human T cells: raw fluorescence intensities,
    positive, with heavy right tails. By default the 853 observational ones, which the paper uses; it mentions no
    preprocessing.

    Parameters
    ----------
    interventional : bool
        Return the 7466 measurements of all nine conditions. Two are general stimulations without a target. Five add a
        reagent that inhibits Akt, PKC, PIP2, Mek or PIP3, and two replace the stimulation by one that activates PKC or
        PKA. LY294002 inhibits the production of PIP3 (PI3K), so its target here is PIP3. Akt is another choice.

    Examples
    --------
    >>> sachs = load_sachs()
    >>> sachs.values.shape, int(sachs.truth.sum())
    ((853, 11), 17)
    >>> everything = load_sachs(interventional=True)
    >>> everything.values.shape, everything.targets["u0126"]
    ((7466, 11), ['Mek'])
    """
    folder = resources.files("golem.data") / "bundled"
    header, *lines = gzip.decompress((folder / "sachs.csv.gz").read_bytes()).decode().splitlines()
    kept = lines if interventional else lines[:_OBSERVATIONAL]
    labels, rows = zip(*(line.split(",", 1) for line in kept), strict=True)
    names = tuple(header.split(",")[1:])
    truth = np.zeros((len(names), len(names)), dtype=bool)
    for edge in (folder / "sachs_consensus.csv").read_text(encoding="utf-8").splitlines()[1:]:
        source, target = edge.split(",")
        truth[names.index(source), names.index(target)] = True
    sachs = Dataset(np.loadtxt(rows, delimiter=","), names, truth, (folder / "SOURCES.md").read_text(encoding="utf-8"))
    if not interventional:
        return sachs
    targets = {label: list(chosen) for label, chosen in _SACHS_TARGETS.items()}
    return dataclasses.replace(sachs, environments=np.array(labels), targets=targets)
