"""Models without a direction: fits against independent likelihoods, and a comparison that tells them from noises."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from golem.directions import undirected_models
from golem.directions.undirected_models import advantages


def uncorrelated(x, y):
    """Return both standardized, the second without its regression on the first, and the slope in its units."""
    x = (x - x.mean()) / x.std()
    slope = x @ y / len(x)
    noise = y - y.mean() - slope * x
    return x, noise / noise.std(), slope / noise.std()


def linear_pair(rng, n, draw):
    """Return the noises and the slope of y = 0.8 x + noise."""
    x = draw(rng, n)
    return uncorrelated(x, 0.8 * x + draw(rng, n))


def heavy_pair(rng, n):
    """Return a pair of the multivariate t distribution."""
    x, noise = rng.normal(size=(2, n)) * np.sqrt(5 / rng.chisquare(5, n))
    return uncorrelated(x, 0.8 * x + noise)


@pytest.mark.parametrize("shape", ["exponential", "laplace", "uniform", "logistic"])
def test_the_mixture_of_a_column_is_that_of_scikit_learn(shape):
    column = getattr(np.random.default_rng(0), shape)(size=1000)
    found = undirected_models._mixture_gains(column[None, None])[0]
    models = [GaussianMixture(k, n_init=5, tol=1e-7, max_iter=5000, random_state=0) for k in (1, 2)]
    scores = [model.fit(column[:, None]).score(column[:, None]) for model in models]
    assert found == pytest.approx(1000 * (scores[1] - scores[0]), abs=1.5)


@pytest.mark.parametrize(("shift", "ratio", "weight"), [((3, 1), 1, 0.3), ((-1, 2.5), 1, 0.6), ((0, 0), 9, 0.2)])
def test_the_mixture_of_two_columns_fits_as_well_as_the_true_one(shift, ratio, weight):
    rng = np.random.default_rng(1)
    C = np.array([[1.0, 0.5], [0.5, 2.0]])
    groups = rng.random(1000) < weight
    Z = rng.multivariate_normal([0, 0], C, size=1000) * np.where(groups, np.sqrt(ratio), 1)[:, None]
    Z += np.outer(groups, shift)
    normals = multivariate_normal([0, 0], C), multivariate_normal(shift, ratio * C)
    true = np.log((1 - weight) * normals[0].pdf(Z) + weight * normals[1].pdf(Z)).sum()
    one = multivariate_normal(Z.mean(axis=0), np.cov(Z.T, bias=True)).logpdf(Z).sum()
    gain = undirected_models._mixture_gains(Z.T[None])[0]
    # Twice the log-likelihood that nine parameters gain on the true ones is about chi squared.
    assert true - one - 0.5 < gain < true - one + 15


def test_bent_normal_columns_regain_their_correlation():
    x, z = np.random.default_rng(2).normal(size=(2, 1000))
    y = x + z
    gain = undirected_models._bent_gains(np.exp(x)[None], np.tanh(y)[None])[0]
    straight = np.corrcoef(np.exp(x), np.tanh(y))[0, 1]
    assert gain == pytest.approx(500 * (np.log(1 - straight**2) - np.log(1 - np.corrcoef(x, y)[0, 1] ** 2)), rel=0.05)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.exponential(size=n),
        lambda rng, n: rng.uniform(size=n),
        lambda rng, n: rng.laplace(size=n),
        lambda rng, n: rng.standard_t(5, size=n),
    ],
)
def test_independent_noises_exceed_models_without_a_direction(draw):
    found = advantages(linear_pair(np.random.default_rng(seed), 500, draw) for seed in range(40))
    assert (found >= 1).mean() >= 0.9


def test_shared_heavy_tails_are_not_independent_noises():
    found = advantages(heavy_pair(np.random.default_rng(seed), 1000) for seed in range(40))
    assert (found >= 1).mean() <= 0.1


def test_neither_the_order_of_rows_nor_the_sign_matters_and_large_tables_are_thinned():
    rng = np.random.default_rng(3)
    cause, noise, slope = linear_pair(rng, 2500, lambda rng, n: rng.gumbel(size=n))
    rows = rng.permutation(2500)
    found = advantages([(cause, noise, slope), (cause[rows], noise[rows], slope), (cause, -noise, -slope)])
    assert found[1] == pytest.approx(found[0], rel=1e-9)
    assert found[2] == pytest.approx(found[0], rel=0.01)  # EM has not quite converged
    few = advantages([linear_pair(rng, 833, lambda rng, n: rng.gumbel(size=n))])[0]
    assert 0.5 < found[0] / few < 2
    assert len(advantages([])) == 0
