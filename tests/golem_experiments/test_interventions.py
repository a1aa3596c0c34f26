"""The data of the experiment on interventions, its distances, and its verdicts on made tables."""

from __future__ import annotations

import numpy as np
import pytest

from golem.comparison.other_packages import OTHER_PACKAGES, OtherPackage
from golem.graphs.dag import cpdag
from golem_experiments import Grid, load
from golem_experiments.interventions import class_distance, draw, interventional_cpdag


def cell(change="hard", design="er", targets="all", graph="ER2", d=6, n=4000):
    return {"design": design, "graph": graph, "change": change, "targets": targets, "d": d, "n": n, "steps": 300}


@pytest.mark.parametrize("change", ["hard", "variance", "slopes"])
def test_only_targets_change_and_all_changes_share_the_graph(change):
    drawn = draw(cell(change), 0)
    assert (drawn.truth == draw(cell("hard", n=10), 0).truth).all()
    assert drawn.targets == [[], *([j] for j in range(6))]
    found = {}
    for table, targets in zip(drawn.tables, drawn.targets, strict=True):
        X = table - table.mean(axis=0)
        for j in range(6):
            P = X[:, drawn.truth[:, j]]
            b = np.linalg.lstsq(P, X[:, j])[0]
            found[tuple(targets), j] = b, (X[:, j] - P @ b).var()
    for j in range(6):
        b, variance = found[(), j]
        for k in range(6):
            other, changed = found[(k,), j]
            slope = {"hard": 0, "variance": 1, "slopes": 2}[change] if k == j else 1
            np.testing.assert_allclose(other, slope * b, atol=0.3)
            if k != j or change != "hard":
                ratio = 2 if k == j and change == "variance" else 1
                assert changed / variance == pytest.approx(ratio, rel=0.15)


def test_the_benchmark_of_dcdi_has_ten_thousand_rows_and_weak_weights():
    drawn = draw(cell(design="dcdi", graph="ER4", d=10, n=10_000 // 11), 1)
    assert sum(map(len, drawn.tables)) == pytest.approx(10_000, abs=11)
    assert 30 <= drawn.truth.sum() <= 45
    for table, targets in zip(drawn.tables[1:], drawn.targets[1:], strict=True):
        assert abs(table[:, targets[0]].mean()) == pytest.approx(2, abs=0.2)
        assert table[:, targets[0]].std() == pytest.approx(1, abs=0.1)


def test_the_distance_of_classes_counts_pairs():
    chain = np.eye(3, k=1, dtype=bool)
    assert (interventional_cpdag(chain, [[]], "hard") == cpdag(chain)).all()
    decided = interventional_cpdag(chain, [[], [2]], "hard")
    assert class_distance(decided, cpdag(chain)) == 1
    assert class_distance(chain, chain.T) == 2
    assert class_distance(chain, np.zeros((3, 3), dtype=bool)) == 2


def rows(method, shd_i, seconds=0.5, right=20, reversed_=0, seeds=4, **changes):
    """Return rows of one cell; a pair of distances alternates from seed to seed."""
    return [
        {"key": "k", "experiment": "interventions"}
        | cell(**changes)
        | {"method": method, "seed": seed, "status": "done", "hardware": "here", "mode": "full"}
        | {"claimed_right": right, "claimed_reversed": reversed_, "fit_seconds": seconds}
        | dict.fromkeys(("shd", "shd_i"), shd_i[seed % 2] if isinstance(shd_i, tuple) else shd_i)
        for seed in range(seeds)
    ]


def holds(table):
    return [verdict.holds for verdict in load("interventions").verdicts(table)]


def test_the_verdicts_follow_from_the_table():
    def made(ours, theirs, soft, seconds):
        table = rows("order-hard", 0, design="dcdi", graph="ER1", d=10)
        for d in (20, 50):
            table += rows("order-hard", ours, d=d) + rows("gies", theirs, seconds, d=d)
            table += rows("order-soft", soft, d=d, change="variance")
        return table

    assert holds(made(1, 1, 1, 60)) == [True] * 5
    assert holds(made(9, 1, 19, 4)) == [True, False, False, False, True]
    without = [row for row in made(1, 1, 1, 60) if not (row["method"] == "gies" and row["d"] == 50)]
    assert holds(without)[1:3] == [None, None]


@pytest.mark.parametrize(
    ("distance", "seeds", "outcome"), [(0, 4, True), (2, 4, False), ((0, 1), 4, None), (0, 2, None)]
)
def test_the_benchmark_of_dcdi_needs_an_interval_below_the_bound(distance, seeds, outcome):
    table = rows("order-hard", distance, seeds=seeds, design="dcdi", graph="ER1", d=10)
    assert holds(table)[0] is outcome


@pytest.mark.parametrize(
    ("distance", "seeds", "outcome"), [(6, 4, True), (9, 4, False), ((0, 10), 4, None), (0, 2, None)]
)
def test_not_less_accurate_than_gies_needs_an_interval_below_a_margin(distance, seeds, outcome):
    # The margin is 0.1 per node, 2 pairs of 20 nodes.
    assert holds(rows("order-hard", distance, seeds=seeds, d=20) + rows("gies", 5, d=20))[1] is outcome


@pytest.mark.parametrize(
    ("right", "wrong", "seeds", "outcome"),
    [(60, 0, 4, True), (60, 20, 4, False), (2, 0, 4, None), (57, 3, 4, None), (60, 0, 2, None)],
)
def test_directions_by_interventions_are_right_if_enough_are(right, wrong, seeds, outcome):
    table = rows("order-hard", 0, right=right, reversed_=wrong, seeds=seeds)
    table += rows("order-soft", 0, right=60, change="variance") + rows("order-soft", 0, right=60, change="slopes")
    assert holds(table)[4] is outcome


def test_hard_cells_alone_have_gies(monkeypatch):
    tasks = load("interventions").tasks(Grid())
    assert {task.method for task in tasks if task.cell["change"] != "hard"} == {"order-hard", "order-soft"}
    monkeypatch.setitem(OTHER_PACKAGES, "gies", OtherPackage("no_such_module", "gies", lambda X: None))
    with pytest.raises(ValueError, match="'gies' needs another package"):
        load("interventions").tasks(Grid(methods=("gies",)))


def test_seconds_are_on_a_logarithmic_axis():
    drawn = load("interventions").figure(rows("order-hard", 1, seconds=1.0) + rows("gies", 2, seconds=3.0))
    assert [axes.get_yscale() for axes in drawn.axes] == ["linear", "log"]
