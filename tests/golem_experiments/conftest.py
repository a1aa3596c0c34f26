"""Small networks under the names of the real ones, which are not shipped."""

import gzip
import json

import numpy as np
import pytest

from golem.simulate import random_sem
from golem_experiments.discrete import NETWORKS as DISCRETE_NETWORKS
from golem_experiments.network_files import FOLDER_VARIABLE
from golem_experiments.networks import NETWORKS

collect_ignore = ["toys"]  # modules of experiments that tests import by name


SPRINKLER = """network lawn {
}
variable wet {
  type discrete [ 2 ] { yes, no };
}
variable rain {
  type discrete [ 3 ] { none, some, much };
}
variable sprinkler {
  type discrete [ 2 ] { on, off };
}
probability ( rain ) {
  table 0.7, 0.2, 0.1;
}
probability ( sprinkler | rain ) {
  (none) 0.4, 0.6;
  (some) 0.1, 0.9;
  (much) 0.0, 1.0;
}
probability ( wet | sprinkler, rain ) {
  (on, none) 0.8, 0.2;
  (off, none) 0.0, 1.0;
  (on, some) 0.95, 0.05;
  (off, some) 0.6, 0.4;
  (on, much) 1.0, 0.0;
  (off, much) 0.9, 0.1;
}
"""


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
    for name in DISCRETE_NETWORKS:
        (folder / f"{name}.bif.gz").write_bytes(gzip.compress(SPRINKLER.encode()))
    return folder


@pytest.fixture(autouse=True)
def networks_in_a_folder(network_folder, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(network_folder))
