"""Networks from applications, in the files of the package pgmpy: linear Gaussian ones are JSON, discrete ones BIF.

They come from the Bayesian network repository of bnlearn and are not shipped with golem. They are read from the folder
in the environment variable GOLEM_NETWORKS, or else from an installed pgmpy, which is not imported. To get only them:

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
