"""Directions by noise shape: evidence against brute force over all members, and claims only where the model holds."""

import numpy as np
import pytest
from scipy.stats import kstest

from golem.directions import by_shape
from golem.directions.by_shape import LARGEST_ERROR_RATE, directions_by_shape
from golem.directions.equivalence_class import components
from golem.graphs.edges import Edges
from golem.simulate import random_dag, random_weights

CHAIN = np.eye(4, k=1, dtype=bool)


def draw(adjacency, n, seed, noise="exponential"):
    """Return rows of a linear model on a graph."""
    rng = np.random.default_rng(seed)
    E = getattr(rng, noise)(size=(n, len(adjacency))) * rng.uniform(1, 2, len(adjacency))
    return E @ np.linalg.inv(np.eye(len(adjacency)) - random_weights(adjacency, rng))


def evidence(adjacency, X, known=()):
    """Return the evidence for the class of a graph."""
    edges = Edges.from_matrix(adjacency)
    given = np.array([(i, j) in known for i, j in zip(edges.causes, edges.children, strict=True)], dtype=bool)
    rank = np.arange(edges.d)
    found = components(edges, edges.find_reversible(), given, rank)
    return directions_by_shape(X, edges, found, rank)


def log_likelihood(member, X):
    """Return n times the sum of the negentropies, by another way than that of the library."""
    total = 0.0
    for j in range(len(member)):
        design = np.column_stack([np.ones(len(X)), X[:, member[:, j]]])
        residual = X[:, j] - design @ np.linalg.lstsq(design, X[:, j])[0]
        u = residual / residual.std()
        total += 79.047 * (np.log(np.cosh(u)).mean() - 0.37457) ** 2 + 7.4129 * (u * np.exp(-u * u / 2)).mean() ** 2
    return len(X) * total


def test_evidence_is_that_of_the_best_members(all_dags, members_of):
    compared = 0
    for seed, adjacency in enumerate(all_dags(4)[5::29]):
        X = draw(adjacency, 200, seed)
        scores = [(log_likelihood(member, X), member) for member in members_of(adjacency)]
        best = max(scores, key=lambda pair: pair[0])[1]
        found = evidence(adjacency, X).evidence
        for i, j in np.argwhere(best):
            others = [score for score, member in scores if member[j, i]]
            if others:
                expected = 2 * (max(score for score, _ in scores) - max(others))
                assert found[i, j].strength == pytest.approx(expected, rel=1e-6)
                compared += 1
        assert len(found) == sum(any(member[j, i] for _, member in scores) for i, j in np.argwhere(best))
    assert compared > 20


def test_known_edges_restrict_the_members(members_of):
    X = draw(CHAIN, 500, 3)
    found = evidence(CHAIN, X, known={(1, 2)})
    scores = [(log_likelihood(member, X), member) for member in members_of(CHAIN) if member[1, 2]]
    best, other = (max(score for score, member in scores if member[0, 1] == way) for way in (True, False))
    assert (1, 2) not in found.evidence
    assert found.evidence[0, 1].strength == pytest.approx(2 * (best - other), rel=1e-6)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_claims_are_right_where_the_model_holds(noise):
    claimed = open_edges = wrong = 0
    for seed in range(12):
        truth = random_dag(10, "ER1", seed)
        found = evidence(truth, draw(truth, 1000, seed, noise))
        claimed, open_edges = claimed + len(found.claimed), open_edges + len(found.evidence)
        wrong += sum(not truth[edge] for edge in found.claimed)
        assert all(found.evidence[edge].error_rate <= LARGEST_ERROR_RATE for edge in found.claimed)
    assert claimed > 0.75 * open_edges
    assert wrong == 0


def test_error_rates_are_uniform_under_gaussian_noise():
    rates, claimed, tree = [], 0, CHAIN[:3, :3]
    for seed in range(150):
        found = evidence(tree, draw(tree, 300, seed, "normal"))
        claimed += len(found.claimed)
        rates.append(min(support.error_rate for support in found.evidence.values()))
    # The smallest rate of a component is a p-value.
    assert kstest(rates, "uniform").pvalue > 0.01
    assert claimed <= 1


@pytest.mark.parametrize("tested", [500, 5])
@pytest.mark.parametrize("effect", [lambda x: np.tanh(2 * x), lambda x: x + 0.3 * x**2])
def test_nothing_is_claimed_where_effects_are_not_linear(effect, tested, monkeypatch):
    monkeypatch.setattr(by_shape, "_MOST_TESTED", tested)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = np.eye(12, k=1, dtype=bool)
        X = rng.normal(size=(1000, 12))
        for j in range(1, 12):
            X[:, j] += 1.5 * effect(X[:, j - 1] / X[:, j - 1].std())
        found = evidence(truth, X)
        assert not found.claimed
        assert "linear model" in found.reason


def test_confounded_pairs_are_not_claimed():
    rng = np.random.default_rng(0)
    pairs = np.zeros((20, 20), dtype=bool)
    pairs[range(0, 20, 2), range(1, 20, 2)] = True
    X = rng.laplace(size=(1000, 20)) + np.repeat(rng.laplace(size=(1000, 10)), 2, axis=1)
    assert not evidence(pairs, X).claimed


def hidden_group(rng, n):
    """Return two columns whose rows belong to one of two groups."""
    group, (x, noise) = rng.random(n) < 0.3, rng.normal(size=(2, n))
    x = x + 2 * group
    return np.column_stack([x, 0.8 * x + noise + 1.5 * group])


def bent_effect(rng, n):
    """Return a normal cause, and a saturated effect."""
    x, noise = rng.normal(size=(2, n))
    return np.column_stack([x, np.tanh(0.8 * x + noise)])


@pytest.mark.parametrize(("draw_pair", "n"), [(hidden_group, 1000), (bent_effect, 300)])
def test_shapes_that_a_model_without_direction_explains_are_not_claimed(draw_pair, n, monkeypatch):
    def found():
        return [evidence(CHAIN[:2, :2], draw_pair(np.random.default_rng(seed), n)) for seed in range(30)]

    with_comparison = found()
    assert sum(len(one.claimed) for one in with_comparison) <= 3
    assert sum("hidden group" in one.reason for one in with_comparison) >= 8
    monkeypatch.setattr(by_shape, "_LEAST_ADVANTAGE", -np.inf)
    assert sum(len(one.claimed) for one in found()) >= 8


def test_unsuitable_rows_give_a_reason():
    X = draw(CHAIN, 500, 0)
    assert "100 complete rows" in evidence(CHAIN, X[:50]).reason
    assert "fewer than 30 distinct values" in evidence(CHAIN, np.round(X / X.std(axis=0))).reason
    assert "one value in more than 10% of the rows" in evidence(CHAIN, np.maximum(X, np.quantile(X, 0.3))).reason
    walk = X + np.cumsum(np.random.default_rng(0).normal(size=(500, 1)), axis=0)
    assert "neighbouring rows depend on each other" in evidence(CHAIN, walk).reason
    assert evidence(CHAIN, X).claimed == evidence(CHAIN, np.vstack([X, np.full((5, 4), np.nan)])).claimed
    assert evidence(CHAIN, np.vstack([X, np.full((5, 4), np.nan)])).rows == 500


def test_row_numbers_and_sorted_rows_are_no_reason_against_shape():
    X = draw(CHAIN, 500, 0)
    claimed = evidence(CHAIN, X).claimed
    assert claimed
    numbered = np.column_stack([X, np.arange(500.0)])
    with_number = np.pad(CHAIN, (0, 1))
    assert evidence(with_number, numbered).claimed == claimed
    assert set(evidence(CHAIN, X[np.argsort(X[:, 0])]).claimed) == set(claimed)
    walk = X + np.cumsum(np.random.default_rng(0).normal(size=(500, 1)), axis=0)
    assert "neighbouring rows" in evidence(with_number, np.column_stack([walk, np.arange(500.0)])).reason
