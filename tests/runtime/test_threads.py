"""Threads that share work: everything once, errors and interrupts to the one who waits."""

import threading
import time

import pytest

from golem.runtime.threads import blas_threads_for, interruptible_map


def test_every_item_is_done_once_by_one_of_the_workers():
    done = list(interruptible_map([lambda k: (0, k), lambda k: (1, k)], range(500)))
    assert sorted(k for _, k in done) == list(range(500))


def test_an_error_reaches_the_one_who_waits_and_ends_the_work():
    calls = []

    def work(k):
        calls.append(k)
        if k == 3:
            raise OSError("no more")
        time.sleep(0.001)

    with pytest.raises(OSError, match="no more"):
        list(interruptible_map([work, work], range(10_000)))
    assert len(calls) < 10_000


def test_whoever_stops_waiting_hurries_those_at_work():
    hurry = threading.Event()
    arriving = interruptible_map([lambda k: hurry.wait(60) if k else k] * 2, range(10), hurry.set)
    assert next(arriving) == 0
    began = time.monotonic()
    arriving.close()
    assert time.monotonic() - began < 30


def test_overlapping_solves_leave_the_threads_as_they_were():
    import scipy.linalg  # noqa: F401  # loads a BLAS of its own, which must not appear in between
    import threadpoolctl

    def threads():
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    first, second = blas_threads_for(10), blas_threads_for(10)
    first.__enter__()
    second.__enter__()
    assert set(threads()) == {1}
    first.__exit__(None, None, None)
    assert set(threads()) == {1}
    second.__exit__(None, None, None)
    assert threads() == before
