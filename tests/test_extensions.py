"""Adding things is short: a penalty, a node score and a gradient solver, by registration and without other files."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from golem import Golem
from golem.gradient.gradient_solver import GradientSolver
from golem.gradient.solvers import SOLVERS
from golem.score.solution import Recorder, Status
from golem.score.sparsity import CRITERIA, L0, SPARSITIES
from golem.score.table_score import SCORES, BlockScore
from golem.simulate import simulate

DRAWN = simulate(5, 400, "ER1", random_state=1)


@dataclass(frozen=True)
class Smoothed:
    """The sum of sqrt(b^2 + e^2) - e: nearly the l1 norm, but smooth."""

    e: float = 1e-2

    def value_and_grad(self, B):
        size = np.sqrt(B**2 + self.e**2)
        return (size - self.e).sum(axis=(-2, -1)), B / size


def test_a_penalty_on_the_weights(monkeypatch):
    settings = {"lambda_sparsity": 0.05, "max_iter": 3000}
    usual = Golem("ev", "adam", **settings).fit(DRAWN.data)
    given = Golem("ev", "adam", sparsity=Smoothed(), **settings).fit(DRAWN.data)
    monkeypatch.setitem(SPARSITIES, "smoothed", Smoothed())
    named = Golem("ev", "adam", sparsity="smoothed", **settings).fit(DRAWN.data)
    np.testing.assert_array_equal(named.raw_weights_, given.raw_weights_)
    assert 0 < np.abs(named.raw_weights_ - usual.raw_weights_).max() < 0.2
    np.testing.assert_array_equal(named.adjacency_, usual.adjacency_)
    with pytest.raises(ValueError, match=r"L-BFGS needs the l1 norm"):
        Golem("ev", "lbfgs", sparsity=Smoothed()).fit(DRAWN.data)
    with pytest.raises(ValueError, match=r"solver='order' does not use it"):
        Golem(sparsity="l1").fit(DRAWN.data)


def test_a_penalty_per_edge(monkeypatch):
    monkeypatch.setitem(CRITERIA, "doubled", lambda k, d: 4 * k * np.log(d))
    model = Golem("nv", lambda_sparsity="doubled").fit(DRAWN.data)
    expected = Golem("nv", lambda_sparsity=L0("mbic", gamma=2.0).penalties(400, 5)[1] / 800).fit(DRAWN.data)
    np.testing.assert_array_equal(model.adjacency_, expected.adjacency_)
    assert model.edge_penalty_.penalties(400, 5)[1] == pytest.approx(np.log(400) + 4 * np.log(5))


class Tempered(BlockScore):
    """The likelihood of half the rows: a score for rows that repeat each other."""

    name = "tempered"

    def engine(self):
        blocks = super().engine()
        return replace(blocks, rows=blocks.rows / 2)


def test_a_node_score(monkeypatch):
    monkeypatch.setitem(SCORES, "tempered", lambda table, settings: Tempered(table, settings.sparsity))
    twice = np.concatenate([DRAWN.data, DRAWN.data])
    model = Golem(score_function="tempered").fit(twice)
    once = Golem("nv").fit(DRAWN.data)
    np.testing.assert_array_equal(model.cpdag_, once.cpdag_)
    assert model.score_ == "tempered"
    assert model.sem_.weights == pytest.approx(model.weights_)


@dataclass(frozen=True)
class Descent(GradientSolver):
    """Gradient descent with steps that shrink until the score falls."""

    max_iter: int = 2000
    time_limit: float | None = None
    label = "Descent"
    needs_l1 = False

    def peak_matrices(self, acyclicity, lambda_dag, d, on_cpu=False):
        return 6

    def run(self, objective, init, how):
        B = np.zeros_like(objective.S) if init is None else init
        recorder, step = Recorder(objective, self.max_iter, self.time_limit, how.callback, how.stage), 0.1
        for k in range(self.max_iter):
            recorder.observe(k, B)
            value, grad = objective.value_and_grad(B)
            while step > 1e-8 and not objective.value_and_grad(B - step * grad)[0] < value:
                step /= 2
            B, step = B - step * grad, step * 1.5
        return recorder.solution(B, Status.MAX_ITER, self.max_iter)


def test_a_gradient_solver(monkeypatch):
    monkeypatch.setitem(SOLVERS, "descent", Descent())
    with pytest.warns(UserWarning, match=Status.MAX_ITER.value[:20]):
        model = Golem("ev", "descent", threshold=0.3).fit(DRAWN.data)
    np.testing.assert_array_equal(model.adjacency_, Golem("ev", "lbfgs", threshold=0.3).fit(DRAWN.data).adjacency_)
    with pytest.raises(ValueError, match="cannot continue a solve"):
        Golem("ev", "descent").fit(DRAWN.data, checkpoint="x.npz")
