"""`Golem(statistics="sparse")` and `markov_blanket`: same answers as with covariances, and refusals in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from golem import Golem, markov_blanket
from golem.data.wide_columns import WideMoments
from golem.simulate import simulate

pytestmark = pytest.mark.filterwarnings("ignore:n = ")


@pytest.fixture(scope="module")
def drawn() -> Any:
    """Return 70 columns of a random graph."""
    return simulate(70, 600, "ER1", random_state=5)


@pytest.fixture(scope="module")
def model(drawn: Any) -> Golem:
    """Return a fit with checked directions."""
    return Golem(statistics="sparse", evidence="full").fit(drawn.data)


def test_the_score_is_that_of_a_search_with_a_covariance(drawn: Any, model: Golem) -> None:
    dense = Golem("nv", statistics="dense", evidence="fast").fit(drawn.data)
    assert model.solution_.terms["score"] <= dense.solution_.terms["score"] + 0.01
    assert model.solution_.terms["score"] == pytest.approx(
        dense.fit_.score.total(model.adjacency_) / (2 * 600), abs=1e-4
    )
    assert isinstance(model.moments_, WideMoments)


def test_weights_and_errors_are_those_of_least_squares(drawn: Any, model: Golem) -> None:
    graph, X = model.graph_, drawn.data - drawn.data.mean(axis=0)
    j = int(np.bincount(graph.children).argmax())
    into = graph.children == j
    P = X[:, graph.causes[into]]
    b = np.linalg.lstsq(P, X[:, j], rcond=None)[0]
    s2 = np.sum((X[:, j] - P @ b) ** 2) / (len(X) - 1 - P.shape[1])
    assert np.allclose(graph.weights[into], b, rtol=1e-5)
    errors = model.fit_.standard_errors
    assert errors is not None
    assert np.allclose(errors[into], np.sqrt(s2 * np.diagonal(np.linalg.inv(P.T @ P))), rtol=1e-4)


def test_claims_are_arrows_of_the_truth(drawn: Any, model: Golem) -> None:
    claimed = model.graph_.directed_by("structure")
    truth = drawn.sem.adjacency[model.graph_.causes[claimed], model.graph_.children[claimed]]
    assert claimed.sum() > 5
    assert truth.mean() >= 0.9


def test_order_of_columns_does_not_matter(drawn: Any, model: Golem) -> None:
    import pandas as pd

    table = pd.DataFrame(drawn.data, columns=[f"x{j}" for j in range(70)])
    other = Golem(statistics="sparse").fit(table.iloc[:, ::-1])
    names = other.table_.names
    found = {(names[i], names[j]) for i, j in other.graph_.pairs()}
    assert found == {(f"x{i}", f"x{j}") for i, j in model.graph_.pairs()}


def test_single_precision_gives_the_same_graph(drawn: Any, model: Golem) -> None:
    other = Golem(statistics="sparse").fit(drawn.data.astype(np.float32))
    assert other.graph_.pairs() == model.graph_.pairs()


def test_time_limit_and_interrupts_return_what_there_is(drawn: Any) -> None:
    def interrupt(progress: Any) -> None:
        if progress.stage == "perturbations":
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="Interrupted"):
        cut = Golem(statistics="sparse", callback=interrupt).fit(drawn.data)
    assert len(cut.graph_) > 40
    with pytest.warns(UserWarning, match="time limit"):
        assert len(Golem(statistics="sparse", time_limit=1e-9).fit(drawn.data).graph_) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noise": "ev"}, "noise"),
        ({"knowledge": {"forbidden": [["x0", "x1"]]}}, "knowledge"),
        ({"missing": "em"}, "missing values needs covariances"),
        ({"solver": "adam", "noise": "nv"}, "solver"),
    ],
)
def test_what_needs_covariances_is_refused(drawn: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Golem(statistics="sparse", **settings).fit(drawn.data)


def test_columns_that_cannot_be_used_are_named(drawn: Any) -> None:
    for change, message in (
        (lambda X: X[:, :1].repeat(2, axis=1), "copies"),
        (lambda X: np.full((len(X), 2), [1.0, 2.0]), "Constant"),
        (lambda X: np.where(np.arange(len(X))[:, None] == 3, np.nan, X[:, :2]), "missing"),
    ):
        X = np.column_stack([drawn.data[:, 5:20], change(drawn.data)])
        with pytest.raises(ValueError, match=message):
            Golem(statistics="sparse").fit(X)


def test_very_many_columns_are_read_as_columns() -> None:
    X = np.random.default_rng(0).normal(size=(30, 5000)).astype(np.float32)
    X[:, 10] = X[:, 4000] + 0.1 * X[:, 10]
    model = Golem().fit(X)
    assert isinstance(model.moments_, WideMoments)
    assert {frozenset(pair) for pair in model.graph_.pairs()} >= {frozenset((10, 4000))}
    with pytest.raises(ValueError, match="covariances of all pairs"):
        model.moments_.covariance  # noqa: B018


def test_markov_blanket_is_that_of_the_graph(drawn: Any) -> None:
    true, penalty = drawn.sem.adjacency, np.log(600) + 2 * np.log(70)
    X = drawn.data - drawn.data.mean(axis=0)

    def score(j: int, blanket: set[int]) -> float:
        P = X[:, sorted(blanket)]
        return 600 * float(np.log(np.mean((X[:, j] - P @ np.linalg.lstsq(P, X[:, j], rcond=None)[0]) ** 2)))

    for j in range(12):
        children = np.flatnonzero(true[j])
        blanket = {*np.flatnonzero(true[:, j]), *children, *np.flatnonzero(true[:, children].any(axis=1))} - {j}
        found = {int(member.name[1:]) for member in markov_blanket(drawn.data, j)}
        # A weak member may not be worth its penalty, but what is found is at least as good.
        assert score(j, found) + penalty * len(found) <= score(j, blanket) + penalty * len(blanket) + 1e-3
        assert len(found - blanket) <= 1
    with pytest.raises(ValueError, match="no column 'gene'"):
        markov_blanket(drawn.data, "gene")
