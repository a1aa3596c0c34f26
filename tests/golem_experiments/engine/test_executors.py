"""Experiments on a Dask cluster: the same rows as here, also where a worker is lost on the way."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import joblib
import pytest

import golem
from golem_experiments import Grid, Options, load, run
from golem_experiments.analysis.tables import read_store
from golem_experiments.engine.executors import Children
from golem_experiments.engine.store import Store

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.distributed
HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes that are started again when they die, and are soon considered dead."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        paths = [str(HERE), str(Path(golem.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        impatient = {"distributed.comm.timeouts.connect": "1s", "distributed.comm.retry.count": 0}
        with (
            dask.config.set(impatient),
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        ):
            yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


def timeless(table):
    return [{name: value for name, value in row.items() if not name.endswith("seconds")} for row in table]


def test_a_worker_killed_mid_run_loses_nothing_and_doubles_nothing(client, tmp_path):
    grid = Grid(seeds=10, methods=("slow", "square"))
    killed = []

    def kill_once(step):
        if not killed and step.ended >= 8:
            pid = client.run(os.getpid, workers=list(client.nthreads())[:1]).popitem()[1]
            os.kill(pid, signal.SIGKILL)
            killed.append(step.ended)

    experiment = load("toys.toy_experiment")
    summary = run(experiment, grid, tmp_path / "dask", Options(scheduler=client), kill_once)
    assert killed[0] < 30  # in the middle
    assert (summary.total, summary.ran, summary.failed, summary.lost) == (40, 40, 0, 0)
    run(experiment, grid, tmp_path / "here", Options(workers=2, threads=1))
    assert timeless(read_store(tmp_path / "dask")) == timeless(read_store(tmp_path / "here"))


def test_a_batch_that_kills_its_workers_is_left_out_and_the_others_run(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr(Children, "_take", lambda *_: pytest.fail("a cluster of one core is a cluster too"))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as weak,
    ):
        experiment = load("toys.killing_experiment")
        summary = run(experiment, Grid(), tmp_path, Options(scheduler=weak.scheduler_address))
    assert (summary.total, summary.ran, summary.failed, summary.lost) == (3, 2, 0, 1)
    assert [row["answer"] for row in read_store(tmp_path)] == [4, 9]
    assert not list((tmp_path / "rows").glob(".*"))


def test_a_block_of_joblib_puts_the_tasks_on_a_cluster(client, tmp_path, monkeypatch):
    monkeypatch.setattr(Children, "_take", lambda *_: pytest.fail("this process runs nothing"))
    with joblib.parallel_config("dask"):
        summary = run(load("toys.toy_experiment"), Grid(seeds=2, methods=("square", "fail")), tmp_path)
    assert (summary.ran, summary.failed) == (8, 4)
    assert [row["answer"] for row in read_store(tmp_path) if row["method"] == "square"] == [4, 5, 9, 10]


def test_a_time_limit_holds_on_a_cluster_reached_by_its_address(client, tmp_path):
    grid = Grid(tiny=True, methods=("hang", "fail", "square"))
    options = Options(scheduler=client.scheduler.address, time_limit=0.5)
    summary = run(load("toys.toy_experiment"), grid, tmp_path, options)
    rows = {row["method"]: row for row in read_store(tmp_path)}
    assert summary.failed == 2
    assert rows["hang"]["status"] == "timeout"
    assert rows["fail"]["reason"] == "no answer for d = 2"
    assert rows["square"]["answer"] == 4


def test_a_missing_scheduler_is_a_sentence(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("golem.data.files.cluster._CONNECT_SECONDS", 1)
    with pytest.raises(ValueError, match=r"No Dask scheduler answers at tcp://127.0.0.1:1"):
        run(load("toys.toy_experiment"), Grid(tiny=True), tmp_path, Options(scheduler="tcp://127.0.0.1:1"))
    assert not Store(tmp_path).keys()
