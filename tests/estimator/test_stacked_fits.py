"""Many problems in one solve: each ends where it would have ended alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from golem import Golem, Knowledge
from golem.estimator.stacked_fits import fit_stacked
from golem.score.acyclicity import LogDet
from golem.score.likelihood import GaussianEV
from golem.score.objective import Objective
from golem.simulate import simulate
from golem.solvers import Adam, Status


@pytest.mark.parametrize("noise", ["ev", "nv", "auto"])
def test_a_batch_is_its_problems_one_by_one(noise):
    tables = [simulate(6, 300, "ER1", "gaussian-nv", random_state=seed).data for seed in range(4)]
    model = Golem(noise, "adam", max_iter=150)
    for X, together in zip(tables, fit_stacked(model, tables), strict=True):
        alone = Golem(noise, "adam", max_iter=150).fit(X)
        np.testing.assert_allclose(together.raw_weights_, alone.raw_weights_, atol=1e-10)
        np.testing.assert_array_equal(together.adjacency_, alone.adjacency_)
        assert together.solution_.terms["score"] == pytest.approx(alone.solution_.terms["score"])
        assert together.solution_.stationarity == pytest.approx(alone.solution_.stationarity, abs=1e-8)
        assert (together.start_solution_ is None) == (alone.start_solution_ is None)
        assert [point.iteration for point in together.solution_.trace] == [p.iteration for p in alone.solution_.trace]
    assert not hasattr(model, "weights_")


def test_problems_of_a_batch_stop_where_they_would_have_stopped_alone():
    tables = [simulate(5, 300, "ER1", random_state=seed).data for seed in range(4)]
    model = Golem("ev", Adam(max_iter=20_000, tolerance=0.03))
    alone = [clone(model).fit(X) for X in tables]
    assert len({one.solution_.iterations for one in alone}) > 1
    for one, together in zip(alone, fit_stacked(model, tables), strict=True):
        np.testing.assert_allclose(together.raw_weights_, one.raw_weights_, atol=1e-9)
        assert together.solution_.status is one.solution_.status is Status.CONVERGED


def test_a_problem_without_finite_numbers_does_not_harm_the_others():
    # A start outside the domain of log det(s I - B * B), from which no halving leads back.
    S = np.stack([np.cov(simulate(4, 300, "ER1", random_state=seed).data.T) for seed in range(3)])
    starts = np.stack([np.zeros((4, 4)), 2 * np.eye(4, k=1) + 2 * np.eye(4, k=-1), np.zeros((4, 4))])
    settings = {"acyclicity": LogDet(), "lambda_sparsity": 0.02, "lambda_dag": 5.0}
    together = Adam(max_iter=200).solve(Objective(S, GaussianEV(), **settings), starts)
    assert together.status is Status.NON_FINITE
    parts = together.split()
    assert parts[1].status is Status.NON_FINITE
    np.testing.assert_array_equal(parts[1].weights, starts[1])
    for k in (0, 2):
        alone = Adam(max_iter=200).solve(Objective(S[k], GaussianEV(), **settings))
        np.testing.assert_allclose(parts[k].weights, alone.weights, atol=1e-10)
        assert parts[k].status is alone.status is Status.COMPLETED


def test_knowledge_holds_for_every_problem():
    forbidden = np.zeros((5, 5), dtype=bool)
    forbidden[:, 0] = True
    tables = [simulate(5, 200, "ER2", random_state=seed).data for seed in range(3)]
    for model in fit_stacked(
        Golem("ev", "adam", max_iter=300, knowledge=Knowledge(forbidden, np.zeros((5, 5), bool))), tables
    ):
        assert not model.adjacency_[:, 0].any()


def test_knowledge_by_name_needs_columns_in_one_order():
    X = simulate(4, 200, "ER2", random_state=0).data
    model = Golem("ev", "adam", max_iter=50, knowledge=Knowledge.named(forbidden=[("a", "b"), ("b", "a")]))
    tables = [pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(X, columns=list("dcba"))]
    with pytest.raises(ValueError, match="Knowledge by name needs the same order of columns"):
        fit_stacked(model, tables)
    for one in fit_stacked(model, [tables[0], tables[1][list("abcd")]]):
        assert not one.raw_weights_[:2, :2].any()


def test_what_cannot_be_one_solve_is_refused():
    X, Y = simulate(5, 50, random_state=0).data, simulate(6, 50, random_state=0).data
    assert fit_stacked(Golem(solver="adam"), []) == []
    with pytest.raises(ValueError, match="solver='adam'"):
        fit_stacked(Golem(), [X])
    with pytest.raises(ValueError, match="noise"):
        fit_stacked(Golem("foo", "adam"), [X])
    with pytest.raises(ValueError, match=r"same number of columns; got \[5, 6\]"):
        fit_stacked(Golem(solver="adam"), [X, Y])
    with pytest.raises(ValueError, match="same number of rows"):
        fit_stacked(Golem("auto", "adam"), [X, X[:40]])


@pytest.mark.torch
def test_a_batch_of_tensors(rng):
    torch = pytest.importorskip("torch")
    tables = [simulate(6, 300, "ER1", random_state=seed).data for seed in range(3)]
    ours = fit_stacked(Golem("ev", "adam", max_iter=100), tables)
    theirs = fit_stacked(Golem("ev", "adam", max_iter=100), [torch.asarray(X) for X in tables])
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.raw_weights_, b.raw_weights_, atol=1e-9)
