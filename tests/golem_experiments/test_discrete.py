"""The experiment on discrete networks: its tables, what it measures, and what decides its claims."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from golem.comparison.other_packages import Estimate, OtherPackage
from golem_experiments import Grid, Task, discrete, load
from golem_experiments.network_files import FOLDER_VARIABLE

CELL = {"network": "asia", "d": 3, "n": 2000}


def test_every_score_finds_the_sprinkler_and_codes_as_numbers_are_numbers():
    rows = {method: discrete.run(Task("discrete", CELL, 0, method)) for method in ("order", *discrete.SCORES)}
    assert {row["true_edges"] for row in rows.values()} == {3}
    assert rows["order"]["shd_c"] == 0
    table = discrete.table_of(np.array([[0, 2], [1, 0]]))
    assert table.to_pydict() == {"x000": ["level 0", "level 1"], "x001": ["level 2", "level 0"]}


def test_a_category_with_one_level_is_left_out_and_isolated(monkeypatch):
    seen = []

    def learn(codes):
        seen.append(codes)
        graph = np.array([[False, True], [False, False]])
        return Estimate(graph, False, graph)

    def sample(self, n, random_state):
        codes = np.random.default_rng(random_state).integers(2, size=(n, 3))
        codes[:, 0] = 1
        return codes

    monkeypatch.setitem(discrete.CATEGORY_PACKAGES, "pgmpy-ges-bic", OtherPackage("pgmpy", "pgmpy", learn))
    monkeypatch.setattr(discrete.DiscreteNetwork, "sample", sample)
    row = discrete.run(Task("discrete", CELL, 0, "pgmpy-ges-bic"))
    assert seen[0].shape == (2000, 2)
    # rain -> sprinkler, rain -> wet and sprinkler -> wet are true; only the last one is found.
    assert (row["edges"], row["shd"]) == (1, 2)


def test_packages_that_are_not_installed_are_left_out_unless_asked_for(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    methods = {task.method for task in load("discrete").tasks(Grid(seeds=1))}
    assert methods == {"order", *discrete.SCORES, discrete.CODES_AS_NUMBERS}
    with pytest.raises(ValueError, match=r"Install it with pip install causal-learn"):
        load("discrete").tasks(Grid(methods=("causal-learn-ges-bdeu",)))


def test_a_missing_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(ValueError, match=r"asia\.bif\.gz.*pip install --no-deps pgmpy"):
        load("discrete").tasks(Grid())


def made(method, shd_c, seconds=1.0, n=1000, status="done"):
    return [
        {"experiment": "discrete", "network": "asia", "d": 8, "n": n, "method": method, "seed": seed, "status": status,
         "shd_c": shd_c + seed % 2, "fit_seconds": seconds, "seconds": seconds, "hardware": "here"}
        for seed in range(6)
    ]  # fmt: skip


ALL_PACKAGES = [row for name in discrete.PACKAGES for row in made(name, 4, seconds=11.0)]


@pytest.mark.parametrize(
    ("ours", "seconds", "holds"), [(4, 1.0, [True, True]), (5, 1.0, [False, True]), (3, 1.2, [True, False])]
)
def test_accuracy_and_speed_are_judged_per_network_and_package(ours, seconds, holds):
    verdicts = load("discrete").verdicts(made("order", ours, seconds) + ALL_PACKAGES)
    assert [verdicts[k].holds for k in (1, 2)] == holds


def test_accuracy_is_undecided_if_the_interval_contains_both_outcomes():
    # On average as accurate, by turns one error better and worse.
    mixed = [row | {"shd_c": 4 + 2 * (row["seed"] % 2)} for row in made("order", 0)]
    even = [row | {"shd_c": 5} for row in ALL_PACKAGES]
    assert load("discrete").verdicts(mixed + even)[1].holds is None
    few = [row for row in made("order", 0) + ALL_PACKAGES if row["seed"] < 2]
    assert [load("discrete").verdicts(few)[k].holds for k in (1, 2)] == [None, None]


def test_a_network_without_other_packages_leaves_the_claims_open():
    verdicts = load("discrete").verdicts(made("order", 4) + ALL_PACKAGES + made("order", 4, n=10_000))
    assert [verdicts[k].holds for k in (1, 2)] == [None, None]
    assert "asia, n = 10000: pgmpy-ges-bic" in verdicts[1].measured


def test_a_package_that_was_not_run_leaves_the_claims_open_and_a_stopped_one_counts_its_time():
    table = made("order", 4) + [row for row in ALL_PACKAGES if row["method"] != "pgmpy-hc-bic"]
    assert [load("discrete").verdicts(table)[k].holds for k in (1, 2)] == [None, None]
    table += made("pgmpy-hc-bic", 0, seconds=200.0, status="timeout")
    verdict = load("discrete").verdicts(table)[2]
    assert verdict.holds is True
    assert "pgmpy-hc-bic 200 or more (stopped)" in verdict.measured


@pytest.mark.parametrize(("numbers", "holds"), [(9, True), (1, False)])
def test_codes_as_numbers_and_more_rows(numbers, holds):
    table = made("order", 5) + made("order-nv", numbers) + made("order", numbers, n=10_000)
    verdicts = load("discrete").verdicts(table)
    assert verdicts[0].holds is holds
    assert verdicts[4].holds is not holds


@pytest.mark.parametrize(("best", "holds"), [(4, True), (1, False)])
def test_the_choice_of_the_score_is_compared_with_every_score(best, holds):
    table = made("order", 4) + made("order-bdeu", 9) + made("order-discrete-bic", best) + made("order-mixed", 9)
    assert load("discrete").verdicts(table)[3].holds is holds
