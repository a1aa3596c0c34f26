"""Findings about all edges together: density, and weights outside their bootstrap intervals."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from golem import Golem, bootstrap
from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.graph import find_density, find_outside_intervals
from golem.simulate import simulate


def graph_of(d, parents):
    """Make a graph in which every node has this many parents, as far as there are earlier nodes."""
    graph = np.zeros((d, d), dtype=bool)
    for j in range(d):
        graph[max(0, j - parents) : j, j] = True
    return graph


@pytest.mark.parametrize(
    ("d", "parents", "n", "level"),
    [
        (77, 13, 372, "warning"),  # 900 edges for 372 rows
        (20, 12, 5000, "note"),  # many rows, but most pairs are connected
        (20, 4, 1000, "ok"),
        (8, 7, 400, "ok"),  # a complete graph of few nodes has few parents per node
        (77, 2, 372, "ok"),
    ],
)
def test_a_dense_graph_is_called_so(d, parents, n, level, monkeypatch):
    monkeypatch.setattr(CheckedModel, "graph", graph_of(d, parents))
    finding = find_density(CheckedModel(Golem().fit(np.random.default_rng(0).normal(size=(n, d)))))
    assert finding.level == level
    assert ("select=" in finding.remedy) == (level != "ok")


def test_an_empty_graph_is_explained_if_the_penalty_has_another_unit():
    X = simulate(5, 300, "ER1", random_state=3).data
    finding = find_density(CheckedModel(Golem("ev", lambda_sparsity=11.5).fit(X)))
    assert finding.level == "note"
    assert "For 300 rows, lambda_sparsity=11.5 is a penalty of 6900 per edge" in finding.finding
    assert "the default, is 8.92" in finding.finding  # log 300 + 2 log 5
    assert "use lambda_sparsity=0.0192 (11.5 / 2n)" in finding.remedy
    assert Golem("ev", lambda_sparsity=0.0192).fit(X).adjacency_.any()
    noise = np.random.default_rng(0).normal(size=(300, 3))
    for penalty in ("mbic", 0.05):
        assert find_density(CheckedModel(Golem("ev", lambda_sparsity=penalty).fit(noise))).level == "ok"
    empty = Golem("ev", "lbfgs", lambda_sparsity=9.0).fit(noise)
    assert not empty.adjacency_.any()
    assert find_density(CheckedModel(empty)).level == "ok"  # the weight of the l1 norm


def test_a_weight_outside_its_interval_is_explained():
    X = simulate(5, 300, "ER1", random_state=3).data
    model = Golem("ev").fit(X)
    found = bootstrap(model, X, 10, random_state=0)
    i, j = np.argwhere(model.adjacency_ & ~model.undecided_)[0]
    inside = dataclasses.replace(found, weight_interval=np.stack([model.weights_ - 1, model.weights_ + 1]))
    assert find_outside_intervals(model, inside).level == "ok"
    interval = inside.weight_interval.copy()
    interval[:, i, j] = 0.0
    for share, reason in ((0.3, "lack or reverse the edge"), (0.9, "other parents")):
        frequency = found.direction_frequency.copy()
        frequency[i, j] = share
        changed = dataclasses.replace(inside, weight_interval=interval, direction_frequency=frequency)
        finding = find_outside_intervals(model, changed)
        assert finding.level == "note"
        assert finding.finding.startswith(f"1 weight lies outside its bootstrap interval. For 'x{i}' -> 'x{j}'")
        assert reason in finding.finding
