"""Oracles for local scores: residual blocks, contingency tables, the score of the fast search."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln
from scipy.stats import chi2

from golem.score.node_scores import Counts, gaussian_blocks, node_penalty
from golem.score.regression import residual_variance
from golem.score.sparsity import L0
from golem.search.exact_order import Subsets
from golem.simulate import simulate


def random_codes(n, levels, seed):
    """Draw categories, each of which depends on the one before it."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, k, n) for k in levels], axis=1)
    for j in range(1, len(levels)):
        copied = rng.random(n) < 0.6
        codes[copied, j] = codes[copied, j - 1] % levels[j]
    return codes, np.array(levels)


def two_environments(p=6, seed=0):
    rng = np.random.default_rng(seed)
    rows = [simulate(p, n, "ER2", "gaussian-nv", random_state=seed + k).data for k, n in enumerate((200, 90))]
    return [np.cov((x * rng.uniform(0.1, 10, p)).T, bias=True) for x in rows], np.array([200.0, 90.0])


def test_gaussian_cost_is_that_of_the_residual_blocks():
    matrices, rows = two_environments()
    first, terms = [0, 1, 3, 6], [(0,), (0, 1), (1,)]
    score = gaussian_blocks(matrices, rows, first=first, terms=terms, sparsity=L0("bic"))
    for j, parents in [(0, []), (0, [1, 2]), (1, [0]), (1, [0, 2]), (2, [1])]:
        J = list(range(first[j], first[j + 1]))
        P = [c for i in parents for c in range(first[i], first[i + 1])]
        expected = 0.0
        for t in terms[j]:
            S = matrices[t]
            rest = S[np.ix_(J, J)] - S[np.ix_(J, P)] @ np.linalg.pinv(S[np.ix_(P, P)]) @ S[np.ix_(P, J)]
            expected += rows[t] * np.log(np.linalg.det(rest)) + np.log(rows[t]) * len(J) * len(P)
        assert score.cost(j, parents) == pytest.approx(expected, abs=1e-4)


def test_single_columns_have_the_score_of_the_fast_search():
    (S, _), (n, _) = two_environments()
    for criterion in ("mbic", "ebic", "bic", 0.03):
        penalties = L0(criterion).penalties(200, 6)
        score = gaussian_blocks([S], [n], sparsity=L0(criterion))
        for parents in ([], [4], [0, 3, 5]):
            expected = n * np.log(residual_variance(S, 1, np.array(parents, dtype=int))) + penalties[len(parents)]
            assert score.cost(1, parents) == pytest.approx(expected, abs=1e-4)


def test_the_penalty_counts_the_coefficients_of_every_term():
    penalty = node_penalty(L0("ebic", 0.5), [[100.0], [50.0, 20.0], [100.0]])
    np.testing.assert_allclose(penalty.per_coefficient, np.log([100, 1000, 100]))
    np.testing.assert_allclose(penalty.by_parents, [0, np.log(2), 0], atol=1e-12)
    np.testing.assert_allclose(node_penalty(L0(0.5), [[100.0], [50.0, 20.0]]).per_coefficient, [100, 70])


@pytest.mark.parametrize("size", [1.0, 7.5])
def test_bdeu_is_the_dirichlet_marginal_likelihood_with_a_penalty_for_the_choice_of_parents(size):
    codes, levels = random_codes(150, [2, 3, 2, 4], seed=1)
    table, score = pd.DataFrame(codes), Counts(codes, levels, "bdeu", size)
    for j, parents in [(0, []), (3, [1]), (1, [0, 2, 3])]:
        by = [table[i] for i in parents] or [pd.Series(0, table.index)]
        counts = pd.crosstab(by, table[j]).reindex(columns=range(levels[j]), fill_value=0).to_numpy()
        q, r = np.prod(levels[parents], dtype=float), levels[j]
        value = (gammaln(size / q) - gammaln(counts.sum(axis=1) + size / q)).sum()
        value += (gammaln(counts + size / (q * r)) - gammaln(size / (q * r))).sum()
        assert score.cost(j, parents) == pytest.approx(-2 * value + 2 * np.log(4) * len(parents))
        for criterion, more in [("bic", 0.0), (0.1, 30.0 * q * (r - 1))]:
            other = Counts(codes, levels, "bdeu", size, sparsity=L0(criterion))
            assert other.cost(j, parents) == pytest.approx(-2 * value + more)


def test_discrete_bic_is_the_likelihood_of_the_conditional_frequencies():
    codes, levels = random_codes(150, [2, 3, 2, 4], seed=2)
    table, log_n = pd.DataFrame(codes), np.log(150)
    for j, parents in [(2, []), (3, [1]), (1, [0, 2, 3])]:
        by = [table[i] for i in parents] or [pd.Series(0, table.index)]
        counts = pd.crosstab(by, table[j]).to_numpy()
        share = counts / counts.sum(axis=1, keepdims=True)
        logs = np.log(share, where=share > 0, out=np.zeros(share.shape))
        parameters = (levels[j] - 1) * np.prod(levels[parents], dtype=float)
        of_edges = (levels[j] - 1) * (levels[parents] - 1)
        quantiles = chi2.isf(0.05 / 6, of_edges)  # of 6 pairs
        choices = np.log([1, 3, 3, 1])  # of so many sets of 0, 1, 2, 3 parents
        for criterion, penalty in {
            "bic": log_n * parameters,
            "mbic": log_n * parameters + np.maximum(quantiles - log_n * of_edges, 0).sum(),
            "ebic": log_n * parameters + 2 * choices[len(parents)],
            0.03: 2 * 150 * 0.03 * parameters,
        }.items():
            score = Counts(codes, levels, "bic", sparsity=L0(criterion))
            assert score.cost(j, parents) == pytest.approx(-2 * (counts * logs).sum() + penalty)


CODES = random_codes(40, [2, 3, 5, 4], seed=3)
TERMS = [(0,), (1,), (0, 1), (0,)]
SCORES = {
    "gaussian": gaussian_blocks(*two_environments(), first=[0, 1, 2, 4, 6], terms=TERMS, sparsity=L0("ebic")),
    "bdeu": Counts(*CODES, "bdeu", 2.0),
    "bic": Counts(*CODES, "bic"),
    "ebic": Counts(*CODES, "bic", sparsity=L0("ebic")),
}


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
def test_the_table_has_the_cost_of_every_node_and_set(score):
    subsets = Subsets(4)
    table = score.cost_table(subsets.members)
    for number, j in itertools.product(range(16), range(4)):
        if not number >> j & 1:
            parents = [i for i in range(4) if number >> i & 1]
            assert table[number, j] == pytest.approx(score.cost(j, parents), abs=1e-6)


def test_equivalent_graphs_have_equal_scores():
    gaussian = gaussian_blocks(*two_environments(), first=[0, 1, 3, 6], sparsity=L0("bic"))
    numbers = [Counts(*CODES, kind, sparsity=L0(0.02)) for kind in ("bic", "bdeu")]
    for score in (gaussian, SCORES["bdeu"], SCORES["bic"], *numbers):
        forward = score.cost(0, []) + score.cost(1, [0]) + score.cost(2, [0, 1])
        assert forward == pytest.approx(score.cost(2, []) + score.cost(1, [2]) + score.cost(0, [1, 2]))


def test_a_determined_category_has_a_finite_cost():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 500), rng.normal(size=500)
    columns = np.stack([b + a, a == 1, a == 2, a > 0, b], axis=1).astype(float)
    score = gaussian_blocks([np.cov(columns.T, bias=True)], [500], first=[0, 1, 3, 4, 5])
    assert np.isfinite(score.cost(2, [1]))
    assert score.cost(2, [1]) < score.cost(2, []) - 5000
    # A redundant parent does not help.
    assert score.cost(0, [1, 2, 3]) == pytest.approx(score.cost(0, [1, 3]) + np.log(500) + 2 * np.log(4), abs=1e-4)


def test_columns_that_are_constant_cost_nothing_and_explain_nothing():
    S = np.array([[1.0, 0.0, 0.5], [0.0, 0.0, 0.0], [0.5, 0.0, 1.0]])
    score = gaussian_blocks([S], [100], sparsity=L0(0.0))
    assert score.cost(1, [0, 2]) == pytest.approx(0.0, abs=1e-6)
    assert score.cost(2, [0, 1]) == pytest.approx(100 * np.log(0.75), abs=1e-6)


@pytest.mark.parametrize("empty", [1, 3])
def test_a_node_without_columns_costs_nothing_and_explains_nothing(empty):
    """A category has no columns in a half of the rows in which it has one level; it may be the last node."""
    X = simulate(3, 100, "ER2", random_state=1).data
    S, first = np.cov(X.T), np.insert(np.arange(4), empty, min(empty, 3))
    with_empty = gaussian_blocks([S], [100], first=first, sparsity=L0("bic"))
    without = gaussian_blocks([S], [100], sparsity=L0("bic"))
    others = np.delete(np.arange(4), empty)
    members = Subsets(4).members
    table = with_empty.cost_table(members)
    np.testing.assert_array_equal(table[:, empty], 0.0)
    for k, parents in enumerate(members):
        for j in np.flatnonzero(~parents[others]):
            expected = without.cost(j, np.flatnonzero(parents[others]))
            assert table[k, others[j]] == pytest.approx(expected)
            assert with_empty.cost(others[j], np.flatnonzero(parents)) == pytest.approx(expected)
