"""The experiment on large graphs, whose rows can come from accelerated steps."""

import pytest

from golem_experiments import Grid, load, run
from golem_experiments.scalability import FAST

SCALABILITY = load("scalability")


def rows(method, d, shd, tpr=0.98, seeds=3):
    # The columns before the method are the cell.
    cell = {"experiment": "scalability", "graph": "ER2", "noise": "gaussian-ev", "d": d, "n": 5000, "steps": 100_000}
    return [
        cell
        | {"method": method, "seed": seed, "status": "done", "shd": shd * d + seed, "tpr": tpr}
        | {"fit_seconds": 1.0, "device": "cuda", "batch": 1, "hardware": "one"}
        for seed in range(seeds)
    ]


def verdict(table, claim):
    return next(one for one in SCALABILITY.verdicts(table) if claim in one.claim)


def test_accelerated_tasks_have_a_name_and_keys_of_their_own():
    grid = {"seeds": 1, "sizes": (3200,), "methods": ("golem-ev", "order-ev")}
    exact, fast = (SCALABILITY.tasks(Grid(**grid, accelerate=accelerate)) for accelerate in (False, True))
    assert [task.method for task in fast] == [FAST, "order-ev"]
    assert "accelerate=True" in SCALABILITY.settings(fast[0])["solver"]
    keys = [[SCALABILITY.key(task) for task in tasks] for tasks in (exact, fast)]
    assert keys[0][0] != keys[1][0]
    assert keys[0][1] == keys[1][1]


def test_accelerated_runs_stand_for_golem_ev_only_where_no_exact_run_ended():
    table = [*rows("golem-ev", 100, 0.05), *rows("golem-ev", 1600, 0.1)]
    claim = "thousands of nodes"
    assert verdict(table, claim).holds
    worse = [*table, *rows(FAST, 1600, 5.0)]
    assert verdict(worse, claim).holds
    assert "accelerated" not in verdict(worse, claim).measured
    larger = [*table, *rows(FAST, 3200, 5.0)]
    assert verdict(larger, claim).holds is False
    assert "d = 3200 (accelerated steps, 3 seeds)" in verdict(larger, claim).measured
    growing = [*table, *rows(FAST, 3200, 5.0)]
    assert verdict(growing, "does not grow").holds is False


def test_one_seed_at_the_largest_size_confirms_nothing_but_can_object():
    claim = "thousands of nodes"
    one = rows(FAST, 3200, 0.1, seeds=1)
    assert verdict(one, claim).holds is None
    found = verdict([*rows("golem-ev", 1600, 0.1), *one], claim)
    assert found.holds
    assert "d = 3200 (accelerated steps, 1 seed): 0.1" in found.measured
    assert verdict([*rows("golem-ev", 1600, 0.1), *rows(FAST, 3200, 5.0, seeds=1)], claim).holds is None


def test_growth_compares_sizes_by_all_their_seeds():
    table = [*rows("golem-ev", 100, 0.04, seeds=12), *rows("golem-ev", 1600, 0.1)]
    assert verdict(table, "does not grow").holds
    assert "d = 1600 minus d = 100: +0.00" in verdict(table, "does not grow").measured


@pytest.mark.parametrize(("processor", "holds"), [("Xeon", True), ("EPYC", None)])
def test_a_gpu_is_compared_with_the_processor_beside_it(processor, holds):
    fast = [row | {"hardware": "H200; Xeon, 1 core, threads: 1"} for row in rows("golem-ev", 1600, 0.1)]
    where = {"hardware": f"{processor}, 16 cores, threads: 2", "device": "cpu"}
    slow = [row | where | {"status": "timeout", "seconds": 3.0} for row in rows("notears-l1", 1600, 0.1)]
    assert verdict([*fast, *slow], "much less time").holds is holds


def test_experiments_without_accelerated_methods_refuse_the_option(tmp_path):
    with pytest.raises(ValueError, match="Leave out --accelerate"):
        run(load("theory"), Grid(tiny=True, accelerate=True), tmp_path)
