"""The samples and preparations of the protein data, and how its verdicts are reached."""

import numpy as np
import pytest

from golem.comparison.registry import OF_NUMBERS
from golem.data.moments import Moments
from golem.datasets import load_sachs
from golem_experiments import Task, load
from golem_experiments.learners import build
from golem_experiments.sachs import CLAIMS, METHODS, PREPARATIONS, interval, prepare_rows, rows_of


def task(preparation, seed=0, method="pc"):
    return Task("sachs", {"preparation": preparation, "d": 11, "n": 853, "steps": 10}, seed, method)


def test_seed_0_is_the_data_and_others_are_samples_of_its_rows():
    X = load_sachs().values
    np.testing.assert_array_equal(rows_of(task("raw")), X)
    sample = rows_of(task("raw", seed=2))
    assert {tuple(row) for row in sample} < {tuple(row) for row in X}
    np.testing.assert_array_equal(sample, rows_of(task("raw", seed=2, method="fgs")))


def test_preparations_do_what_they_say():
    X = load_sachs().values
    np.testing.assert_allclose(np.exp(prepare_rows(X, "log")), X)
    for name in ("standardized", "log-standardized"):
        Z = prepare_rows(X, name)
        np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
        np.testing.assert_allclose(Z.std(axis=0), 1)
    scores = prepare_rows(X, "normal-scores")
    np.testing.assert_array_equal(np.argmax(scores, axis=0), np.argmax(X, axis=0))
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=0.01)
    uncentred = Moments.from_rows(prepare_rows(X, "uncentred"))
    np.testing.assert_allclose(uncentred.covariance, X.T @ X / len(X), rtol=1e-3)


def test_all_methods_run_on_all_preparations_that_suit_them():
    experiment = load("sachs")
    # fgs-mbic of `golem compare` is fgs here, and its fgs is fgs-bic.
    assert set(METHODS) == set(OF_NUMBERS) - {"fgs-mbic"} | {"fgs-bic"}
    models = [repr(build(name, {})) for name in METHODS]
    assert len(set(models)) == len(models), "two names for one method"
    from golem_experiments import Grid

    pairs = {(t.cell["preparation"], t.method) for t in experiment.tasks(Grid())}
    assert {p for p, _ in pairs} == set(PREPARATIONS)
    assert {m for p, m in pairs if p == "uncentred"} == {"golem-ev", "golem-nv", "notears", "notears-l1"}


def rows(method, shds, edges, preparation="raw"):
    return [
        {"experiment": "sachs", "preparation": preparation, "method": method, "seed": k, "status": "done", "shd": s,
         "edges": edges, "shd_c": s, "sid": None, "tpr": 0.1}
        for k, s in enumerate(shds)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shds", "edges", "holds"),
    [([14] * 30, 11, True), ([16] + [13, 15] * 15, 11, None), ([16] * 30, 11, False), ([16] * 5, 11, None)],
)
def test_the_papers_counts_are_met_possible_or_refuted(shds, edges, holds):
    verdict = load("sachs").verdicts(rows("golem-nv", shds, edges))[0]
    assert verdict.claim == next(iter(CLAIMS))
    assert verdict.holds is holds


def test_the_interval_leaves_the_data_out():
    low, high = interval(rows("pc", [100, *range(1, 22)], 5), "shd")
    assert (low, high) == (2, 20)


def test_the_verdicts_say_which_preparation_and_how_much_was_sampled():
    judge = load("sachs").verdicts
    found = judge(rows("golem-nv", [14], 11) + rows("golem-nv", [17], 3, "log"))[0]
    assert found.holds is True
    assert "The preparation raw, of 2 run, gives the paper's counts. No bootstrap was run" in found.measured
    assert "Only 4 bootstrap samples were run" in judge(rows("golem-nv", [14] * 5, 11))[0].measured
    assert "bootstrap was" not in judge(rows("golem-nv", [14] * 30, 11))[0].measured


def test_the_preparation_matters_if_the_difference_on_the_same_samples_does_and_all_three_were_run():
    judge = load("sachs").verdicts
    three = ("golem-nv", "notears-l1", "golem-ev")

    def table(names, other):
        return [row for name in names for row in rows(name, [14] * 30, 11) + rows(name, [other] * 30, 5, "log")]

    assert judge(table(three, 20))[4].holds is True
    assert judge(table(three, 14))[4].holds is False
    assert judge(table(three, 16))[4].holds is True
    # One of the three that does not depend on the preparation refutes the claim about each.
    assert (
        judge(table(three[:2], 20) + rows("golem-ev", [18] * 30, 21) + rows("golem-ev", [18] * 30, 21, "log"))[4].holds
        is False
    )
    # The same spread in every preparation, but the samples go up and down together.
    moving = [14 + seed % 7 for seed in range(30)]
    both = [
        row
        for name in three
        for p, more in (("raw", 0), ("log", 3))
        for row in rows(name, [x + more for x in moving], 9, p)
    ]
    assert judge(both)[4].holds is True
    # Differences between -3 and 3 decide nothing.
    loose = [14 + 3 * (-1) ** seed for seed in range(30)]
    assert (
        judge([row for name in three for row in rows(name, [14] * 30, 9) + rows(name, loose, 9, "log")])[4].holds
        is None
    )
    assert judge([row for row in table(three, 20) if row["seed"] < 5])[4].holds is None
    found = judge(table(three[:2], 20))[4]
    assert found.holds is None
    assert found.measured.endswith("Not run: golem-ev")


@pytest.mark.parametrize(("notears", "ev", "holds"), [(15, 18, True), (18, 18, False), (13, 18, False)])
def test_the_order_of_the_three(notears, ev, holds):
    table = rows("golem-nv", [14] * 30, 11) + rows("notears-l1", [notears] * 30, 13) + rows("golem-ev", [ev] * 30, 21)
    assert load("sachs").verdicts(table)[3].holds is holds


def test_the_axis_of_the_sid_fits_its_numbers_and_classes_have_none():
    table = [row | {"sid": 50 + row["seed"]} for row in rows("golem-nv", [14] * 5, 11)] + rows("fgs", [11] * 5, 8)
    sid = load("sachs").figure(table).axes[3]
    assert sid.get_ylim()[0] > 40
    assert [text.get_text() for text in sid.texts] == ["undefined\nfor classes"]
