"""DirectLiNGAM: against lingam's answers, the measure, invariances, knowledge, Gaussian noise, bad input."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from golem import DataWarning, Knowledge, Moments
from golem.baselines.direct_lingam import DirectLiNGAM
from golem.baselines.pairwise_measure import entropy, most_exogenous
from golem.graphs.dag import cpdag, is_dag
from golem.simulate import simulate

ORACLE = Path(__file__).parents[1] / "oracles" / "direct_lingam.npz"


@parametrize_with_checks([DirectLiNGAM(), DirectLiNGAM(threshold=0.1)])
def test_scikit_learn_rules(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        check(estimator)


@pytest.fixture(scope="module")
def drawn():
    return simulate(8, 1000, "ER1", "exponential", random_state=3)


@pytest.fixture
def no_data_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield


def test_order_and_weights_are_those_of_lingam(no_data_warnings):
    with np.load(ORACLE, allow_pickle=False) as stored:
        problems = sum(name.startswith("data_") for name in stored.files)
        assert problems == 18
        for k in range(problems):
            model = DirectLiNGAM().fit(stored[f"data_{k}"].astype(float))
            np.testing.assert_array_equal(model.order_, stored[f"order_{k}"])
            np.testing.assert_allclose(model.weights_, stored[f"weights_{k}"], atol=1e-9)


def test_the_entropy_of_a_residual(rng):
    x, y = rng.exponential(size=(2, 5000)) - 1
    u = (x - 0.3 * y) / 1.1
    log_cosh, odd = np.mean(np.log(np.cosh(u))), np.mean(u * np.exp(-(u**2) / 2))
    expected = (1 + np.log(2 * np.pi)) / 2 - 79.047 * (log_cosh - 0.37457) ** 2 - 7.4129 * odd**2
    assert entropy(x, y, 0.3, 1.1) == pytest.approx(expected, rel=1e-12)
    # Gaussian noise has the largest entropy of its variance, to the constants' five digits.
    gaussian = rng.standard_normal(100_000)
    assert entropy(gaussian, gaussian, 0.0, 1.0) == pytest.approx((1 + np.log(2 * np.pi)) / 2, abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_looking_at_few_pairs_finds_what_all_pairs_show(seed):
    rng = np.random.default_rng(seed)
    Z = np.ascontiguousarray(simulate(7, 300, "ER2", "gumbel", random_state=seed).data.T)
    Z = (Z - Z.mean(axis=1, keepdims=True)) / Z.std(axis=1, keepdims=True)
    R = Z @ Z.T / Z.shape[1]
    sums = np.zeros(7)
    for i in range(7):
        for j in set(range(7)) - {i}:
            scale = np.sqrt(1 - R[i, j] ** 2)
            gain = entropy(Z[j], Z[j], 0, 1) + entropy(Z[i], Z[j], R[i, j], scale)
            gain -= entropy(Z[i], Z[i], 0, 1) + entropy(Z[j], Z[i], R[i, j], scale)
            sums[i] += min(0, gain) ** 2
    candidates = rng.permutation(7) < 4
    assert most_exogenous(Z, R, np.ones(7, dtype=bool)) == np.argmin(sums)
    assert most_exogenous(Z, R, candidates) == np.argmin(np.where(candidates, sums, np.inf))


def test_the_graph_is_found_and_the_attributes_hang_together(drawn):
    model = DirectLiNGAM().fit(drawn.data)
    np.testing.assert_array_equal(model.adjacency_, drawn.sem.adjacency)
    np.testing.assert_array_equal(model.cpdag_, cpdag(model.adjacency_))
    np.testing.assert_array_equal(model.sem_.weights, model.weights_)
    np.testing.assert_allclose(model.weights_, drawn.sem.weights, atol=0.15)
    assert np.all(model.normality_ < 0.01)
    assert sorted(model.order_) == list(range(8))


def test_units_and_means_change_no_edge(drawn, rng):
    model = DirectLiNGAM().fit(drawn.data)
    scale = np.exp(rng.normal(size=8))
    other = DirectLiNGAM().fit(drawn.data * scale + 100)
    np.testing.assert_array_equal(other.order_, model.order_)
    np.testing.assert_allclose(other.weights_ * scale[:, None] / scale, model.weights_, atol=1e-8)


def test_a_threshold_keeps_large_weights_of_full_regressions(drawn):
    model = DirectLiNGAM(threshold=0.3).fit(drawn.data)
    last = model.order_[-1]
    full = np.linalg.lstsq(
        np.delete(drawn.data - drawn.data.mean(axis=0), last, axis=1),
        drawn.data[:, last] - drawn.data[:, last].mean(),
        rcond=None,
    )[0]
    full = np.insert(full, last, 0)
    np.testing.assert_allclose(model.weights_[:, last], np.where(np.abs(full) >= 0.3, full, 0), atol=1e-9)


def test_knowledge_moves_the_order_and_the_edges(drawn):
    truth = drawn.sem.adjacency
    i, j = np.argwhere(truth)[0]
    turned = Knowledge.of(8, required=[(j, i)])
    model = DirectLiNGAM(knowledge=turned).fit(drawn.data)
    order = model.order_.tolist()
    assert order.index(j) < order.index(i)
    assert model.adjacency_[j, i]
    assert is_dag(model.adjacency_)
    tiers = [[7, 6, 5], [4, 3], [0, 1, 2]]
    model = DirectLiNGAM(knowledge=Knowledge.of(8, tiers=tiers)).fit(drawn.data)
    assert [set(part) for part in np.split(model.order_, [3, 5])] == [set(tier) for tier in tiers]
    assert not (model.adjacency_ & Knowledge.of(8, tiers=tiers).forbidden).any()


def test_gaussian_noise_is_reported():
    X = simulate(5, 1000, "ER1", "gaussian-ev", random_state=2).data
    with pytest.warns(DataWarning, match=r"noise of 5 of 5 columns looks Gaussian .*not identified") as caught:
        model = DirectLiNGAM().fit(X)
    assert caught[0].filename == __file__
    assert model.normality_.min() > 0.01


def test_few_rows_cannot_show_the_shape(drawn):
    with pytest.warns(DataWarning, match="n = 15 rows cannot show that the noise is not Gaussian"):
        DirectLiNGAM().fit(drawn.data[:15])


def test_bad_input_is_refused(drawn):
    with pytest.raises(ValueError, match="DirectLiNGAM needs the rows"):
        DirectLiNGAM().fit(Moments.from_rows(drawn.data))
    with (
        pytest.warns(DataWarning, match="n = 8 rows for d = 8"),
        pytest.raises(ValueError, match=r"n = 8 rows are too few with d = 8 columns: at least d \+ 2"),
    ):
        DirectLiNGAM().fit(drawn.data[:8])
    with pytest.raises(ValueError, match="threshold must be at least 0"):
        DirectLiNGAM(threshold=-1).fit(drawn.data)
    copied = np.column_stack([drawn.data, 2 * drawn.data[:, 0]])
    with pytest.raises(ValueError, match="copies of each other"):
        DirectLiNGAM().fit(copied)
