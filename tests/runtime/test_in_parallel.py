"""Parallel loops: the same results one by one, in threads and on a cluster, and an early end."""

from __future__ import annotations

import contextlib
import os
import threading

import joblib
import pytest

from golem.runtime.threads import in_parallel


def square(x):
    return x * x


def here(x):
    return os.getpid()


@pytest.mark.parametrize("n_jobs", [None, 1, 3])
def test_every_item_comes_with_its_result(n_jobs):
    assert sorted(in_parallel(square, range(20), n_jobs)) == [(x, x * x) for x in range(20)]


def test_by_default_items_are_taken_one_by_one_in_order_when_they_are_needed():
    taken = []
    loop = in_parallel(square, (taken.append(x) or x for x in range(20)))
    assert [next(loop), next(loop)] == [(0, 0), (1, 1)]
    assert len(taken) < 10
    loop.close()


def test_jobs_are_threads_that_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=60)
    assert len(list(in_parallel(lambda x: meeting.wait(), range(4), 2))) == 4


def test_an_error_ends_the_loop():
    with pytest.raises(ZeroDivisionError):
        list(in_parallel(lambda x: 1 / x, [1, 0, 2], 2))


def test_who_closes_the_loop_can_stop_what_is_running():
    stop, running = threading.Event(), threading.Event()

    def wait(x):
        if x:
            running.set()
            assert stop.wait(60)
        return x

    with contextlib.closing(in_parallel(wait, range(100), 2, stop.set)) as loop:
        assert next(loop) == (0, 0)
        assert running.wait(60)
    assert stop.is_set()


@pytest.mark.distributed
def test_a_configuration_of_joblib_puts_the_loop_on_a_cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        assert sorted(in_parallel(square, range(20), 2)) == [(x, x * x) for x in range(20)]
        assert os.getpid() not in {pid for _, pid in in_parallel(here, range(4), 2)}
