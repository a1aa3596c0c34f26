"""Rows per edge after EM: against the Hessian of the expected likelihood, closed forms and simulated intervals."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Golem, Knowledge, Moments
from golem.data.missing import Patterns
from golem.output import list_edges
from golem.score.incomplete import edge_rows, family_rows
from golem.score.table_regression import regress_block
from golem.simulate import simulate


def covariance(rng, q):
    A = rng.normal(size=(q, q))
    return A @ A.T + np.eye(q)


def hessian(function, x, step=1e-4):
    """Return the matrix of second derivatives by central differences."""
    moves = np.eye(len(x)) * step
    values = [[[function(x + a * u + b * v) for b in (1, -1)] for a in (1, -1)] for u in moves for v in moves]
    v = np.array(values)
    return ((v[:, 0, 0] - v[:, 0, 1] - v[:, 1, 0] + v[:, 1, 1]) / (4 * step**2)).reshape(len(x), len(x))


def gradient(function, x, step=1e-6):
    return np.array([(function(x + u) - function(x - u)) / (2 * step) for u in np.eye(len(x)) * step])


def test_rows_are_those_of_the_hessian_of_the_expected_likelihood(rng):
    S, q = covariance(rng, 3), 3
    patterns = Patterns(np.array([[1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]], bool), np.arange(20, 120, 20))
    upper = np.triu_indices(q)

    def full(x):
        T = np.zeros((q, q))
        T[upper] = x
        return T + T.T - np.diag(np.diag(T))

    def deviance(x):
        total = 0.0
        for present, count in zip(patterns.present, patterns.counts, strict=True):
            T, own = full(x)[np.ix_(present, present)], S[np.ix_(present, present)]
            total += count / 2 * (np.linalg.slogdet(T)[1] + np.trace(np.linalg.solve(T, own)))
        return total

    def weight(x):
        T = full(x)
        return np.linalg.solve(T[1:, 1:], T[1:, 0])[1]

    def correlation(x):
        K = np.linalg.inv(full(x))
        return -K[0, 2] / np.sqrt(K[0, 0] * K[2, 2])

    variance = np.linalg.inv(hessian(deviance, S[upper]))
    slopes = [gradient(function, S[upper]) for function in (weight, correlation)]
    of_weight, of_correlation = (g @ variance @ g for g in slopes)
    residual = 1 / np.linalg.inv(S)[0, 0]
    found = family_rows(S, patterns)
    assert found.weights[1] == pytest.approx(residual * np.linalg.inv(S[1:, 1:])[1, 1] / of_weight, rel=1e-4)
    assert found.correlations[1] == pytest.approx((1 - correlation(S[upper]) ** 2) ** 2 / of_correlation, rel=1e-4)


def test_complete_rows_count_fully_and_rows_without_the_child_not_at_all(rng):
    S, k = covariance(rng, 4), 3
    complete, without = np.ones(4, dtype=bool), np.array([False, True, True, True])
    patterns = Patterns(np.array([complete, without]), np.array([70, 330]))
    np.testing.assert_allclose(family_rows(S, patterns).weights, np.full(k, 70.0))  # Anderson (1957)
    np.testing.assert_allclose(family_rows(S, Patterns(complete[None], np.array([70]))), 70.0)
    # A parent that is rarely known makes all weights of the family uncertain, the others less so.
    patterns = Patterns(np.array([complete, [True, False, True, True]]), np.array([70, 330]))
    rows = family_rows(S, patterns).correlations
    assert (rows + 1e-9 >= 70).all()
    assert (rows < 400).all()


def test_rows_do_not_depend_on_units_nor_on_the_order_of_columns(rng):
    X = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 5))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[rng.random(300) < 0.7, 2] = np.nan
    children, causes = np.array([1, 1, 3]), np.array([0, 2, 2])
    one = Moments.from_rows(X, missing="em")
    # The index i of a column in X becomes the position of i in `order`.
    order = np.array([4, 2, 0, 3, 1])
    place = np.argsort(order)
    other = one.selected([one.names[j] for j in order])
    scale = 10.0 ** np.arange(-2, 3)
    expected = edge_rows(children, causes, one.covariance, one.patterns)
    moved = edge_rows(place[children], place[causes], other.covariance * np.outer(scale, scale), other.patterns)
    np.testing.assert_allclose(moved, expected, rtol=1e-6)


def test_blocks_have_the_errors_of_single_columns(rng):
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
    X[rng.random(300) < 0.7, 3] = np.nan
    moments = Moments.from_rows(X, missing="em")
    S, parents = moments.covariance, np.array([2, 3])
    both = regress_block(S, moments.n, np.array([0, 1]), parents, moments.patterns)
    rows = edge_rows(np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3]), S, moments.patterns).weights.reshape(2, 2).T
    inverse = np.linalg.inv(S[2:, 2:])
    expected = np.sqrt(np.outer(np.diagonal(inverse), np.diagonal(both.residual)) / (rows - 3))
    np.testing.assert_allclose(both.standard_errors, expected)


@pytest.mark.filterwarnings("ignore::golem.data.checks.DataWarning")
@pytest.mark.parametrize("d", [6, 12])
def test_intervals_cover_the_weights_of_a_column_with_few_values(d):
    covered = []
    for seed in range(40):
        drawn = simulate(d, 400, "ER2", "gaussian-nv", weight_scale=0.4, random_state=seed)
        X, truth = drawn.data, drawn.sem.weights
        scarce = seed % d
        X[np.random.default_rng(seed).random(400) < 0.85, scarce] = np.nan
        moments = Moments.from_rows(X, missing="em")
        knowledge = Knowledge(forbidden=truth == 0, required=truth != 0)
        for edge in list_edges(Golem("nv", knowledge=knowledge).fit(moments)):
            i, j = moments.names.index(edge.source), moments.names.index(edge.target)
            if scarce in (i, j):
                covered.append(abs(edge.weight - truth[i, j]) < 1.96 * edge.standard_error)
    assert len(covered) > 100
    assert 0.9 <= np.mean(covered) <= 0.99
