"""Linear Gaussian networks from applications, as the package pgmpy keeps them: JSON files of nodes and coefficients.

They come from the Bayesian network repository of bnlearn, and are not ours to ship. They are read from the folder that
the environment variable GOLEM_NETWORKS names, else from an installed pgmpy, which is not imported for it. One way to
get them and nothing else:

    pip install --no-deps pgmpy==1.1.2
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from pathlib import Path

import numpy as np

from golem.model.linear_sem import LinearSEM

FOLDER_VARIABLE = "GOLEM_NETWORKS"


def network_file(name: str) -> Path:
    """Return the file of a network.

    Raises
    ------
    ValueError
        If it is nowhere to be found.
    """
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        places = [Path(given)]
    else:
        package = importlib.util.find_spec("pgmpy")
        roots = [] if package is None else package.submodule_search_locations or []
        places = [Path(root) / "utils" / "example_models" for root in roots]
    for folder in places:
        if (folder / f"{name}.json").exists():
            return folder / f"{name}.json"
    looked = f" (looked in {places[0]})" if places else ""
    raise ValueError(
        f"the network {name} is not there{looked}: its file {name}.json is not shipped with golem; `pip install "
        f"--no-deps pgmpy==1.1.2` brings it, or set {FOLDER_VARIABLE} to the folder that holds it"
    )


def digest(path: Path) -> str:
    """Return 12 hexadecimal digits of the SHA-256 of a file, which tell versions of a network apart."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def read_network(path: Path) -> LinearSEM:
    """Read a linear Gaussian network, without its intercepts.

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
        raise ValueError(f"{path} is no linear Gaussian network as pgmpy writes them: {error!r}") from None
    return LinearSEM(B, variances, names=names)
