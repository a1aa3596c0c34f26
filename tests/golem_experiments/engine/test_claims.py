"""Claims: one runner per task, and none is blocked by a runner that has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import golem
from golem_experiments import Grid, Options, load, run
from golem_experiments.engine.store import Claims, Store

KEY = "0123456789abcdef"
HOLDER = """
import pathlib, sys, time
from golem_experiments.engine.store import Claims
with Claims(pathlib.Path(sys.argv[1])) as ours:
    print(ours.take(sys.argv[2]), flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path, monkeypatch):
    """Another process that holds a claim."""
    monkeypatch.setenv("PYTHONPATH", str(Path(golem.__file__).parents[1]))
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path), KEY], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "True\n"
    yield process
    process.kill()
    process.communicate()


def test_the_claim_of_a_live_runner_holds_and_that_of_a_killed_one_does_not(tmp_path, holder):
    with Claims(tmp_path) as ours:
        assert not ours.take(KEY)
        os.kill(holder.pid, signal.SIGKILL)
        while not ours.take(KEY):
            time.sleep(0.01)
        assert (tmp_path / "rows" / f".{KEY}.claim").read_text() == ours._name
        assert len(list((tmp_path / "rows").iterdir())) == 2  # the claim and our lock; that of the other is gone
    assert not list((tmp_path / "rows").iterdir())


def test_a_claim_of_an_unknown_runner_is_void(tmp_path):
    path = tmp_path / "rows" / f".{KEY}.claim"
    path.parent.mkdir()
    path.write_text("a runner that has ended")
    with Claims(tmp_path) as ours:
        assert ours.take(KEY)


def test_without_locks_a_task_may_run_twice_but_nobody_waits(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with Claims(tmp_path) as theirs, Claims(tmp_path) as ours:
        assert theirs.take(KEY)
        assert ours.take(KEY)
    assert not list((tmp_path / "rows").iterdir())


def test_of_many_runners_one_has_the_task(tmp_path):
    with Claims(tmp_path) as a, Claims(tmp_path) as b, Claims(tmp_path) as c, Claims(tmp_path) as d:
        barrier, taken = threading.Barrier(4), []

        def take(one):
            barrier.wait()
            taken.append([one.take(f"{number}") for number in range(50)])

        threads = [threading.Thread(target=take, args=(one,)) for one in (a, b, c, d)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [sum(column) for column in zip(*taken, strict=True)] == [1] * 50


def test_a_run_leaves_to_others_what_they_are_at_and_says_so(tmp_path, monkeypatch):
    here = Path(__file__).parents[1]
    monkeypatch.syspath_prepend(str(here))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(here), str(Path(golem.__file__).parents[1])]))
    toy = load("toys.toy_experiment")
    grid = Grid(tiny=True, methods=("square", "talk", "nan"))
    first, second, _ = map(toy.key, toy.tasks(grid))
    with Claims(tmp_path) as theirs:
        theirs.take(first)
        theirs.take(second)

        def other_ends(step):
            Store(tmp_path).add({"key": second, "status": "done"})

        summary = run(toy, grid, tmp_path, Options(workers=1), other_ends)
        assert (summary.total, summary.ran, summary.elsewhere, summary.held) == (3, 1, 1, 1)
    Store(tmp_path)._path(second).unlink()
    assert run(toy, grid, tmp_path, Options(workers=1)).ran == 2
