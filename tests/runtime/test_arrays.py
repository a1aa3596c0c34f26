"""Matrix functions against SciPy and exact arithmetic, on NumPy arrays and torch tensors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.special

from golem.runtime import arrays, expm
from golem.runtime import in_place as passes
from golem.runtime.expm import expm_nonnegative


def expm_in_extended_precision(A):
    """Taylor series in long double with so much scaling that its error is below that of double precision."""
    X = A.astype(np.longdouble) / 2**14
    E = term = np.eye(len(A), dtype=np.longdouble)
    for k in range(1, 25):
        term = term @ X / k
        E = E + term
    for _ in range(14):
        E = E @ E
    return E


@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 0.1, 1.0])
def test_expm_agrees_with_scipy(d, scale, rng):
    A = rng.random((d, d)) * scale * (rng.random((d, d)) < 0.5)
    expected = scipy.linalg.expm(A)
    assert np.max(np.abs(expm_nonnegative(A) - expected)) <= 1e-12 * np.max(np.abs(expected))


@pytest.fixture(params=["small", "large"])
def as_if(request, monkeypatch):
    """Use the schemes of small, and those of large matrices."""
    if request.param == "large":
        monkeypatch.setattr(expm, "_NESTED_FROM", 1)
        monkeypatch.setattr(expm, "_SUMS_AT_ONCE_UP_TO", 0)
    return request.param


# SciPy's own error reaches 3e-12 where the norm is large; extended precision is the better oracle there.
@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double is no longer than double here")
@pytest.mark.parametrize("d", [3, 30, 120])
@pytest.mark.parametrize("scale", [1e-6, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("nearly_acyclic", [False, True])
def test_expm_is_accurate_to_rounding(d, scale, nearly_acyclic, rng, as_if):
    A = rng.random((d, d)) * scale
    if nearly_acyclic:
        A = np.triu(A * (rng.random((d, d)) < 4 / d), 1) * 4 + A * 1e-6
    expected = expm_in_extended_precision(A)
    assert np.max(np.abs(expm_nonnegative(A) - expected)) < 1e-13 * np.max(expected)


def test_expm_of_a_stack_is_the_stack_of_expms(rng, as_if):
    A = rng.random((2, 3, 6, 6)) * np.array([0.01, 1.0, 5.0])[:, None, None]
    stacked = expm_nonnegative(A)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(stacked[index], expm_nonnegative(A[index]), rtol=1e-12)


def test_expm_of_a_dag_has_an_exact_unit_diagonal(rng, as_if):
    A = np.triu(rng.random((40, 40)) * 9, 1)
    order = rng.permutation(40)
    assert np.all(np.diagonal(expm_nonnegative(A[np.ix_(order, order)])) == 1.0)


def test_the_nested_scheme_saves_a_product(rng, as_if):
    A = rng.random((30, 30)) * 0.028  # a norm at which degree 12 is not enough
    plan = expm.cheapest_plan(expm.power_norms(A, A @ A).tolist(), 2.2e-16)
    assert (plan.scheme.degree, plan.products) == {"small": (12, 5), "large": (14, 4)}[as_if]


@pytest.mark.parametrize("squarings", [0, 1, 3])
def test_schemes_are_taylor_polynomials(squarings):
    # Of a shift matrix the exponential holds the coefficients themselves.
    for scheme in (*expm._TAYLOR_SCHEMES, expm._NESTED_SCHEME):
        A = np.eye(18, k=1)
        powers = [np.linalg.matrix_power(A, k + 1) for k in range(scheme.powers)]
        found = scheme.evaluate(powers, squarings)[0] * 2.0 ** (squarings * np.arange(18))
        series = 1 / scipy.special.factorial(np.arange(18))
        np.testing.assert_allclose(found[: scheme.degree + 1], series[: scheme.degree + 1], rtol=1e-13)
        assert np.all((found >= 0) & (found <= series * (1 + 1e-13)))


def test_expm_overflow_is_not_finite_and_no_crash():
    with np.errstate(all="ignore"):
        assert not np.isfinite(expm_nonnegative(np.full((3, 3), 1e200))).all()
        pair = expm_nonnegative(np.stack([np.full((3, 3), 1e200), np.full((3, 3), 0.1)]))
    assert np.isnan(pair[0]).all()
    np.testing.assert_allclose(pair[1], expm_nonnegative(np.full((3, 3), 0.1)), rtol=1e-14)


@pytest.mark.parametrize("shape", [(5, 5), (3, 5, 5)])
def test_logabsdet_and_inverse(shape, rng):
    M = rng.normal(size=shape)
    untouched = M.copy()
    logabsdet, inverse_transpose = arrays.logabsdet_and_inverse_transpose(M)
    np.testing.assert_allclose(logabsdet, np.linalg.slogdet(M)[1])
    np.testing.assert_allclose(
        np.swapaxes(inverse_transpose, -1, -2) @ M, np.broadcast_to(np.eye(5), shape), atol=1e-10
    )
    np.testing.assert_array_equal(M, untouched)


@pytest.mark.parametrize("stacked", [False, True])
def test_a_singular_matrix_is_marked_not_raised(stacked):
    M = np.ones((2, 2))
    M = np.stack([np.eye(2), M]) if stacked else M
    logabsdet, inverse = arrays.logabsdet_and_inverse_transpose(M)
    assert np.ravel(logabsdet)[-1] == -np.inf
    assert np.isnan(inverse if not stacked else inverse[1]).all()
    if stacked:
        np.testing.assert_array_equal(inverse[0], np.eye(2))


@pytest.mark.torch
def test_torch_tensors_give_the_same_numbers(rng):
    torch = pytest.importorskip("torch")
    A = rng.random((3, 7, 7))
    np.testing.assert_allclose(expm_nonnegative(torch.asarray(A)).numpy(), expm_nonnegative(A), rtol=1e-13)
    for ours, theirs in zip(
        arrays.logabsdet_and_inverse_transpose(A),
        arrays.logabsdet_and_inverse_transpose(torch.asarray(A)),
        strict=True,
    ):
        np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-9)
    logabsdet, inverse = arrays.logabsdet_and_inverse_transpose(torch.ones((2, 2), dtype=torch.float64))
    assert logabsdet == -torch.inf
    assert not torch.isfinite(inverse).all()


def test_device_without_torch_or_gpu_says_what_to_do():
    with pytest.raises(ValueError, match="device='cpu'"):
        arrays.Placement("cuda:7" if _has_torch() else "cuda").put(np.eye(2))


def test_cpu_keeps_the_array():
    A = np.eye(2)
    assert arrays.Placement().put(A) is A


def _has_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def test_expm_of_a_huge_matrix_is_not_finite_and_no_crash():
    with np.errstate(all="ignore"):
        for size in (1e20, 1e100, 1e300):
            assert not np.isfinite(expm_nonnegative(np.full((3, 3), size))).all()


def test_overlapping_solves_leave_the_threads_as_they_were():
    import threadpoolctl

    def threads():
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    first, second = arrays.blas_threads_for(10), arrays.blas_threads_for(10)
    first.__enter__()
    second.__enter__()
    assert set(threads()) == {1}
    first.__exit__(None, None, None)
    assert set(threads()) == {1}
    second.__exit__(None, None, None)
    assert threads() == before


def test_memory_is_asked_for_before_the_work(monkeypatch):
    class Cuda:
        is_available = staticmethod(lambda: True)
        mem_get_info = staticmethod(lambda device: (8 * 2**30, 16 * 2**30))

    class Torch:
        cuda = Cuda
        device = staticmethod(lambda name: name)

    monkeypatch.setattr(arrays.Placement, "_torch", lambda self: Torch)
    placement = arrays.Placement("cuda")
    placement.require_memory(6, 1000, "The order")
    with pytest.raises(
        ValueError, match=r"The order of 20000 variables needs about 17\.9 GiB on cuda, of which 8\.0 GiB"
    ):
        placement.require_memory(6, 20_000, "The order")
    arrays.Placement("cpu").require_memory(6, 10**6, "The order")  # left to the operating system


@pytest.mark.torch
def test_sums_in_few_passes_are_the_sums(rng):
    torch = pytest.importorskip("torch")
    A, B, C = rng.normal(size=(3, 2, 4, 4)) + 3.0
    expected = {
        "identity_minus": (np.eye(4) - A, lambda a, b, c: passes.identity_minus(a)),
        "plus_scaled": (A + 2 * B, lambda a, b, c: passes.plus_scaled(a, b, 2.0)),
        "minus_scaled": (A - B * C, passes.minus_scaled),
        "minus_ratio": (A - 2 * B / C, lambda a, b, c: passes.minus_ratio(a, b, c, 2.0)),
        "product": (3 * B @ C, lambda a, b, c: passes.product(b, c, 3.0)),
        "inner_product": ((A * B).sum(axis=(-2, -1)), lambda a, b, c: passes.inner_product(a, b)),
        "total_size": (np.abs(A - 3).sum(axis=(-2, -1)), lambda a, b, c: passes.total_size(a - 3)),
        "sign": (np.sign(A - 3), lambda a, b, c: passes.sign(a - 3)),
    }
    in_place = {
        "add_scaled": (A + 2 * B, lambda a, b, c: passes.add_scaled(a, b, 2.0)),
        "absorb": (A + 2 * B, lambda a, b, c: passes.absorb(a, b, 2.0)),
        "add_squares": (A + 2 * B**2, lambda a, b, c: passes.add_squares(a, b, 2.0)),
        "add_entrywise": (A + 2 * B * C, lambda a, b, c: passes.add_entrywise(a, b, c, 2.0)),
        "move_towards": (0.9 * A + 0.1 * B, lambda a, b, c: passes.move_towards(a, b, 0.1)),
        "add_product": (A + B @ C, passes.add_product),
        "add_product, scaled": (2 * A + 3 * B @ C, lambda a, b, c: passes.add_product(a, b, c, 2.0, 3.0)),
        "add_to_diagonal": (A + 2 * np.eye(4), lambda a, b, c: passes.add_to_diagonal(a, 2.0)),
        "clear_diagonal": (A * (1 - np.eye(4)), lambda a, b, c: passes.clear_diagonal(a)),
    }
    for make in (np.array, torch.asarray):
        for part in (slice(None), 0):  # a stack, and a matrix
            for name, (result, function) in (expected | in_place).items():
                a, b, c = (make(X[part].copy()) for X in (A, B, C))
                found = function(a, b, c)
                np.testing.assert_allclose(a if name in in_place else found, result[part], rtol=1e-13, err_msg=name)


def test_a_message_arrives():
    assert arrays.Message(np.array([1.0, 2.0])).read() == [1.0, 2.0]
    assert arrays.Message(np.array(3.0)).read() == 3.0
