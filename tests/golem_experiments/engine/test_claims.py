"""Claims: one process per task, and none is blocked by one that has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import golem
from golem_experiments import Grid, Options, load, run
from golem_experiments.engine.store import Claims, Store

HERE = Path(__file__).parents[1]
KEY = "0123456789abcdef"
# Says that it runs, waits for a line, claims tasks, says which it got, and waits again.
HOLDER = """
import pathlib, sys
from golem_experiments.engine.store import Claims
print(flush=True)
input()
with Claims(pathlib.Path(sys.argv[1])) as ours:
    print(*(int(ours.take(key)) for key in sys.argv[2:]), flush=True)
    input()
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Start another process that claims tasks; return it as soon as it is ready to."""
    paths = [str(HERE), str(Path(golem.__file__).parents[1])]
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    processes = []

    def start(*keys):
        command = [sys.executable, "-c", HOLDER, str(tmp_path), *keys]
        processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1))
        processes[-1].stdout.readline()
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def claims_of(process):
    """Let a process claim its tasks; return which it got."""
    process.stdin.write("\n")
    return answer_of(process)


def answer_of(process):
    return [bool(int(word)) for word in process.stdout.readline().split()]


def test_the_claim_of_a_live_process_holds_and_that_of_a_killed_one_does_not(tmp_path, start):
    holder = start(KEY)
    assert claims_of(holder) == [True]
    with Claims(tmp_path) as ours:
        assert not ours.has_no_rival()
        assert not ours.take(KEY)
        assert ours.take(KEY[::-1])
        os.kill(holder.pid, signal.SIGKILL)
        while not ours.take(KEY):
            time.sleep(0.01)
        assert ours.has_no_rival()
    assert not list((tmp_path / "rows").iterdir())


def test_a_task_that_is_given_up_is_free(tmp_path, start):
    with Claims(tmp_path) as ours:
        assert ours.take(KEY)
        assert ours.take("1")
        ours.release(KEY)
        assert claims_of(start(KEY, "1")) == [True, False]


def test_without_locks_a_task_may_run_twice_but_nobody_waits(tmp_path, start, monkeypatch):
    assert claims_of(start(KEY)) == [True]
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with Claims(tmp_path) as ours:
        assert ours.take(KEY)


def test_of_many_processes_one_has_the_task(tmp_path, start):
    keys = [f"{number:x}" for number in range(50)]
    processes = [start(*keys) for _ in range(3)]
    for process in processes:
        process.stdin.write("\n")
    assert [sum(column) for column in zip(*map(answer_of, processes), strict=True)] == [1] * 50


def test_a_run_leaves_to_others_what_they_are_at_and_says_so(tmp_path, start):
    grid = Grid(tiny=True, methods=("square", "talk", "nan"))
    toy = load("toys.toy_experiment")
    first, second, _ = map(toy.key, toy.tasks(grid))
    holder = start(first, second)
    assert claims_of(holder) == [True, True]

    def other_ends(step):
        Store(tmp_path).add({"key": second, "status": "done"})

    summary = run(toy, grid, tmp_path, Options(workers=1), other_ends)
    assert (summary.total, summary.ran, summary.elsewhere, summary.held) == (3, 1, 1, 1)
    holder.kill()
    holder.wait()
    Store(tmp_path)._path(second).unlink()
    assert run(toy, grid, tmp_path, Options(workers=1)).ran == 2
