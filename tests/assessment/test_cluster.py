"""Bootstrap and selection on a cluster: joblib's Dask backend gives the results of this process."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

from golem import Golem, GolemCV, bootstrap
from golem.simulate import simulate


@pytest.mark.distributed
def test_a_cluster_gives_the_results_of_threads():
    distributed = pytest.importorskip("distributed")
    data = simulate(5, 300, "ER1", random_state=1).data
    here = bootstrap(Golem(), data, 12), GolemCV(select="stability", pairs=3).fit(data)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        there = bootstrap(Golem(), data, 12), GolemCV(select="stability", pairs=3).fit(data)
    np.testing.assert_array_equal(there[0].direction_frequency, here[0].direction_frequency)
    np.testing.assert_allclose(there[0].effect_interval, here[0].effect_interval)
    np.testing.assert_array_equal(there[1].adjacency_frequency_, here[1].adjacency_frequency_)
    assert there[1].best_params_ == here[1].best_params_
