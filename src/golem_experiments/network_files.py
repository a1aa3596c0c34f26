"""Networks from applications, in the files of the package pgmpy: linear Gaussian ones are JSON, discrete ones BIF.

They come from the Bayesian network repository of bnlearn and are not shipped with golem. They are read from the folder
in the environment variable GOLEM_NETWORKS, or else from an installed pgmpy, which is not imported. To get only them:

    pip install --no-deps pgmpy==1.1.2
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from golem.graphs.edges import Edges
from golem.model.linear_sem import LinearSEM
from golem.runtime.types import BoolMatrix

FOLDER_VARIABLE = "GOLEM_NETWORKS"
# The parts of a BIF file.
_VARIABLE = re.compile(r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}")
_PROBABILITY = re.compile(r"probability\s*\(\s*([^)|\s]+)\s*(?:\|([^)]*))?\)\s*\{([^}]*)\}")
_ROW = re.compile(r"(?:\(([^)]*)\)|table)\s*([^;]*);")


def network_file(name: str, ending: str = ".json") -> Path:
    """Return the file of a network.

    Raises
    ------
    ValueError
        If there is none.
    """
    if given := os.environ.get(FOLDER_VARIABLE):
        places = [Path(given)]
    else:
        package = importlib.util.find_spec("pgmpy")
        roots = [] if package is None else package.submodule_search_locations or []
        places = [Path(root) / "utils" / "example_models" for root in roots]
    for folder in places:
        if (folder / f"{name}{ending}").exists():
            return folder / f"{name}{ending}"
    looked = f" (looked in {places[0]})" if places else ""
    raise ValueError(
        f"The file {name}{ending} of the network {name!r} was not found{looked}; it is not shipped with golem. Run "
        f"`pip install --no-deps pgmpy==1.1.2`, or set {FOLDER_VARIABLE} to the folder that contains it."
    )


def digest(path: Path) -> str:
    """Return 12 hexadecimal digits of the SHA-256 of a file, which distinguish versions of a network."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def read_network(path: Path) -> LinearSEM:
    """Read a linear Gaussian network; intercepts are left out.

    Raises
    ------
    ValueError
        If the file is not such a network.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        names = list(content["nodes"])
        where = {name: k for k, name in enumerate(names)}
        B, variances = np.zeros((len(names), len(names))), np.zeros(len(names))
        for name, table in content["cpds"].items():
            variances[where[name]] = float(np.ravel(table["variance"])[0])
            for parent, weight in table["coefficients"].items():
                if parent != "(Intercept)":
                    B[where[parent], where[name]] = float(np.ravel(weight)[0])
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"{path} is not a linear Gaussian network in the format of pgmpy: {error!r}. Download it again."
        ) from None
    return LinearSEM(B, variances, names=names)


@dataclass(frozen=True, eq=False)
class DiscreteNetwork:
    """A Bayesian network of categories.

    Parameters
    ----------
    names : tuple of str
        The variables, sorted.
    levels : tuple of tuples of str
        The levels of each.
    parents : tuple of tuples of int
        The parents of each.
    tables : tuple of arrays
        The probabilities of the levels given those of the parents: one axis per parent, then one for the variable.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[NDArray[np.float64], ...]

    @property
    def adjacency(self) -> BoolMatrix:
        """The graph, shape (d, d)."""
        graph = np.zeros((len(self.names), len(self.names)), dtype=bool)
        for j, own in enumerate(self.parents):
            graph[list(own), j] = True
        return graph

    def sample(self, n: int, random_state: int | np.random.Generator = 0) -> NDArray[np.intp]:
        """Draw n rows: the positions of the levels, shape (n, d)."""
        rng = np.random.default_rng(random_state)
        codes = np.zeros((n, len(self.names)), dtype=np.intp)
        for j in Edges.from_matrix(self.adjacency).order().tolist():
            shares = self.tables[j][tuple(codes[:, i] for i in self.parents[j])]
            bounds = np.cumsum(np.broadcast_to(shares, (n, len(self.levels[j]))), axis=1)
            codes[:, j] = (rng.random((n, 1)) * bounds[:, -1:] > bounds[:, :-1]).sum(axis=1)
        return codes


def read_bif(path: str | Path) -> DiscreteNetwork:
    """Read a network from a BIF file, which may be compressed (.gz)."""
    data = Path(path).read_bytes()
    text = (gzip.decompress(data) if Path(path).suffix == ".gz" else data).decode()
    levels = {name: tuple(_items(listed)) for name, listed in _VARIABLE.findall(text)}
    names = tuple(sorted(levels))
    parents: dict[str, tuple[int, ...]] = dict.fromkeys(names, ())
    tables = {}
    for name, given, body in _PROBABILITY.findall(text):
        own = _items(given)
        parents[name] = tuple(names.index(parent) for parent in own)
        table = np.zeros([len(levels[node]) for node in (*own, name)])
        for combination, numbers in _ROW.findall(body):
            place = tuple(levels[node].index(level) for node, level in zip(own, _items(combination), strict=True))
            table[place] = [float(number) for number in _items(numbers)]
        tables[name] = table
    missing = sorted(set(names) - set(tables))
    if not names or missing:
        raise ValueError(f"{path} is not a complete BIF file: no probabilities of {missing or 'any variable'}.")
    return DiscreteNetwork(
        names,
        tuple(levels[name] for name in names),
        tuple(parents[name] for name in names),
        tuple(tables[name] for name in names),
    )


def _items(text: str) -> list[str]:
    """Split a list at its commas."""
    return [item.strip() for item in text.split(",") if item.strip()]
