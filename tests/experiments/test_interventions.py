"""The data of the experiment on interventions, its distances, and its verdicts on made tables."""

from __future__ import annotations

import numpy as np
import pytest

from golem.comparison.other_packages import OTHER_PACKAGES, OtherPackage
from golem.experiments import Grid, load
from golem.experiments.interventions import class_distance, draw, interventional_cpdag
from golem.graphs.dag import cpdag


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


def test_the_verdicts_follow_from_the_table():
    about = {"key": "k", "experiment": "interventions"}
    rest = {"status": "done", "claimed_right": 20, "claimed_reversed": 0, "hardware": "here", "mode": "full"}

    def rows(method, shd_i, seconds, **changes):
        one = cell(**changes)
        return [
            about
            | one
            | {"method": method, "seed": seed}
            | rest
            | {"shd": shd_i, "shd_i": shd_i, "fit_seconds": seconds}
            for seed in range(4)
        ]

    def made(ours, theirs, soft, seconds):
        table = rows("order-hard", 0, 0.5, design="dcdi", graph="ER1", d=10)
        for d in (20, 50):
            table += rows("order-hard", ours, 0.5, d=d) + rows("gies", theirs, seconds, d=d)
            table += rows("order-soft", soft, 0.5, d=d, change="variance")
        return table

    def verdicts(*numbers):
        return [verdict.holds for verdict in load("interventions").verdicts(made(*numbers))]

    assert verdicts(1, 1, 1, 60) == [True] * 5
    assert verdicts(2, 1, 9, 4) == [True, False, False, False, True]
    without = [row for row in made(1, 1, 1, 60) if not (row["method"] == "gies" and row["d"] == 50)]
    assert [verdict.holds for verdict in load("interventions").verdicts(without)][1:3] == [None, None]


def test_hard_cells_alone_have_gies(monkeypatch):
    tasks = load("interventions").tasks(Grid())
    assert {task.method for task in tasks if task.cell["change"] != "hard"} == {"order-hard", "order-soft"}
    monkeypatch.setitem(OTHER_PACKAGES, "gies", OtherPackage("no_such_module", "gies", lambda X: None))
    with pytest.raises(ValueError, match="'gies' needs another package"):
        load("interventions").tasks(Grid(methods=("gies",)))
