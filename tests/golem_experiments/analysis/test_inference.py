"""Means over seeds, when cells have different numbers of seeds, and comparisons of methods that were stopped."""

import numpy as np
import pytest

from golem_experiments import load
from golem_experiments.analysis.comparisons import count_settings, means
from golem_experiments.analysis.inference import mean_over_seeds
from golem_experiments.analysis.outputs import verdict_text
from golem_experiments.analysis.tables import average, interaction, paired, shared

RNG = np.random.default_rng(0)


def row(method, seed, shd, *, d=10, graph="ER1", status="done", **more):
    return {"experiment": "x", "graph": graph, "d": d, "method": method, "seed": seed, "status": status,
            "shd": shd if status == "done" else None} | more  # fmt: skip


def test_complete_cells_have_the_standard_error_of_the_means_per_seed():
    values = RNG.normal(size=(3, 8)) + RNG.normal(size=8)  # cells of one seed are correlated
    found = mean_over_seeds((cell, seed, values[cell, seed]) for cell in range(3) for seed in range(8))
    by_seed = values.mean(axis=0)
    assert found.value == pytest.approx(by_seed.mean())
    assert found.error == pytest.approx(by_seed.std(ddof=1) / np.sqrt(8))
    assert found.count == 8


def test_cells_of_different_seeds_have_the_standard_error_of_strata():
    cells = [RNG.normal(size=size) for size in (4, 9)]
    found = mean_over_seeds(((k, (k, seed), x) for k, cell in enumerate(cells) for seed, x in enumerate(cell)))
    assert found.value == pytest.approx(np.mean([cell.mean() for cell in cells]))
    variances = [cell.var(ddof=1) / len(cell) for cell in cells]
    assert found.error == pytest.approx(np.sqrt(sum(variances)) / 2)
    assert found.count == 4


def test_a_size_with_few_seeds_counts_as_much_as_one_with_many():
    table = [row("a", seed, 10) for seed in range(12)] + [row("a", seed, 300, d=100) for seed in range(3)]
    table += [row("b", seed, 20) for seed in range(12)] + [row("b", seed, 100, d=100) for seed in range(3)]
    assert average(table, "shd", method="a").value == pytest.approx(2)  # of 1 and 3 errors per node
    assert paired(table, "shd", "a", "b").value == pytest.approx((-1 + 2) / 2)


def test_cells_with_fewer_than_three_seeds_do_not_count_next_to_others():
    table = [row("a", seed, 10 + seed) for seed in range(5)] + [row("a", 0, 900, d=100)]
    assert average(table, "shd") == average(table, "shd", d=10)
    assert average(table, "shd", d=100).count == 1


def test_the_growth_of_a_difference_is_matched_by_the_other_columns():
    # The second method has only the sparse graph at d = 100, so that the dense one says nothing about growth.
    table = [row(name, seed, 10 * k, graph=graph) for k, name in enumerate("ab") for seed in range(3)
             for graph in ("ER1", "ER4")]  # fmt: skip
    table += [row("a", seed, 0, d=100, graph=graph) for seed in range(3) for graph in ("ER1", "ER4")]
    table += [row("b", seed, 100, d=100) for seed in range(3)]
    table = [one | {"shd": one["shd"] + 50 * (one["graph"] == "ER4" and one["method"] == "b")} for one in table]
    assert interaction(table, "shd", "b", "a", {"d": 100}, {"d": 10}).value == pytest.approx(0)


def stopped(method, seed, **more):
    return row(method, seed, None, status="timeout", **more)


def test_methods_are_compared_on_the_data_that_all_have_completed():
    table = [row("a", seed, 10 * seed) for seed in range(6)]
    table += [row("b", seed, 10 * seed) for seed in range(3)] + [stopped("b", seed) for seed in range(3, 6)]
    assert {(one["method"], one["seed"]) for one in shared(table, ["a", "b"])} == {
        (m, s) for m in "ab" for s in (0, 1, 2)
    }
    text = means(table, "shd", ["a", "b"])
    # The mean of a over all seeds is 2.5: it would look worse because it solved the hard problems.
    assert "a 1 ± 0.58, b 1 ± 0.58" in text
    assert "3 of 6 data sets" in text


def test_a_setting_is_decided_on_common_seeds():
    # b and c are beaten by a, but on different seeds: no three seeds compare all.
    noise = (0, 1, 2, 0, 1, 2)
    table = [row("a", seed, noise[seed]) for seed in range(6)]
    table += [row("b", seed, 50) if seed < 3 else stopped("b", seed) for seed in range(6)]
    table += [row("c", seed, 50) if seed >= 3 else stopped("c", seed) for seed in range(6)]
    assert count_settings(table, "shd", ["a"], ["b"], ("graph",)).better == 1
    nobody = count_settings(table, "shd", ["a"], ["b", "c"], ("graph",))
    assert (nobody.open, nobody.few) == (1, 1)
    assert nobody.reason == "1 of 1 settings have fewer than 3 seeds."


def test_seeds_count_only_if_their_runs_were_completed():
    table = [row("a", seed, 1) for seed in range(6)]
    table += [row("b", seed, 1) if seed < 2 else stopped("b", seed) for seed in range(6)]
    table = [one | {"seconds": 1.0, "reason": "", "mode": "full"} for one in table]
    text = verdict_text(load("identifiable"), table, [], [])
    assert "a 6 at d = 10; b 2 at d = 10 (4 of 6 runs not completed)" in text


def test_times_are_compared_on_the_same_hardware():
    table = [
        row(name, seed, 1, fit_seconds=1.0 + k, hardware="CPU") for k, name in enumerate("ab") for seed in range(3)
    ]
    assert paired(table, "fit_seconds", "b", "a").value == pytest.approx(1)
    apart = [one | {"hardware": "GPU"} if one["method"] == "a" else one for one in table]
    assert paired(apart, "fit_seconds", "b", "a").count == 0
    assert paired(apart, "shd", "b", "a").count == 3
