"""The list of edges of a fitted model, and the matrices that are made from it."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Golem, Knowledge
from golem.estimator.graph_matrices import MATRICES
from golem.graphs.dag import cpdag
from golem.simulate import simulate


@pytest.mark.parametrize(("noise", "solver"), [("ev", "order"), ("nv", "order"), ("auto", "order"), ("nv", "lbfgs")])
def test_matrices_say_the_same_as_the_list_of_edges(noise, solver):
    drawn = simulate(8, 300, "ER2", random_state=4)
    model = Golem(noise, solver).fit(drawn.data)
    assert not set(MATRICES) & set(vars(model))
    graph = model.graph_
    np.testing.assert_array_equal(model.weights_[graph.causes, graph.children], graph.weights)
    np.testing.assert_array_equal(model.adjacency_, model.weights_ != 0)
    np.testing.assert_array_equal(model.cpdag_, cpdag(model.weights_))
    np.testing.assert_array_equal(model.by_variance_, graph.matrix(graph.directed_by("variances")))
    in_class = graph.matrix(graph.directed_by("none")) | model.by_variance_
    np.testing.assert_array_equal(in_class, model.adjacency_ & model.cpdag_.T)
    # Directions of the class that do not survive the check become links.
    np.testing.assert_array_equal(model.undecided_, model.graph_.matrix(model.graph_.undecided))
    assert (model.undecided_ | model.by_variance_)[in_class].all()
    np.testing.assert_array_equal(model.sem_.weights, model.weights_)


def test_a_second_fit_makes_new_matrices():
    drawn = simulate(6, 300, "ER2", random_state=4)
    model = Golem("ev").fit(drawn.data)
    first = [model.weights_, model.sem_.weights]
    model.fit(drawn.data[:, ::-1])
    for before, after in zip(first, (model.weights_, model.sem_.weights), strict=True):
        np.testing.assert_allclose(after, before[::-1, ::-1], atol=1e-9)


def test_a_required_edge_without_correlation_is_in_the_list_of_edges():
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]] * 20)
    model = Golem("nv", knowledge=Knowledge.of(2, required=[(1, 0)])).fit(corners)
    assert (model.graph_.causes.tolist(), model.graph_.children.tolist()) == ([1], [0])
    assert 0 < model.graph_.weights[0] < 1e-15


def test_a_cyclic_graph_has_edges_and_weights_only():
    drawn = simulate(8, 100, "ER2", random_state=0)
    model = Golem("nv", "lbfgs", lambda_dag=0, threshold=0.0, cycles="none", max_iter=20)
    with pytest.warns(UserWarning, match="Stopped"):
        model.fit(drawn.data)
    assert model.weights_.any()
    assert not any(hasattr(model, name) for name in ("cpdag_", "undecided_", "by_variance_", "sem_"))


def test_variances_decide_between_two_columns_only_if_they_are_assumed_to_be_equal():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = 0.5 * x + 0.5 * rng.normal(size=500)  # reversed, the residual variances happen to be equal
    chosen, assumed = Golem(shape="off").fit(np.c_[x, y]), Golem("ev").fit(np.c_[x, y])
    assert chosen.edges_[0].direction_from == "none"
    assert assumed.edges_[0].direction_strength > 100  # here equal variances are assumed
