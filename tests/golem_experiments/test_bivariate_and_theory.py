"""The verdicts of both experiments without data: they follow the table, and a table that contradicts turns them."""

import numpy as np
import pytest

from golem_experiments import Grid, Task, load
from golem_experiments.bivariate import read_points, score, true_weight
from golem_experiments.stationary_points import stationary_points
from golem_experiments.theory import adjacency_of, name_of


def row_of(name, cell, method, seed=0):
    measured = load(name).run(Task(name, cell, seed, method))
    return {"experiment": "theory", **cell, "method": method, "seed": seed, "status": "done"} | measured


@pytest.fixture(scope="module")
def bivariate_table():
    cells = {(t.cell["penalty"], t.method): dict(t.cell) for t in load("bivariate").tasks(Grid(tiny=True))}
    wanted = [
        ("hard-dag", "least-squares"),
        ("none", "least-squares"),
        ("none", "likelihood-ev"),
        ("dag", "likelihood-ev"),
    ]
    return [row_of("bivariate", cells[key], key[1]) for key in wanted]


def test_seed_0_has_the_papers_weight_and_others_the_simulators():
    assert true_weight(0) == 1.5
    drawn = [true_weight(seed) for seed in range(1, 40)]
    assert all(0.5 <= abs(b) <= 2 for b in drawn)
    assert min(drawn) < 0 < max(drawn)


def test_points_come_back_from_the_table_as_they_were(bivariate_table):
    row = bivariate_table[2]
    found = stationary_points(score("likelihood-ev", 1.5, row), starts=row["starts"])
    assert [(p.b, p.c, p.value, p.kind) for p in read_points(row)] == [(p.b, p.c, p.value, p.kind) for p in found]


def test_proposition_1_holds_and_a_contradicting_row_would_show(bivariate_table):
    judge = load("bivariate").verdicts
    assert [judge(bivariate_table)[k].holds for k in (0, 1, 2, 4)] == [True] * 4
    assert judge(bivariate_table)[3].holds is None
    for k, number, change in ((0, 0, {"distance": 0.1}), (1, 1, {"cyclic": False}), (2, 3, {"gap": 0.0})):
        table = [row | change if i == number else row for i, row in enumerate(bivariate_table)]
        assert judge(table)[k].holds is False


def test_graphs_have_names():
    edges = ((0, 1), (0, 3), (2, 3))
    graph = adjacency_of(name_of(edges), 4)
    assert tuple(map(tuple, np.argwhere(graph).tolist())) == edges
    assert adjacency_of(name_of(()), 3).sum() == 0


@pytest.fixture(scope="module")
def theory_table():
    tasks = load("theory").tasks(Grid(tiny=True))
    return [row_of("theory", dict(task.cell), task.method) for task in tasks]


def test_the_statements_hold_on_three_nodes(theory_table):
    assert [verdict.holds for verdict in load("theory").verdicts(theory_table)] == [True] * 7


@pytest.mark.parametrize(
    ("number", "statement", "change"),
    [
        (0, "lemma-1", {"largest": 0.1}),
        (1, "theorems", {"cyclic": 1}),
        (2, "theorems", {"fewest_edges": 0, "true_edges": 1}),
        (4, "theorems", {"is_markov_class": False}),
        (4, "theorems", {"largest_sine": 0.5}),
        (5, "appendix-a", {"agree": 99}),
        (6, "equal-variances", {"is_truth": False}),
    ],
)
def test_a_contradicting_row_turns_the_verdict(theory_table, number, statement, change):
    first = next(k for k, row in enumerate(theory_table) if row["statement"] == statement)
    table = [row | change if k == first else row for k, row in enumerate(theory_table)]
    assert load("theory").verdicts(table)[number].holds is False


def test_graphs_too_large_to_try_are_refused():
    with pytest.raises(ValueError, match=r"possible for 2, 3 and 4 nodes\. Got sizes \(5,\)"):
        load("theory").tasks(Grid(sizes=(5,)))


def test_graphs_that_zeros_exclude_are_told_from_those_that_were_searched(theory_table):
    rows = [row for row in theory_table if row["statement"] == "theorems"]
    searched, graphs = (sum(row[name] for row in rows) for name in ("searched", "graphs"))
    assert 0 < searched < graphs
    told = f"{graphs} directed graphs: {searched} searched numerically, {graphs - searched} excluded by zeros"
    assert told in load("theory").verdicts(theory_table)[2].measured


def test_the_soft_penalties_are_also_told_after_thresholding():
    def row(method, b, c):
        return {"experiment": "bivariate", "penalty": "dag", "ratio": 1.0, "method": method, "status": "done",
                "seed": 0, "b0": 1.5, "b": b, "c": c, "cyclic": bool(b and c), "indices": "1 1 1",
                "distance": 0.0, "gap": 1.0, "residual": 0.0}  # fmt: skip

    table = [row("least-squares", 1.5, 0.1), row("least-squares", 1.5, 0.4), row("likelihood-ev", 1.5, 0.0)]
    verdict = load("bivariate").verdicts(table)[5]
    assert verdict.holds is True
    assert "X1 -> X2 in 1, reversed in 0, cyclic in 1" in verdict.measured
