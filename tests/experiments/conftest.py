"""Small networks under the names of the real ones, which are not shipped."""

import json

import numpy as np
import pytest

from golem.experiments.network_files import FOLDER_VARIABLE
from golem.experiments.networks import NETWORKS
from golem.simulate import random_sem

collect_ignore = ["toys"]  # modules of experiments that tests import by name


def write_network(path, sem):
    names = [f"gene {k}" for k in range(sem.d)]
    cpds = {
        names[j]: {
            "coefficients": {"(Intercept)": [1.5]} | {names[i]: [sem.weights[i, j]] for i in np.flatnonzero(column)},
            "variance": [sem.noise_variances[j]],
        }
        for j, column in enumerate(sem.adjacency.T)
    }
    path.write_text(json.dumps({"nodes": names, "cpds": cpds}))


@pytest.fixture(scope="session")
def network_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    for k, name in enumerate(NETWORKS):
        write_network(folder / f"{name}.json", random_sem(6 + k, "ER1", "gaussian-nv", random_state=k))
    return folder


@pytest.fixture(autouse=True)
def networks_in_a_folder(network_folder, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(network_folder))
