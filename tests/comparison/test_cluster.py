"""Comparisons on a Dask cluster: the same rows as on this machine, with time limits and crashes."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

from golem import compare
from golem.simulate import simulate

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.distributed
# Found by the children of the workers through PYTHONPATH.
HANGS = "import time\nclass DirectLiNGAM:\n    def fit(self, X): time.sleep(600)\n"
CRASHES = "import os\ndef flop(*a, **k): os.abort()\n"


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    (tmp_path / "lingam.py").write_text(HANGS)
    (tmp_path / "flopsearch.py").write_text(CRASHES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        yield


@pytest.mark.usefixtures("cluster")
def test_methods_run_on_the_workers_of_a_cluster():
    drawn = simulate(6, 400, "ER1", random_state=5)
    methods = ["order-ev", "lingam", "fgs", "flopsearch", "pc"]
    expected = compare(drawn.data, ["order-ev", "fgs", "pc"], truth=drawn.sem.adjacency)
    steps = []
    with joblib.parallel_config("dask"):
        found = compare(drawn.data, methods, truth=drawn.sem.adjacency, time_limit=5, callback=steps.append)
    assert [row.status for row in found.rows] == ["done", "time limit", "done", "crashed", "done"]
    assert "SIGABRT" in found.rows[3].message
    assert list(found.estimates) == list(expected.estimates)
    for name, estimate in expected.estimates.items():
        np.testing.assert_array_equal(found.estimates[name].graph, estimate.graph)
    assert not steps  # they would have to come from other machines
