"""Recording and replaying, with a stand-in for CUDA; on a GPU the real one."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest

from golem.runtime.gpu.cuda_graphs import ReplayedStep, can_replay

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


class Graph:
    """Notes what is asked of it; a void recording cannot be ended."""

    def __init__(self, log):
        self.log, self.void = log, False

    def capture_begin(self, capture_error_mode):
        """Begin."""
        self.log.append(f"begin {capture_error_mode}")

    def capture_end(self):
        """End."""
        self.log.append("end")
        if self.void:
            raise RuntimeError("the recording is void")

    def replay(self):
        """ReplayedStep."""
        self.log.append("replay")


@pytest.fixture
def log(monkeypatch):
    """Stand in for CUDA."""
    log = []

    class Stream:
        def __init__(self, device=None):
            log.append(f"stream on {device}")

        def wait_stream(self, other):
            pass

    @contextmanager
    def on(device):
        log.append(f"on {device}")
        yield

    @contextmanager
    def within(stream):
        yield

    monkeypatch.setattr("golem.runtime.gpu.cuda_graphs._streams", threading.local())
    monkeypatch.setattr(torch.cuda, "device", on)
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", within)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: Stream())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: Graph(log))
    return log


def test_the_first_call_runs_the_second_records_all_others_replay(log):
    steps = []
    replay = ReplayedStep(lambda: steps.append(1), "cuda:1")
    for _ in range(4):
        replay()
    assert len(steps) == 2
    assert log.count("begin thread_local") == 1
    assert log.count("replay") == 3
    assert log.count("on cuda:1") == 4
    assert log.count("stream on cuda:1") == 1


def test_recordings_of_a_thread_share_a_stream(log):
    for _ in range(3):
        replay = ReplayedStep(lambda: None, "cuda:1")
        replay()
        replay()
    assert log.count("stream on cuda:1") == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_a_step_raises_reaches_the_caller(log, monkeypatch, error):
    def void():
        graph = Graph(log)
        graph.void = True
        return graph

    monkeypatch.setattr(torch.cuda, "CUDAGraph", void)
    calls = []

    def step():
        calls.append(1)
        if len(calls) == 2:
            raise error

    replay = ReplayedStep(step, "cuda")
    replay()
    with pytest.raises(error):
        replay()


def test_arrays_elsewhere_are_not_replayed():
    assert not can_replay(np.eye(2))
    assert not can_replay(torch.eye(2))
    assert not can_replay(torch.empty((2, 2), device="meta"))


@pytest.mark.gpu
def test_threads_record_at_the_same_time():
    def count(results, k):
        total, one = torch.zeros(100, device="cuda"), torch.ones(100, device="cuda")

        def step():
            total.add_(one * 2 - 1)

        replay = ReplayedStep(step, total.device)
        for _ in range(500):
            replay()
        results[k] = float(total.sum())

    results = {}
    threads = [threading.Thread(target=count, args=(results, k)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(4), 50_000.0)
