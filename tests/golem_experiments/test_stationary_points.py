"""Stationary points of the bivariate scores, against the paper's closed forms and plain search."""

import numpy as np
import pytest
from scipy.optimize import minimize

from golem.score.likelihood import GaussianEV, GaussianNV, LeastSquares
from golem_experiments.stationary_points import TOLERANCE, PlaneScore, indices, stationary_points


def covariance(b0, ratio=1.0):
    return np.array([[1.0, b0], [b0, b0**2 + ratio]])


def places(points):
    return [(p.b, p.c) for p in points]


@pytest.mark.parametrize("b0", [1.5, -0.7, 2.4])
def test_the_likelihood_has_the_three_points_of_appendix_e(b0):
    points = stationary_points(PlaneScore(covariance(b0), GaussianEV()))
    expected = [(b0, 0.0), ((b0**2 + 2) / b0, 2 / b0), (-2 / b0, 2 / b0)]
    np.testing.assert_allclose(places(points), expected, atol=1e-8)
    assert [p.kind for p in points] == ["minimum", "minimum", "saddle"]
    np.testing.assert_allclose([p.value for p in points], [np.log(2), np.log(2), np.log(b0**2 + 2)], atol=1e-12)
    assert max(p.residual for p in points) <= TOLERANCE


@pytest.mark.parametrize("b0", [1.5, -0.7])
def test_least_squares_has_a_cyclic_minimum_and_the_right_dag_under_the_constraint(b0):
    (free,) = stationary_points(PlaneScore(covariance(b0), LeastSquares()))
    np.testing.assert_allclose((free.b, free.c), (b0, b0 / (b0**2 + 1)), atol=1e-10)
    assert free.is_cyclic
    best, other = stationary_points(PlaneScore(covariance(b0), LeastSquares(), hard=True))
    np.testing.assert_allclose((best.b, best.c, best.value), (b0, 0, 1), atol=1e-10)
    np.testing.assert_allclose((other.b, other.c), (0, b0 / (b0**2 + 1)), atol=1e-10)
    assert not best.is_cyclic
    assert best.value < other.value


def test_a_small_l1_penalty_keeps_the_dag_and_shrinks_its_weight():
    shrunk = []
    for lambda_l1 in (0.04, 0.02, 0.01):
        best = stationary_points(PlaneScore(covariance(1.5), GaussianEV(), lambda_l1))[0]
        assert best.c == 0
        assert best.kind == "minimum"
        # 2 delta / (delta^2 + 2) = lambda, with delta = b0 - b.
        delta = (1 - np.sqrt(1 - 2 * lambda_l1**2)) / lambda_l1
        assert 1.5 - best.b == pytest.approx(delta, abs=1e-9)
        shrunk.append(1.5 - best.b)
    assert shrunk == sorted(shrunk, reverse=True)


@pytest.mark.parametrize("ratio", [0.25, 1.0, 4.0])
@pytest.mark.parametrize(("lambda_l1", "lambda_dag"), [(0.02, 0.0), (0.0, 5.0)])
@pytest.mark.parametrize("likelihood", [GaussianEV(), GaussianNV()], ids=["ev", "nv"])
def test_no_stationary_point_is_missing(ratio, lambda_l1, lambda_dag, likelihood):
    score = PlaneScore(covariance(1.5, ratio), likelihood, lambda_l1, lambda_dag)
    assert indices(stationary_points(score)) == (1, 1, 1)


def test_plain_search_finds_nothing_lower(rng):
    for score in (
        PlaneScore(covariance(1.5, 4.0), GaussianEV(), 0.02),
        PlaneScore(covariance(0.8), LeastSquares(), 0.1, 5),
    ):
        best = stationary_points(score)[0].value
        ends = [
            minimize(lambda p, s=score: float(s.value(p)), start, method="Nelder-Mead").fun
            for start in rng.uniform(-4, 4, (20, 2))
        ]
        assert min(ends) == pytest.approx(best, abs=1e-6)
        assert min(ends) >= best - 1e-10


def test_free_variances_leave_a_curve_of_minima():
    points = stationary_points(PlaneScore(covariance(1.5), GaussianNV()), starts=12)
    assert len(points) > 10
    assert {p.kind for p in points} == {"degenerate"}
    np.testing.assert_allclose([p.value for p in points], 0, atol=1e-10)
