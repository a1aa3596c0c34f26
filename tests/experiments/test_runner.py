"""The runner: every task one row, whatever happens to tasks, workers or the runner itself."""

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
from golem.experiments import Grid, Options, load, run
from golem.experiments.child import Batch, Child
from golem.experiments.executors import Local
from golem.experiments.outputs import publish, republish
from golem.experiments.store import Store
from golem.experiments.tables import read_csv, read_store

HERE = Path(__file__).parent
TOY = "toys.toy_experiment"


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    """Let this process and its children find the toy experiment."""
    monkeypatch.syspath_prepend(str(HERE))
    paths = [str(HERE), str(Path(golem.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")


def timeless(table):
    """Rows without their times."""
    return [{name: value for name, value in row.items() if not name.endswith("seconds")} for row in table]


def test_every_ending_is_a_row_and_a_time_limit_stops_for_good(tmp_path):
    seen = []
    began = time.monotonic()
    summary = run(load(TOY), Grid(tiny=True), tmp_path, Options(Local(2), time_limit=1.0), seen.append)
    assert time.monotonic() - began < 30
    rows = {row["method"]: row for row in read_store(tmp_path)}
    assert rows["square"]["status"] == rows["talk"]["status"] == "done"
    assert rows["square"]["answer"] == rows["talk"]["answer"] == 4
    assert (rows["fail"]["status"], rows["fail"]["reason"]) == ("failed", "no answer for d = 2")
    assert (rows["hang"]["status"], rows["hang"]["reason"]) == ("timeout", "stopped after 1 s")
    assert rows["crash"]["status"] == "failed"
    assert "SIGKILL" in rows["crash"]["reason"]
    assert rows["nan"]["status"] == "failed"  # JSON has no NaN: a measurement that is not there is None
    for row in rows.values():
        assert row["version"] == golem.__version__
        assert row["hardware"]
        assert row["seed"] == 0
        assert row["seconds"] >= 0
        assert len(row["key"]) == 16
    assert (summary.total, summary.ran, summary.failed, summary.lost) == (7, 7, 4, 0)
    assert [step.ended for step in seen] == list(range(1, 8))
    assert seen[-1].seconds_left == 0
    again = run(load(TOY), Grid(tiny=True), tmp_path, Options(Local(1)))
    assert (again.found, again.ran) == (7, 0)


def test_a_stopped_task_leaves_no_process_behind():
    child = Child(1)
    task = next(task for task in load(TOY).tasks(Grid(tiny=True)) if task.method == "hang")
    child.run(Batch((next(t for t in load(TOY).tasks(Grid(tiny=True)) if t.method == "square"),)))
    pid = child._process.pid
    assert child.run(Batch((task,), time_limit=0.3))[0]["status"] == "timeout"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_threads_of_a_process_are_bounded(tmp_path):
    run(load(TOY), Grid(tiny=True, methods=("square",)), tmp_path, Options(Local(workers=2, threads=3)))
    assert read_store(tmp_path)[0]["hardware"].endswith("threads: 3")


def test_failures_are_run_again_when_asked(tmp_path):
    grid = Grid(tiny=True, methods=("square", "fail"))
    run(load(TOY), grid, tmp_path, Options(Local(1)))
    summary = run(load(TOY), grid, tmp_path, Options(Local(1), retry=True))
    assert (summary.found, summary.ran, summary.failed) == (1, 1, 1)
    assert len(read_store(tmp_path)) == 2
    assert len(list((tmp_path / "retried").iterdir())) == 1


def test_tasks_of_one_shape_are_solved_together_and_a_bad_one_harms_no_other(tmp_path):
    grid = Grid(methods=("square", "slow", "fail"), seeds=3, sizes=(2,))
    run(load(TOY), grid, tmp_path, Options(Local(1), batch=3))
    table = read_store(tmp_path)
    by_method = {name: [row for row in table if row["method"] == name] for name in ("square", "slow", "fail")}
    # Seeds come first, so that the first three of square and fail are two of one and one of the other.
    assert all(row["answer"] == 4 + row["seed"] for name in ("square", "slow") for row in by_method[name])
    assert all(row["reason"] == "no answer for d = 2" for row in by_method["fail"])
    alone = tmp_path / "squares"
    run(load(TOY), Grid(methods=("square",), seeds=3, sizes=(2,)), alone, Options(Local(1), batch=3))
    assert [row["together"] for row in read_store(alone)] == [3, 3, 3]


DRIVER = """
import sys, pathlib
from golem.experiments import Grid, Options, load, run
from golem.experiments.executors import Local
grid = Grid(seeds=12, methods=("square", "slow"))
run(load("toys.toy_experiment"), grid, pathlib.Path(sys.argv[1]), Options(Local(2)))
"""


def start(folder):
    return subprocess.Popen([sys.executable, "-c", DRIVER, str(folder)])


def wait_for_rows(folder, count, process):
    rows = folder / "rows"
    while process.poll() is None and (not rows.exists() or len(Store(folder).keys()) < count):
        time.sleep(0.01)


def test_a_sweep_killed_three_times_ends_like_one_that_was_not(tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    before = 0
    for _ in range(3):
        process = start(killed)
        wait_for_rows(killed, before + 8, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        present = len(Store(killed).keys())
        assert before + 8 <= present < 48  # each run got on, and none came to its end
        before = present
    for folder in (killed, whole):
        process = start(folder)
        assert process.wait(timeout=60) == 0
        publish(load(TOY), folder)
    table = read_csv(killed / "table.csv")
    assert len(table) == 48
    assert len({row["key"] for row in table}) == 48
    assert timeless(table) == timeless(read_csv(whole / "table.csv"))
    assert {row["status"] for row in table} == {"done"}


def test_two_runners_on_one_store_make_no_row_twice(tmp_path):
    first, second = start(tmp_path), start(tmp_path)
    assert first.wait(timeout=60) == second.wait(timeout=60) == 0
    table = read_store(tmp_path)
    assert len(table) == 48
    assert len({(row["d"], row["seed"], row["method"]) for row in table}) == 48


def test_the_first_row_of_a_task_stays_however_many_come(tmp_path):
    stores = [Store(tmp_path) for _ in range(8)]
    added = []
    barrier = threading.Barrier(8)

    def add(number):
        barrier.wait()
        added.append((stores[number].add({"key": "a", "number": number, "pad": "x" * 100_000}), number))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [number for won, number in added if won]
    assert len(winners) == 1
    assert [row["number"] for row in Store(tmp_path).read()] == winners
    assert [path.name for path in (tmp_path / "rows").iterdir()] == ["a.json"]


def test_rows_that_do_not_belong_together_are_refused(tmp_path):
    run(load(TOY), Grid(tiny=True, methods=("square",)), tmp_path, Options(Local(1)))
    with pytest.raises(ValueError, match=r"holds a tiny run of toys\.toy_experiment, and this is a full run"):
        run(load(TOY), Grid(methods=("square",)), tmp_path, Options(Local(1)))
    with pytest.raises(ValueError, match="no method 'cube'; it has square, slow"):
        run(load(TOY), Grid(methods=("cube",)), tmp_path, Options(Local(1)))
    with pytest.raises(ValueError, match="no experiment 'identifable'; did you mean 'identifiable'"):
        load("identifable")


def test_figure_and_verdict_are_remade_from_the_table_alone(tmp_path):
    experiment = load(TOY)
    run(experiment, Grid(quick=True, methods=("square", "fail")), tmp_path, Options(Local(1)))
    verdicts = publish(experiment, tmp_path, command="golem experiment toys.toy_experiment")
    table = (tmp_path / "table.csv").read_text()
    names = ("figure.png", "figure.svg", "verdict.md")
    before = {name: (tmp_path / name).read_bytes() for name in names}
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / "table.csv").write_text(table)
    (moved / "command.txt").write_text((tmp_path / "command.txt").read_text())
    assert republish(experiment, moved) == verdicts
    assert {name: (moved / name).read_bytes() for name in names} == before
    assert (moved / "table.csv").read_text() == table
    text = before["verdict.md"].decode()
    assert "golem experiment toys.toy_experiment" in text
    assert "squares are right" in text
    assert "2 tasks came to no end: fail failed (no answer for d = 2)" in text
    assert read_csv(moved / "table.csv") == read_store(tmp_path, experiment.tasks(Grid()))


def test_a_row_is_whole_json_and_the_table_has_its_key(tmp_path):
    run(load(TOY), Grid(tiny=True, methods=("square",)), tmp_path, Options(Local(1)))
    (path,) = (tmp_path / "rows").iterdir()
    row = json.loads(path.read_text())
    assert path.stem == row["key"] == read_store(tmp_path)[0]["key"]
