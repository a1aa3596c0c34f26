"""An experiment of known outcome: methods that count, fail, hang, crash or print, in no time."""

from __future__ import annotations

import os
import sys
import time

from matplotlib.figure import Figure

from golem_experiments import Experiment, Grid, Task, Verdict

METHODS = ("square", "slow", "fail", "hang", "crash", "talk", "nan")


def tasks(grid: Grid) -> list[Task]:
    return [
        Task("toys.toy_experiment", {"d": d}, seed, method)
        for d in grid.choose_sizes((2, 3), (2,), (2,))
        for seed in grid.choose_seeds(4, 2, 1)
        for method in grid.choose_methods(METHODS)
    ]


def run(task: Task) -> dict[str, float | int | str | bool | None]:
    d = int(str(task.cell["d"]))
    if "TOY_LOG" in os.environ:
        with open(os.environ["TOY_LOG"], "a", encoding="utf-8") as log:
            log.write(f"{task.as_dict()}\n")
    if task.method == "slow":
        time.sleep(0.15)
    elif task.method == "fail":
        raise ValueError(f"no answer for d = {d}")
    elif task.method == "hang":
        time.sleep(600)
    elif task.method == "crash":
        os.kill(os.getpid(), 9)
    elif task.method == "talk":
        print("a library that prints")  # noqa: T201
        os.write(1, b"and one that writes\n")
        print("to both", file=sys.stderr)  # noqa: T201
    elif task.method == "nan":
        return {"answer": float("nan")}
    return {"answer": d * d + task.seed, "fit_seconds": time.perf_counter()}


def run_batch(tasks: list[Task], device: str) -> list[dict[str, float | int | str | bool | None]]:
    if any(task.method == "fail" for task in tasks) and len(tasks) > 1:
        raise RuntimeError("one of these is bad")
    return [run(task) | {"together": len(tasks)} for task in tasks]


def figure(table: list[dict[str, object]]) -> Figure:
    drawn = Figure()
    drawn.subplots().plot([row["answer"] for row in table if row["status"] == "done"])
    return drawn


def verdicts(table: list[dict[str, object]]) -> list[Verdict]:
    return [Verdict("squares are right", f"{len(table)} rows", True)]


EXPERIMENT = Experiment(
    "toys.toy_experiment", "nothing", ("squares are right",), tasks, run, figure, verdicts,
    shape=lambda task: (task.method in ("square", "fail"), task.cell["d"]) if task.method != "slow" else None,
    run_batch=run_batch,
)  # fmt: skip
