"""The runner: every task one row, whatever happens to tasks, workers or the runner itself."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import golem
from golem.runtime.threads import THREAD_VARIABLES
from golem_experiments import Grid, Options, load, run
from golem_experiments.analysis.outputs import publish, republish
from golem_experiments.analysis.tables import read_csv, read_store, restore_store
from golem_experiments.engine.executors import Batch, Children
from golem_experiments.engine.store import Store

HERE = Path(__file__).parents[1]
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
    summary = run(load(TOY), Grid(tiny=True), tmp_path, Options(workers=2, time_limit=1.0), seen.append)
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
    assert [step.ended for step in seen] == list(range(8))
    assert [step.latest for step in seen].count("") == 1  # the first: nothing has ended yet
    assert seen[-1].seconds_left == 0
    again = run(load(TOY), Grid(tiny=True), tmp_path, Options(workers=1))
    assert (again.found, again.ran) == (7, 0)


def test_a_stopped_task_leaves_no_process_behind():
    tasks = {task.method: task for task in load(TOY).tasks(Grid(tiny=True))}
    with contextlib.closing(Children(1)) as children:
        children.run(Batch({"a": tasks["square"]}))
        pid = children._all[0]._child.process.pid
        assert children.run(Batch({"b": tasks["hang"]}, time_limit=0.3))[0]["status"] == "timeout"
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert len(children._all) == 1  # it served both batches


def test_closed_children_do_not_start_again():
    children = Children(1)
    tasks = {task.method: task for task in load(TOY).tasks(Grid(tiny=True))}
    ended = []

    def hang():
        with pytest.raises(RuntimeError, match="closed"):
            children.run(Batch({"a": tasks["hang"]}))
        ended.append(True)

    thread = threading.Thread(target=hang)
    thread.start()
    while not children._all:
        time.sleep(0.01)
    children.close()
    thread.join(timeout=30)
    assert ended == [True]
    with pytest.raises(RuntimeError, match="closed"):
        children.run(Batch({"a": tasks["square"]}))


@pytest.mark.parametrize(
    ("variables", "threads"),
    [({}, 3), ({"OPENBLAS_NUM_THREADS": "8"}, 3), ({"OPENBLAS_NUM_THREADS": "2"}, 2), ({"OMP_NUM_THREADS": "1"}, 1)],
)
def test_threads_of_a_process_are_bounded_by_its_share_and_by_the_user(variables, threads, tmp_path, monkeypatch):
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    run(load(TOY), Grid(tiny=True, methods=("square", "crash")), tmp_path, Options(workers=1, threads=3))
    assert [row["hardware"].rpartition(" ")[2] for row in read_store(tmp_path)] == [str(threads)] * 2


def test_failures_are_run_again_when_asked(tmp_path):
    grid = Grid(tiny=True, methods=("square", "fail"))
    run(load(TOY), grid, tmp_path, Options(workers=1))
    summary = run(load(TOY), grid, tmp_path, Options(workers=1, retry=True))
    assert (summary.found, summary.ran, summary.failed) == (1, 1, 1)
    assert len(read_store(tmp_path)) == 2
    assert len(list((tmp_path / "retried").iterdir())) == 1


def test_a_narrowed_retry_leaves_other_failures_where_they_are(tmp_path):
    run(load(TOY), Grid(tiny=True, methods=("square", "fail", "nan")), tmp_path, Options(workers=1))
    summary = run(load(TOY), Grid(tiny=True, methods=("nan",)), tmp_path, Options(workers=1, retry=True))
    assert (summary.total, summary.found, summary.ran) == (1, 0, 1)
    assert [json.loads(path.read_text())["method"] for path in (tmp_path / "retried").iterdir()] == ["nan"]
    assert {row["method"] for row in Store(tmp_path).read()} == {"square", "fail", "nan"}


def test_the_summary_tells_failures_of_earlier_runs_from_new_ones(tmp_path):
    run(load(TOY), Grid(tiny=True, methods=("square", "fail")), tmp_path, Options(workers=1))
    summary = run(load(TOY), Grid(tiny=True, methods=("square", "fail", "nan")), tmp_path, Options(workers=1))
    assert (summary.found, summary.found_failed, summary.ran, summary.failed) == (2, 1, 1, 1)


def test_a_device_that_cannot_be_used_is_told_before_any_task_and_leaves_no_row(tmp_path):
    grid = Grid(tiny=True, methods=("square", "slow"))
    with pytest.raises(ValueError, match="Unknown device 'nonsense'"):
        run(load(TOY), grid, tmp_path, Options(workers=1, device="nonsense"))
    assert not Store(tmp_path).keys()
    with contextlib.closing(Children(1)) as children, pytest.raises(ValueError, match="Unknown device 'nonsense'"):
        children.run(Batch({"a": load(TOY).tasks(grid)[0]}, None, "nonsense"))  # as a worker of a cluster does


def test_sizes_are_refused_where_there_are_none(tmp_path):
    for name in ("sachs", "bivariate"):
        with pytest.raises(ValueError, match=f"'{name}' has no sizes to choose from"):
            run(load(name), Grid(tiny=True, sizes=(5,)), tmp_path)


def test_tasks_of_one_shape_are_solved_together_and_a_bad_one_harms_no_other(tmp_path):
    grid = Grid(methods=("square", "slow", "fail"), seeds=3, sizes=(2,))
    run(load(TOY), grid, tmp_path, Options(workers=1, batch=3))
    table = read_store(tmp_path)
    by_method = {name: [row for row in table if row["method"] == name] for name in ("square", "slow", "fail")}
    # Seeds come first, so that the first three of square and fail are two of one and one of the other.
    assert all(row["answer"] == 4 + row["seed"] for name in ("square", "slow") for row in by_method[name])
    assert all(row["reason"] == "no answer for d = 2" for row in by_method["fail"])
    alone = tmp_path / "squares"
    run(load(TOY), Grid(methods=("square",), seeds=3, sizes=(2,)), alone, Options(workers=1, batch=3))
    assert [row["together"] for row in read_store(alone)] == [3, 3, 3]
    assert [(row["batch"], row["device"]) for row in read_store(alone)] == [(3, "cpu")] * 3
    assert {row["batch"] for row in by_method["slow"]} == {1}


DRIVER = """
import os, sys, pathlib
from golem.cli.running import skip_slow_imports
skip_slow_imports()
from golem_experiments import Grid, Options, load, run
grid = Grid(seeds=6, methods=("square", "slow"))
folder = pathlib.Path(sys.argv[1])
ran = run(load("toys.toy_experiment"), grid, folder, Options(workers=1)).ran
(folder / f"{os.getpid()}.ran").write_text(str(ran))
"""


def start(folder):
    return subprocess.Popen([sys.executable, "-c", DRIVER, str(folder)])


def wait_for_rows(folder, count, process):
    rows = folder / "rows"
    while process.poll() is None and (not rows.exists() or len(Store(folder).keys()) < count):
        time.sleep(0.01)


def test_a_sweep_killed_twice_ends_like_one_that_was_not(tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    before = 0
    for _ in range(2):
        process = start(killed)
        wait_for_rows(killed, before + 4, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        present = len(Store(killed).keys())
        assert before + 4 <= present < 24  # each run got on, and none came to its end
        before = present
    assert start(killed).wait(timeout=60) == 0
    run(load(TOY), Grid(seeds=6, methods=("square", "slow")), whole, Options(workers=2))
    for folder in (killed, whole):
        publish(load(TOY), folder)
    table = read_csv(killed / "table.csv")
    assert len(table) == 24
    assert len({row["key"] for row in table}) == 24
    assert timeless(table) == timeless(read_csv(whole / "table.csv"))
    assert {row["status"] for row in table} == {"done"}


def test_two_runners_on_one_store_share_the_work(tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    runners = [start(tmp_path), start(tmp_path)]
    assert [runner.wait(timeout=60) for runner in runners] == [0, 0]
    ran = [int(path.read_text()) for path in tmp_path.glob("*.ran")]
    assert sum(ran) == len(read_store(tmp_path)) == 24
    done = (tmp_path / "log").read_text().splitlines()
    assert len(done) == len(set(done)) == 24
    assert not list((tmp_path / "rows").glob(".*"))


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


def test_a_damaged_row_is_named_with_the_remedy(tmp_path):
    grid = Grid(tiny=True, methods=("square", "talk"))
    run(load(TOY), grid, tmp_path, Options(workers=1))
    path = next((tmp_path / "rows").iterdir())
    for text in ("", '{"key": "01', "[]", "{}"):
        path.write_text(text)
        with pytest.raises(ValueError, match=rf"{path.name} is damaged\. Delete it"):
            run(load(TOY), grid, tmp_path, Options(workers=1))
    path.unlink()
    assert run(load(TOY), grid, tmp_path, Options(workers=1)).ran == 1


def test_rows_that_do_not_belong_together_are_refused(tmp_path):
    run(load(TOY), Grid(tiny=True, methods=("square",)), tmp_path, Options(workers=1))
    with pytest.raises(ValueError, match=r"contains a tiny run of 'toys\.toy_experiment', but this is a full run"):
        run(load(TOY), Grid(methods=("square",)), tmp_path, Options(workers=1))
    with pytest.raises(ValueError, match=r"no method 'cube'\. The methods are 'square', 'slow'"):
        run(load(TOY), Grid(methods=("cube",)), tmp_path, Options(workers=1))
    with pytest.raises(ValueError, match=r"no experiment 'identifable'\. Did you mean 'identifiable'"):
        load("identifable")
    with pytest.raises(ValueError, match=r"no experiment 'SACHS'\. Did you mean 'sachs'\?$"):
        load("SACHS")
    with pytest.raises(ValueError, match=r"no experiment 'x'\. The experiments are 'constraints', .*, 'interventions'"):
        load("x")


def test_figure_and_verdict_are_remade_from_the_table_alone(tmp_path):
    experiment = load(TOY)
    run(experiment, Grid(quick=True, methods=("square", "fail")), tmp_path, Options(workers=1))
    published = publish(experiment, tmp_path, command="golem experiment toys.toy_experiment")
    table = (tmp_path / "table.csv").read_text()
    names = ("figure.png", "verdict.md")
    before = {name: (tmp_path / name).read_bytes() for name in names}
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / "table.csv").write_text(table)
    (moved / "command.txt").write_text((tmp_path / "command.txt").read_text())
    again = republish(experiment, moved)
    assert (again.verdicts, again.mode, again.files) == (published.verdicts, "quick", names)
    assert published.files == ("table.csv", *names)
    assert {name: (moved / name).read_bytes() for name in names} == before
    assert (moved / "table.csv").read_text() == table
    text = before["verdict.md"].decode()
    assert "golem experiment toys.toy_experiment" in text
    assert "squares are right" in text
    assert "2 tasks were not completed: fail failed (no answer for d = 2)" in text
    assert read_csv(moved / "table.csv") == read_store(tmp_path, experiment.tasks(Grid()))


def test_the_table_is_remade_from_the_rows_of_a_run_that_was_killed(tmp_path):
    experiment = load(TOY)
    run(experiment, Grid(quick=True, methods=("square",)), tmp_path, Options(workers=1))
    assert not (tmp_path / "table.csv").exists()
    assert republish(experiment, tmp_path).files[0] == "table.csv"
    assert read_csv(tmp_path / "table.csv") == read_store(tmp_path, experiment.tasks(Grid()))


@pytest.mark.parametrize(
    "content", [b"\xff", b"key,d\n1\n", b"key,d\n1,2,3\n", b"key,d\n1," + b"x" * 200_000, b"a\n1\n"]
)
def test_a_damaged_table_is_named(content, tmp_path):
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"table\.csv is not the table of an experiment, or is damaged"):
        read_csv(tmp_path / "table.csv")


def test_a_table_remade_from_new_rows_keeps_those_that_only_the_table_has(tmp_path):
    experiment = load(TOY)
    run(experiment, Grid(quick=True, methods=("square",)), tmp_path, Options(workers=1))
    publish(experiment, tmp_path)
    before = read_csv(tmp_path / "table.csv")
    lost = next((tmp_path / "rows").iterdir())
    lost.unlink()
    republish(experiment, tmp_path)
    assert read_csv(tmp_path / "table.csv") == before


def test_a_row_is_whole_json_and_the_table_has_its_key(tmp_path):
    run(load(TOY), Grid(tiny=True, methods=("square",)), tmp_path, Options(workers=1))
    (path,) = (tmp_path / "rows").iterdir()
    row = json.loads(path.read_text())
    assert path.stem == row["key"] == read_store(tmp_path)[0]["key"]


def test_a_run_continues_from_a_published_table(tmp_path):
    first = Grid(tiny=True, methods=("square", "fail"))
    run(load(TOY), first, tmp_path)
    publish(load(TOY), tmp_path)
    before = (tmp_path / "table.csv").read_text()
    shutil.rmtree(tmp_path / "rows")
    restore_store(tmp_path)
    assert run(load(TOY), first, tmp_path).ran == 0
    publish(load(TOY), tmp_path)
    assert (tmp_path / "table.csv").read_text() == before
    assert run(load(TOY), Grid(tiny=True, methods=("square", "talk")), tmp_path).ran == 1


def test_a_recipe_longer_than_the_time_limit_continues_at_the_next_call(tmp_path):
    experiment = load("toys.long_experiment")
    grid = Grid(methods=("golem-nv",))
    tasks = experiment.tasks(grid)
    began = time.monotonic()
    whole = experiment.run_batch(tasks, "cpu")
    limit = 0.6 * (time.monotonic() - began) / len(tasks)
    for folder in (tmp_path / "first", tmp_path / "second", tmp_path / "third"):
        if calls := _calls_until_done(experiment, grid, folder, limit):
            break
        limit /= 4  # other work had slowed down the run without a limit
    assert calls > 0
    found = {row["key"]: row["measured"] for row in Store(folder).read()}
    assert timeless([found[experiment.key(task)] for task in tasks]) == timeless(whole)
    assert min(one["fit_seconds"] for one in found.values()) > limit  # with those of the earlier calls
    assert not (folder / "checkpoints").exists()


def _calls_until_done(experiment, grid, folder, limit):
    """Run an experiment until all tasks have ended; return how many calls reached the time limit."""
    for calls in range(30):
        summary = run(experiment, grid, folder, Options(workers=1, time_limit=limit, batch=2))
        if not summary.resumable:
            return calls
        stopped = [row for row in read_store(folder) if row["status"] == "timeout"]
        assert len(stopped) == summary.resumable
        assert all(row["reason"].endswith("; the same command continues it") for row in stopped)
    raise AssertionError("The tasks have not ended.")
