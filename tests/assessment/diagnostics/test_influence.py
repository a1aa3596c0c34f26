"""Rows that carry an edge, against regressions done again without them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from golem import Golem
from golem.diagnostics import carried_edges, diagnose
from golem.score.sparsity import L0
from golem.simulate import simulate


def gain_by_hand(X, j, parents, i):
    """N log of the residual variances without and with parent i, by least squares with an intercept."""

    def rss(columns):
        design = np.column_stack([np.ones(len(X)), X[:, columns]])
        return np.linalg.lstsq(design, X[:, j], rcond=None)[1][0]

    return len(X) * np.log(rss([p for p in parents if p != i]) / rss(list(parents)))


@pytest.fixture
def planted():
    """Noise in four columns, one true edge c -> d, and three rows that join a and b."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 4))
    X[:, 3] += 0.8 * X[:, 2]
    X[[17, 203, 311], :2] = [[9, 9.5], [-8, -9], [10, 8]]
    return pd.DataFrame(X, columns=list("abcd"))


def test_a_few_rows_that_make_an_edge_are_named(planted):
    model = Golem(robust="off").fit(planted)
    assert (model.adjacency_ | model.adjacency_.T)[0, 1]
    finding = diagnose(model, planted)["influential-rows"]
    assert finding.level == "warning"
    assert "1 of 2 edges" in finding.finding
    assert all(str(row + 1) in finding.finding for row in (17, 203, 311))
    clean = planted.drop(index=[17, 203, 311])
    refitted = Golem().fit(clean)
    assert not (refitted.adjacency_ | refitted.adjacency_.T)[0, 1]
    assert diagnose(refitted, clean)["influential-rows"].level == "ok"


def test_ranks_do_not_depend_on_these_rows(planted):
    found = diagnose(Golem().fit(planted), planted)
    asked = diagnose(Golem(robust="ranks").fit(planted), planted)
    assert [finding.finding for finding in asked] == [finding.finding for finding in found]
    assert found["influential-rows"].level == "ok"
    assert found["outliers"].level == "note"
    assert "learned from ranks" in found["outliers"].finding
    assert "robust='ranks'" in diagnose(Golem(robust="off").fit(planted), planted)["outliers"].remedy


def test_row_numbers_are_those_of_the_table_with_missing_values(planted):
    model = Golem(robust="off").fit(planted)
    holes = pd.concat([pd.DataFrame(np.nan, index=range(10), columns=list("abcd")), planted], ignore_index=True)
    finding = diagnose(model, holes)["influential-rows"]
    assert all(str(row + 11) in finding.finding for row in (17, 203, 311))


def test_gains_are_those_of_regressions_by_hand(planted):
    X = planted.to_numpy()
    graph = np.zeros((4, 4), dtype=bool)
    graph[0, 1] = graph[2, 1] = graph[2, 3] = True
    (edge,) = carried_edges(graph, X)
    assert (edge.source, edge.target) == (0, 1)
    assert edge.gain == pytest.approx(gain_by_hand(X, 1, [0, 2], 0))
    assert edge.gain_without == pytest.approx(gain_by_hand(np.delete(X, edge.rows, axis=0), 1, [0, 2], 0))
    assert edge.penalty == pytest.approx(np.log(400) + 2 * np.log(4))
    assert {17, 203, 311} <= set(edge.rows)
    assert len(edge.rows) == 4
    assert not carried_edges(graph, X, L0(0.0))  # an edge without a penalty cannot fall below it


@pytest.mark.parametrize("switch", [0, 1])
def test_a_column_that_varies_in_these_rows_alone_gains_nothing_without_them(switch):
    """As the source, and as another parent of the target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X[:, switch] = np.arange(500) < 4
    X[:, 2] += 30 * X[:, switch]
    graph = np.zeros((3, 3), dtype=bool)
    graph[:2, 2] = True
    (edge,) = carried_edges(graph, X)
    assert (edge.source, edge.gain_without) == (switch, 0.0)
    X[:4, 1 - switch] = 40.0  # the other one's rows are those of the switch
    assert all(np.isfinite(edge.gain_without) for edge in carried_edges(graph, X))


def test_the_rows_left_out_are_the_worst_by_brute_force():
    """The four rows whose absence lowers the slope most, or whose errors the edge lowers most: what costs more."""
    X = np.random.default_rng(1).normal(size=(400, 2))
    X[:6] += 5 * np.random.default_rng(2).normal(size=(6, 1))
    slope = np.polyfit(*X.T, 1)[0]
    slopes = np.array([np.polyfit(np.delete(X[:, 0], t), np.delete(X[:, 1], t), 1)[0] for t in range(400)])
    centred = X - X.mean(axis=0)
    saved = centred[:, 1] ** 2 - (centred[:, 1] - slope * centred[:, 0]) ** 2
    tops = [np.argsort(np.sign(slope) * slopes)[:4], np.argsort(-saved)[:4]]
    gains = [gain_by_hand(np.delete(X, top, axis=0), 1, [0], 0) for top in tops]
    gain = gain_by_hand(X, 1, [0], 0)
    (edge,) = carried_edges(np.array([[0, 1], [0, 0]], dtype=bool), X, L0(gain / 800 * 0.9))
    assert edge.gain_without == pytest.approx(min(gains))
    assert set(edge.rows) == set(tops[int(np.argmin(gains))])


@pytest.mark.parametrize("weight_scale", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_clean_edges_are_carried_by_many_rows_however_weak(seed, weight_scale):
    X = simulate(20, 600, "ER2", weight_scale=weight_scale, random_state=seed).data
    model = Golem("ev").fit(X)
    assert model.adjacency_.any()
    assert carried_edges(model.adjacency_, X, model.edge_penalty_) == []
