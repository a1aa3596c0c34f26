"""Leases: one runner per task, and none is blocked by a runner that has ended."""

from __future__ import annotations

import json
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
from golem_experiments.engine import leases
from golem_experiments.engine.executors import Local
from golem_experiments.engine.leases import Leases
from golem_experiments.engine.store import Store

KEY = "0123456789abcdef"
HOLDER = """
import pathlib, sys, time
from golem_experiments.engine.leases import Leases
with Leases(pathlib.Path(sys.argv[1])) as ours:
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
    with Leases(tmp_path) as ours:
        assert not ours.take(KEY)
        os.kill(holder.pid, signal.SIGKILL)
        while not ours.take(KEY):  # a zombie from now on, since nobody has waited for it
            time.sleep(0.01)
        assert json.loads((tmp_path / "rows" / f".{KEY}.claim").read_text())["pid"] == os.getpid()
    assert not list((tmp_path / "rows").iterdir())


def test_a_number_that_another_process_bears_now_holds_nothing(tmp_path):
    with Leases(tmp_path) as theirs, Leases(tmp_path) as ours:
        assert theirs.take(KEY)
        path = tmp_path / "rows" / f".{KEY}.claim"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"born": "1"}))
        assert ours.take(KEY)
        theirs.release(KEY)  # it has lost it, and must not give up ours
        assert not theirs.take(KEY)


@pytest.mark.parametrize("text", ['{"host": "elsewhere", "pid": 1, "born": "1"}', ""])
def test_a_claim_from_afar_holds_as_long_as_it_is_touched(text, tmp_path):
    path = tmp_path / "rows" / f".{KEY}.claim"
    path.parent.mkdir()
    path.write_text(text)
    with Leases(tmp_path) as ours:
        assert not ours.take(KEY)
        os.utime(path, (time.time() - 1000,) * 2)
        assert ours.take(KEY)


def test_a_runner_touches_what_it_has(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "_BEAT", 0.01)
    with Leases(tmp_path) as ours:
        ours.take(KEY)
        path = tmp_path / "rows" / f".{KEY}.claim"
        os.utime(path, (0, 0))
        deadline = time.monotonic() + 10
        while path.stat().st_mtime == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert path.stat().st_mtime > time.time() - 100


def test_of_many_runners_one_has_the_task(tmp_path):
    with Leases(tmp_path) as a, Leases(tmp_path) as b, Leases(tmp_path) as c, Leases(tmp_path) as d:
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
    with Leases(tmp_path) as theirs:
        theirs.take(first)
        theirs.take(second)

        def other_ends(step):
            Store(tmp_path).add({"key": second, "status": "done"})

        summary = run(toy, grid, tmp_path, Options(Local(1)), other_ends)
        assert (summary.total, summary.ran, summary.elsewhere, summary.held) == (3, 1, 1, 1)
    Store(tmp_path)._path(second).unlink()
    assert run(toy, grid, tmp_path, Options(Local(1))).ran == 2
