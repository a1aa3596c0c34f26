"""The terms of the score: gradients by finite differences and autograd, values on DAGs, stacks, domains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem.graphs.dag import is_dag
from golem.score.acyclicity import Expm, LogDet, Polynomial
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, LeastSquares
from golem.score.regression import residual_variances
from golem.score.sparsity import L1
from golem.simulate import random_dag, random_weights

LIKELIHOODS = [GaussianEV(), GaussianNV(), GaussianTied(50), GaussianTied(50, tau=0.3, centre=1.0), LeastSquares()]
ACYCLICITIES = [Expm(), Polynomial(), LogDet(s=2.0)]


def random_point(rng, d=6, scale=0.4):
    B = rng.normal(size=(d, d)) * scale
    np.fill_diagonal(B, 0)
    X = rng.normal(size=(3 * d, d)) @ rng.normal(size=(d, d))
    return B, X.T @ X / len(X)


def value_functions(B, S):
    """Every term as a function of B alone."""
    for term in LIKELIHOODS:
        yield term, lambda C, term=term: term.value_and_grad(C, S)
    for term in [*ACYCLICITIES, L1()]:
        yield term, term.value_and_grad


def finite_differences(value, B, step=1e-6):
    grad = np.zeros_like(B)
    for index in np.ndindex(B.shape):
        up, down = B.copy(), B.copy()
        up[index] += step
        down[index] -= step
        grad[index] = (value(up)[0] - value(down)[0]) / (2 * step)
    return grad


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_finite_differences(seed):
    B, S = random_point(np.random.default_rng(seed), scale=0.2)
    for term, value in value_functions(B, S):
        where = B != 0 if isinstance(term, L1) else np.ones_like(B, dtype=bool)  # |B| has a kink at 0
        expected = finite_differences(value, B)
        np.testing.assert_allclose(value(B)[1][where], expected[where], rtol=1e-5, atol=1e-6, err_msg=repr(term))


@pytest.mark.torch
@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_autograds(seed):
    torch = pytest.importorskip("torch")
    B, S = random_point(np.random.default_rng(seed), scale=0.2)
    d = len(B)
    C, T, eye = torch.tensor(B, requires_grad=True), torch.asarray(S), torch.eye(d, dtype=torch.float64)
    M = eye - C
    residual = torch.diagonal(M.T @ T @ M)
    nv = torch.log(residual).sum() / 2 - torch.linalg.slogdet(M)[1]

    def tied(r, mu, v):
        return ((r.log() - mu) ** 2 / v + v.log()).sum() / 100

    expected = {
        GaussianEV(): d / 2 * torch.log(residual.sum()) - torch.linalg.slogdet(M)[1],
        GaussianNV(): nv,
        GaussianTied(50): tied(residual, residual.log().mean(), residual.log().var(correction=0)) + nv,
        GaussianTied(50, 0.3, 1.0): tied(residual, 1.0, torch.tensor(0.3**2 + 2 / 50, dtype=torch.float64)) + nv,
        LeastSquares(): residual.sum() / 2,
        Expm(): torch.trace(torch.matrix_exp(C * C)) - d,
        Polynomial(): torch.trace(torch.matrix_power(eye + C * C / d, d)) - d,
        LogDet(s=2.0): d * np.log(2.0) - torch.linalg.slogdet(2 * eye - C * C)[1],
        L1(): C.abs().sum(),
    }
    for term, value in value_functions(B, S):
        ours, grad = value(B)
        np.testing.assert_allclose(ours, expected[term].item(), rtol=1e-12, atol=1e-12)
        (theirs,) = torch.autograd.grad(expected[term], C, retain_graph=True)
        np.testing.assert_allclose(grad, theirs.numpy(), rtol=1e-9, atol=1e-10, err_msg=repr(term))


def test_a_stack_is_solved_problem_by_problem(rng):
    points = [random_point(rng, scale=0.2) for _ in range(6)]
    B, S = (np.stack(part).reshape(2, 3, 6, 6) for part in zip(*points, strict=True))
    for term in LIKELIHOODS:
        value, grad = term.value_and_grad(B, S)
        r = np.abs(B[..., 0, :]) + 0.1
        variances = term.noise_variances(r)
        assert value.shape == (2, 3)
        for index in np.ndindex(2, 3):
            one, one_grad = term.value_and_grad(B[index], S[index])
            np.testing.assert_allclose(value[index], one)
            np.testing.assert_allclose(grad[index], one_grad, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(variances[index], term.noise_variances(r[index]))
    for penalty in [*ACYCLICITIES, L1()]:
        value, grad = penalty.value_and_grad(B)
        for index in np.ndindex(2, 3):
            one, one_grad = penalty.value_and_grad(B[index])
            np.testing.assert_allclose(value[index], one, rtol=1e-10)
            np.testing.assert_allclose(grad[index], one_grad, rtol=1e-9, atol=1e-12)


@pytest.mark.torch
def test_torch_tensors_give_the_same_numbers(rng):
    torch = pytest.importorskip("torch")
    B, S = random_point(rng, scale=0.2)
    C, T = torch.asarray(B), torch.asarray(S)
    pairs = [(term.value_and_grad(B, S), term.value_and_grad(C, T)) for term in LIKELIHOODS]
    pairs += [(term.value_and_grad(B), term.value_and_grad(C)) for term in [*ACYCLICITIES, L1()]]
    for (value, grad), (other, other_grad) in pairs:
        np.testing.assert_allclose(other.numpy(), value, rtol=1e-12)
        np.testing.assert_allclose(other_grad.numpy(), grad, rtol=1e-9, atol=1e-12)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 1.5))
def test_h_vanishes_exactly_on_dags(seed, closing):
    B = random_weights(random_dag(7, "ER2", seed), seed, scale=0.3)
    for term in ACYCLICITIES:
        assert abs(term.value_and_grad(B)[0]) < 1e-12
    edges = np.argwhere(B)
    if len(edges):
        i, j = edges[0]
        B[j, i] = closing  # a cycle of length two
        assert not is_dag(B)
        for term in ACYCLICITIES:
            assert term.value_and_grad(B)[0] > 1e-6


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_logdet_of_a_dag_is_zero(seed):
    """Lemma 1 of the paper: on DAGs the likelihood is that of the regressions alone."""
    B = random_weights(random_dag(8, "ER2", seed), seed)
    S = np.eye(8)
    M = np.eye(8) - B
    residuals = np.sum(M * (S @ M), axis=0)
    np.testing.assert_allclose(GaussianNV().value_and_grad(B, S)[0], np.log(residuals).sum() / 2, atol=1e-10)
    np.testing.assert_allclose(GaussianEV().value_and_grad(B, S)[0], 4 * np.log(residuals.sum()), atol=1e-10)


def test_nv_likelihood_is_blind_to_units_and_ev_is_not(rng):
    B, S = random_point(rng)
    scale = np.exp(rng.normal(size=6))
    rescaled_B, rescaled_S = B / scale[:, None] * scale, S * np.outer(scale, scale)
    shift = np.log(scale).sum()
    nv, ev = GaussianNV(), GaussianEV()
    np.testing.assert_allclose(nv.value_and_grad(rescaled_B, rescaled_S)[0], nv.value_and_grad(B, S)[0] + shift)
    assert abs(ev.value_and_grad(rescaled_B, rescaled_S)[0] - ev.value_and_grad(B, S)[0] - shift) > 1e-3


def test_logdet_outside_its_domain_is_infinite():
    cycle = np.array([[0.0, 1.2], [1.2, 0.0]])  # spectral radius of B*B is 1.44
    value, grad = LogDet(s=1.0).value_and_grad(cycle)
    assert value == np.inf
    assert np.isnan(grad).all()
    assert np.isfinite(LogDet(s=2.0).value_and_grad(cycle)[0])
    # Beyond the domain the determinant is positive again for two such cycles: the sign alone would not notice.
    two = np.zeros((4, 4))
    two[:2, :2] = two[2:, 2:] = cycle
    assert LogDet(s=1.0).value_and_grad(two)[0] == np.inf
    with pytest.raises(ValueError, match="s > 0"):
        LogDet(s=0.0)


def test_ev_noise_variance_is_the_mean_residual_variance(rng):
    B, S = random_point(rng)
    r = residual_variances(B, S)
    free, common = GaussianNV().noise_variances(r), GaussianEV().noise_variances(r)
    np.testing.assert_allclose(common, np.full(6, free.mean()))
