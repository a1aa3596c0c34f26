"""LinearSEM against sampling and scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from golem import LinearSEM, Moments
from golem.simulate import random_sem


@pytest.mark.parametrize("noise", ["gaussian-ev", "gaussian-nv", "exponential", "gumbel"])
def test_samples_have_the_implied_moments(noise):
    sem = random_sem(5, "ER1", noise, weight_scale=0.5, random_state=2)
    X = sem.sample(200_000, random_state=0)
    scale = np.sqrt(np.diagonal(sem.covariance))
    assert np.abs((X.mean(axis=0) - sem.mean) / scale).max() < 0.02
    assert np.abs((np.cov(X.T) - sem.covariance) / np.outer(scale, scale)).max() < 0.03


def test_precision_is_the_inverse_of_the_covariance():
    sem = random_sem(6, "ER2", "gaussian-nv", random_state=1)
    np.testing.assert_allclose(sem.precision @ sem.covariance, np.eye(6), atol=1e-8)


def test_log_likelihood_is_that_of_the_multivariate_normal():
    sem = random_sem(4, "ER1", "exponential", random_state=3)
    X = sem.sample(50, random_state=0)
    expected = stats.multivariate_normal(sem.mean, sem.covariance).logpdf(X).sum()
    assert sem.log_likelihood(X) == pytest.approx(expected)
    assert sem.log_likelihood(Moments.from_rows(X)) == pytest.approx(expected)
    k = int(sem.adjacency.sum()) + 4 + 4
    assert sem.bic(X) == pytest.approx(-2 * expected + k * np.log(50))
    assert sem.bic(X, equal_variances=True) == pytest.approx(-2 * expected + (k - 3) * np.log(50))


def test_the_callers_arrays_are_copied():
    B = np.array([[0, 1.0], [0, 0]])
    sem = LinearSEM(B, [1, 1])
    B[1, 0] = 5
    assert sem.weights[1, 0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1], [1, 0]], [1, 1]), "cycle"),
        (([[0, 1], [0, 0]], [1, 0]), "positive"),
        (([[0, 1], [0, 0]], [1, 1, 1]), "2 noise variances"),
        (([[0, 1], [0, 0]], [1, 1], [0.0]), "intercepts"),
        (([[0, np.inf], [0, 0]], [1, 1]), "finite"),
        (([[0, 1], [0, 0]], [1, 1], None, ["a", "a"]), "unique"),
        (([[0, 1], [0, 0]], [1, 1], None, None, "cauchy"), "noise must be"),
    ],
)
def test_a_model_that_is_none_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        LinearSEM(*arguments)
