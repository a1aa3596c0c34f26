"""The noise: whether equal variances are credible, and residuals normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from golem.assessment.diagnostics.finding import Finding
from golem.data.moments import Moments
from golem.runtime.messages import quoted
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.likelihood import GaussianEV, GaussianTied
from golem.score.regression import regressions

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

LEVEL = 0.01
# A typical pair of variances this far apart changes which graph is likeliest; below, a test at large n is pedantic.
_TELLING_FACTOR = 1.25
_FEWEST_ROWS = 20
_LONG_TAIL, _SHARE_LEFT = 2.0, 0.3
# Beyond this excess kurtosis, ten times that of exponential noise, single rows make the covariances.
_EXTREME = 50.0


@dataclass(frozen=True)
class EqualVariances:
    """A test of equal noise variances.

    Parameters
    ----------
    statistic, p_value : float
        Bartlett's statistic and its p-value, from chi squared with d - 1 degrees of freedom.
    factor : float
        By what factor a typical pair of noise variances differs, sampling errors taken off.
    """

    statistic: float
    p_value: float
    factor: float


def equal_variances_test(graph: BoolMatrix, moments: Moments, excess_kurtosis: float = 0.0) -> EqualVariances:
    """Test whether the noise variances of a graph are equal (Bartlett 1937).

    With s_j^2 the residual variance of node j on its k_j parents, unbiased with v_j = n - 1 - k_j degrees of freedom,
    and v their sum, the statistic is

        [v log(sum_j v_j s_j^2 / v) - sum_j v_j log s_j^2] / C,   C = 1 + (sum_j 1/v_j - 1/v) / (3 (d - 1)),

    the likelihood ratio of unequal against equal variances with a correction for small samples. It believes that the
    noise is normal; for an excess kurtosis k it is divided by 1 + k/2 (Box 1953). The graph is taken as given.

    Examples
    --------
    >>> from golem import Moments
    >>> X = np.random.default_rng(0).normal(size=(500, 4)) * [1, 1, 1, 1.5]
    >>> equal_variances_test(np.zeros((4, 4), dtype=bool), Moments.from_rows(X)).p_value < 1e-6
    True
    """
    from scipy.stats import chi2

    n, d = moments.n, moments.d
    freedom = n - 1.0 - graph.sum(axis=0)
    if (freedom < 1).any():
        raise ValueError(
            f"n = {n} rows leave no degrees of freedom for a node with {int(graph.sum(axis=0).max())} parents"
        )
    s2 = regressions(graph, moments.covariance).residual_variances * n / freedom
    total = freedom.sum()
    ratio = total * np.log((freedom * s2).sum() / total) - (freedom * np.log(s2)).sum()
    correction = 1 + ((1 / freedom).sum() - 1 / total) / (3 * (d - 1))
    widening = max(1 + excess_kurtosis / 2, 0.1)
    statistic = float(ratio / correction / widening)
    spread = max(float(np.var(np.log(s2), ddof=1) - (2 * widening / freedom).mean()), 0.0)
    # Two draws from N(mu, tau^2) differ by 0.95 tau in the median.
    return EqualVariances(statistic, float(chi2.sf(statistic, d - 1)), float(np.exp(0.95 * np.sqrt(spread))))


def find_equal_variances(model: Golem, residuals: Matrix | None) -> Finding:
    """Tell whether equal noise variances are credible, where the model believes in them."""
    name = "equal-variances"
    if not isinstance(model.likelihood_, GaussianEV | GaussianTied):
        return Finding(name, "ok", "Equal noise variances were not assumed.")
    kurtosis = 0.0
    if residuals is not None and (varies := _varies(residuals)).any():
        kurtosis = max(float(_standardized_moments(residuals[:, varies])[1].mean()), 0.0)
    try:
        test = equal_variances_test(model.adjacency_, model.moments_, kurtosis)
    except ValueError as error:
        return Finding(name, "note", f"Equal noise variances could not be tested: {error}.", "More rows help.")
    numbers = f"Bartlett's p = {test.p_value:.2g}; a typical pair differs by a factor of {test.factor:.2f}"
    if isinstance(model.likelihood_, GaussianTied):
        return Finding(name, "ok", f"The noise variances were taken to lie together, not to be equal ({numbers}).")
    if test.p_value >= LEVEL:
        return Finding(name, "ok", f"Equal noise variances are credible ({numbers}).")
    return Finding(
        name,
        "warning" if test.factor >= _TELLING_FACTOR else "note",
        f"Directions rest on equal noise variances, which are not credible ({numbers}).",
        "Use --noise auto or nv.",
    )


def find_normality(model: Golem, residuals: Matrix, rows: Matrix) -> Finding:
    """Tell which residuals are not normal, by D'Agostino's and Pearson's test with Holm's correction."""
    name, names, n = "normal-residuals", model.moments_.names, len(residuals)
    if n < _FEWEST_ROWS:
        return Finding(
            name, "note", f"Not checked: the normality of residuals needs {_FEWEST_ROWS} rows, not {n}.", "Plot them."
        )
    from scipy.stats import normaltest

    # In the rows at hand some may not vary, where others lack values.
    checked = np.nonzero(_varies(residuals))[0]
    if not len(checked):
        return Finding(name, "note", "Not checked: no residual varies in the complete rows.")
    z = residuals[:, checked] / residuals[:, checked].std(axis=0)  # squares of large units are beyond all numbers
    adjusted = _holm(np.asarray(normaltest(z, axis=0).pvalue))
    bad = checked[adjusted < LEVEL]
    if not len(bad):
        rest = f" {len(names) - len(checked)} do not vary in the complete rows." if len(checked) < len(names) else ""
        least = f"least adjusted p = {adjusted.min():.2g}"
        return Finding(name, "ok", f"No residual departs from a normal distribution ({least}).{rest}")
    skewness, kurtosis = _standardized_moments(residuals)
    worst = int(bad[np.argmax(np.abs(skewness[bad]) + np.abs(kurtosis[bad]))])
    tailed = [names[j] for j in bad if _logarithms_mend(rows[:, j])]
    logs = f"Take logarithms of {quoted(tailed, 3)}. " if tailed else ""
    tails = _standardized_moments(rows)[1]
    extreme = [j for j in np.argsort(-tails) if tails[j] > _EXTREME and not _logarithms_mend(rows[:, j])]
    if extreme:
        far = names[extreme[0]]
        column = rows[:, extreme[0]]
        value = column[np.argmax(np.abs(column - np.median(column)))]
        return Finding(
            name,
            "warning",
            f"A few extreme values make the variance of {quoted([names[j] for j in extreme], 3)} (in {far!r} one is "
            f"{value:.4g}, the median {np.median(column):.4g}): edges can vanish or appear by them alone.",
            f"{logs}Look at these rows: is it a code for a missing value, an error of measurement, a long tail?",
        )
    return Finding(
        name,
        "note",
        f"Residuals of {len(bad)} of {len(names)} variables are not normal (most {names[worst]!r}: skewness "
        f"{skewness[worst]:.1f}, excess kurtosis {kurtosis[worst]:.1f}): with many rows the equivalence class is "
        "learned all the same, and the shapes can tell directions.",
        f"{logs}See golem compare --methods order,direct-lingam.",
    )


def _holm(p: Vector) -> Vector:
    """P-values adjusted for their number (Holm 1979)."""
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _varies(residuals: Matrix) -> NDArray[np.bool_]:
    """Tell which columns vary."""
    return np.asarray(np.ptp(residuals, axis=0) > 0)


def _standardized_moments(residuals: Matrix) -> tuple[Vector, Vector]:
    """Skewness and excess kurtosis of every column; those of a column that does not vary are not defined (NaN)."""
    with np.errstate(invalid="ignore"):
        z = (residuals - residuals.mean(axis=0)) / residuals.std(axis=0)
    square = z * z
    return np.mean(square * z, axis=0), np.mean(square * square, axis=0) - 3


def _logarithms_mend(column: Vector) -> bool:
    """Tell whether a column is positive with a long right tail that its logarithm has not."""
    if column.min() <= 0:
        return False
    from scipy.stats import skew

    # Exponential noise, whose logarithm is skewed as well, stays as it is: 2 and -1.1.
    before, after = float(skew(column)), float(skew(np.log(column)))
    return before > _LONG_TAIL and abs(after) < _SHARE_LEFT * before
