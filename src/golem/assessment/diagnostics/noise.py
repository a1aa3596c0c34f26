"""Checks of the noise: whether equal variances are plausible, and residuals normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from golem.assessment.diagnostics.finding import Finding, look_at
from golem.assessment.p_values import holm
from golem.data.moments import Moments
from golem.directions.normality import normality_test, standardized_moments
from golem.runtime.messages import quoted
from golem.runtime.problems import Text
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.likelihood import GaussianEV, GaussianTied
from golem.score.regression import regressions

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

LEVEL = 0.01
# Variances that differ by less hardly change which graph is likeliest, even if a test with many rows detects it.
_LARGE_FACTOR = 1.25
_FEWEST_ROWS = 20
_LONG_TAIL, _SHARE_LEFT = 2.0, 0.3
# Above this excess kurtosis, ten times that of exponential noise, single rows dominate the covariances.
_EXTREME = 50.0


@dataclass(frozen=True)
class EqualVariances:
    """A test of equal noise variances.

    Parameters
    ----------
    statistic, p_value : float
        Bartlett's statistic and its p-value, from chi squared with d - 1 degrees of freedom.
    factor : float
        Factor by which a typical pair of noise variances differs, corrected for sampling errors.

    Examples
    --------
    >>> from golem import Golem, Moments
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> from golem.diagnostics import equal_variances_test
    >>> equal_variances_test(drawn.sem.adjacency, Moments.from_rows(drawn.data)).p_value > 0.01
    True
    """

    statistic: float
    p_value: float
    factor: float


def equal_variances_test(graph: BoolMatrix, moments: Moments, excess_kurtosis: float = 0.0) -> EqualVariances:
    """Test whether the noise variances of a graph are equal (Bartlett 1937).

    With s_j^2 the residual variance of node j on its k_j parents, unbiased with v_j = n - 1 - k_j degrees of freedom,
    and v their sum, the statistic is

        [v log(sum_j v_j s_j^2 / v) - sum_j v_j log s_j^2] / C,   C = 1 + (sum_j 1/v_j - 1/v) / (3 (d - 1)),

    the likelihood ratio of unequal against equal variances with a correction for small samples. It assumes normal
    noise; for an excess kurtosis k it is divided by 1 + k/2 (Box 1953). The graph is taken as given.

    Examples
    --------
    >>> from golem import Moments
    >>> X = np.random.default_rng(0).normal(size=(500, 4)) * [1, 1, 1, 1.5]
    >>> equal_variances_test(np.zeros((4, 4), dtype=bool), Moments.from_rows(X)).p_value < 1e-6
    True
    """
    from scipy.special import chdtrc

    n, d = moments.n, moments.d
    freedom = n - 1.0 - graph.sum(axis=0)
    if (freedom < 1).any():
        most = int(graph.sum(axis=0).max())
        raise ValueError(f"n = {n} rows leave no degrees of freedom for a node with {most} parents.")
    s2 = regressions(graph, moments.covariance).residual_variances * n / freedom
    total = freedom.sum()
    ratio = total * np.log((freedom * s2).sum() / total) - (freedom * np.log(s2)).sum()
    correction = 1 + ((1 / freedom).sum() - 1 / total) / (3 * (d - 1))
    widening = max(1 + excess_kurtosis / 2, 0.1)
    statistic = float(ratio / correction / widening)
    spread = max(float(np.var(np.log(s2), ddof=1) - (2 * widening / freedom).mean()), 0.0)
    # Two draws from N(mu, tau^2) differ by 0.95 tau in the median.
    return EqualVariances(statistic, float(chdtrc(d - 1, statistic)), float(np.exp(0.95 * np.sqrt(spread))))


def find_equal_variances(model: Golem, residuals: Matrix | None) -> Finding:
    """Check whether equal noise variances are plausible, if the model assumes them."""
    name = "equal-variances"
    if not isinstance(model.likelihood_, GaussianEV | GaussianTied):
        return Finding(name, "ok", "Equal noise variances were not assumed.")
    kurtosis = 0.0
    if residuals is not None and (varies := np.ptp(residuals, axis=0) > 0).any():
        kurtosis = max(float(standardized_moments(residuals[:, varies])[1].mean()), 0.0)
    try:
        test = equal_variances_test(model.adjacency_, model.moments_, kurtosis)
    except ValueError as error:
        return Finding(name, "note", f"Equal noise variances could not be tested: {error}", "Use more rows.")
    factor = f"corrected for sampling errors, a typical pair differs by a factor of {test.factor:.2f}"
    numbers = f"Bartlett's test: p = {test.p_value:.2g}; {factor}"
    if isinstance(model.likelihood_, GaussianTied):
        return Finding(name, "ok", f"The noise variances were assumed to be similar, not equal ({numbers}).")
    if test.p_value >= LEVEL:
        return Finding(name, "ok", f"Equal noise variances are plausible ({numbers}).")
    return Finding(
        name,
        "warning" if test.factor >= _LARGE_FACTOR else "note",
        f"The directions depend on equal noise variances, but the variances differ ({numbers}).",
        Text.of("Use {noise='auto'} or {noise='nv'}."),
    )


def find_normality(model: Golem, residuals: Matrix, rows: Matrix, independent: bool) -> Finding:
    """Find residuals that are not normal, by the test of D'Agostino and Pearson with Holm's correction.

    Their shape is recommended for directions only if the residuals are independent of the parents.
    """
    name, names, n = "normal-residuals", model.moments_.names, len(residuals)
    # A column that varies in other rows can be constant in the complete ones.
    checked = np.nonzero(np.ptp(residuals, axis=0) > 0)[0]
    if n < _FEWEST_ROWS or not len(checked):
        reason = f"the test needs {_FEWEST_ROWS} rows, and there are {n}" if n < _FEWEST_ROWS else "none of them varies"
        return Finding(
            name, "note", f"Normality of the residuals was not checked: {reason}.", look_at(model.adjacency_)
        )
    z = residuals[:, checked] / residuals[:, checked].std(axis=0)  # squares of large units would overflow
    adjusted = holm(normality_test(z))
    bad = checked[adjusted < LEVEL]
    if not len(bad):
        rest = f" {len(names) - len(checked)} do not vary in the complete rows." if len(checked) < len(names) else ""
        least = f"smallest adjusted p = {adjusted.min():.2g}"
        return Finding(name, "ok", f"All residuals are compatible with a normal distribution ({least}).{rest}")
    tailed = [names[j] for j in bad if _is_log_normal(rows[:, j])]
    long = "a long right tail" if len(tailed) == 1 else "long right tails"
    logs = [f"Take logarithms of {quoted(tailed, 3)}, which removes {long}."] if tailed else []
    tails = standardized_moments(rows)[1]
    extreme = [j for j in np.argsort(-tails) if tails[j] > _EXTREME and not _is_log_normal(rows[:, j])]
    if extreme:
        column = rows[:, extreme[0]]
        where = f"in {names[extreme[0]]!r} " if len(extreme) > 1 else ""
        value = column[np.argmax(np.abs(column - np.median(column)))]
        return Finding(
            name,
            "warning",
            f"A few extreme values dominate the variance of {quoted([names[j] for j in extreme], 3)} ({where}one value "
            f"is {value:.4g}; the median is {np.median(column):.4g}) and can create or hide edges.",
            " ".join([*logs, "Check whether these values are codes for missing values, errors or a long tail."]),
        )
    skewness, kurtosis = standardized_moments(residuals)
    worst = int(bad[np.argmax(np.abs(skewness[bad]) + np.abs(kurtosis[bad]))])
    return Finding(
        name,
        "note",
        f"The residuals of {len(bad)} of {len(names)} variables are not normal (most of all {names[worst]!r}: skewness "
        f"{skewness[worst]:.1f}, excess kurtosis {kurtosis[worst]:.1f}).",
        Text.of_sentences([*logs, *(_use_of_shapes(model) if independent else [])]) or look_at(model.adjacency_),
    )


def _use_of_shapes(model: Golem) -> list[str]:
    """Return how to use noise that is not normal for directions; nothing if it was tried and gave none."""
    if model.graph_.shape_note and not model.by_shape_.any():
        return []
    use = Text.of(": use {shape='auto'}" if model.shape == "off" else ": use {noise='nv'}")
    how = "" if model.settings.uses_shape else use
    return [Text("The shape of such noise can decide directions", how, ".")]


def _is_log_normal(column: Vector) -> bool:
    """Return whether a column is positive with a long right tail that its logarithm does not have."""
    if column.min() <= 0:
        return False
    # Exponential noise does not count, as its logarithm is skewed as well (2 and -1.1).
    before, after = standardized_moments(np.column_stack([column, np.log(column)]))[0]
    return bool(before > _LONG_TAIL and abs(after) < _SHARE_LEFT * before)
