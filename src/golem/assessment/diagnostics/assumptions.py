"""Checks of the linear model: straight effects, and noise that is independent of the parents, equal or normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import Verdict, look_at, note, ok, warning
from golem.assessment.p_values import holm
from golem.data.moments import Moments
from golem.directions.residual_tests import normality_test, residual_dependence, standardized_moments
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import Declare, Set, Text
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.likelihood import GaussianEV, GaussianTied
from golem.score.regression import regressions
from golem.score.score_settings import possible_codes

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

LEVEL = 0.01
# With many rows every test rejects, so small effects do not count. The second number of a pair is large.
_CURVED, _DEPENDENT = (0.01, 0.1), (0.1, 0.25)
_MANY = 0.2
_FEWEST_ROWS_PER_EDGE, _FEWEST_ROWS_OF_NORMALITY = 50, 20
_RANK_TOLERANCE = 1e-6
# Variances that differ by less hardly change which graph is likeliest, even if a test with many rows detects it.
_LARGE_FACTOR = 1.25
# Skewness from which on logarithms may help, and the share of it that they may leave.
_LONG_TAIL, _SHARE_LEFT = 2.0, 0.3
# Above this excess kurtosis, ten times that of exponential noise, single rows dominate the covariances.
_EXTREME = 50.0


@dataclass(frozen=True)
class EdgeAssumptions:
    """How far one edge is from a linear effect with independent noise.

    Parameters
    ----------
    source, target : int
        The edge.
    curvature, curvature_p : float
        Share of the residual variance of the target that a curve of the source explains beyond a straight line,
        adjusted for degrees of freedom; and the p-value of its F test.
    dependence, dependence_p : float
        Dependence between the residual of the target and the source, 0 if they are independent (docs/findings.md);
        and the p-value of its test.

    Examples
    --------
    >>> from golem import Golem, Moments
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> from golem.diagnostics import edge_assumptions
    >>> max(edge.curvature for edge in edge_assumptions(drawn.sem.adjacency, drawn.data)) < 0.05  # straight lines
    True
    """

    source: int
    target: int
    curvature: float
    curvature_p: float
    dependence: float
    dependence_p: float


def edge_assumptions(graph: BoolMatrix, X: Matrix) -> list[EdgeAssumptions]:
    """Measure how far each edge of a graph is from a linear effect with independent noise.

    Nodes whose residual or parents do not vary, and nodes with fewer than 50 rows more than parents, are left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 500))
    >>> (edge,) = edge_assumptions(np.array([[0, 1], [0, 0]], dtype=bool), np.column_stack([x, x + x**2 + noise]))
    >>> edge.curvature > 0.4, edge.dependence_p < 1e-6
    (True, True)
    """
    found = []
    for j in np.nonzero(graph.any(axis=0))[0]:
        parents = np.nonzero(graph[:, j])[0]
        P, y = X[:, parents] - X[:, parents].mean(axis=0), X[:, j] - X[:, j].mean()
        scale = P.std(axis=0)
        if len(X) < _FEWEST_ROWS_PER_EDGE + len(parents) or not scale.all():
            continue
        onto, _ = np.linalg.qr(P / scale)
        residual = y - onto @ (onto.T @ y)
        if residual.std() <= _RANK_TOLERANCE * y.std():
            continue
        tests = residual_dependence(residual, P / scale)
        for k, i in enumerate(parents):
            bend = _curvature(residual, P[:, k] / scale[k], onto)
            found.append(EdgeAssumptions(int(i), int(j), *bend, float(tests.effects[k]), float(tests.p_values[k])))
    return found


def _curvature(residual: Vector, v: Vector, onto: Matrix) -> tuple[float, float]:
    """Return the adjusted share of the residual variance that log cosh v and tanh v explain, and its p-value.

    The two functions, one even and one odd, are bounded by straight lines, so that outliers do not dominate them.
    """
    from scipy.special import fdtrc

    n, k = onto.shape
    curves = np.column_stack([np.logaddexp(v, -v), np.tanh(v)])
    curves -= curves.mean(axis=0)
    curves -= onto @ (onto.T @ curves)
    directions, size, _ = np.linalg.svd(curves, full_matrices=False)
    directions = directions[:, size > _RANK_TOLERANCE * np.sqrt(n)]  # none if v has two values
    q = directions.shape[1]
    if not q:
        return 0.0, 1.0
    share = min(float(np.sum((directions.T @ residual) ** 2) / np.sum(residual**2)), 1 - 1e-15)
    freedom = n - 1 - k - q
    p_value = float(fdtrc(q, freedom, share / q / ((1 - share) / freedom)))
    return max(0.0, 1 - (1 - share) * (n - 1 - k) / freedom), p_value


def find_linearity(checked: CheckedModel) -> Verdict | None:
    """Find effects in these rows that are not straight lines."""
    edges, names = checked.once(_edges), checked.names
    if checked.rows is None or edges is None:
        return None
    bad = _beyond(edges, "curvature", _CURVED[0])
    if not bad:
        return _fine(edges, "No edge has a visible curve.")
    transform: str = "ransform these columns, e.g. by logarithms or square roots, if they are not transformed already."
    if skewed := _skewed(checked, sorted({end for edge in bad for end in (edge.source, edge.target)})):
        logged = Set("log", skewed, f"X[{skewed!r}] = np.log(X[{skewed!r}])")
        transform = Text("ry logarithms of the columns with long tails: ", logged, ".")
    remedy: str = Text("T", transform)
    sources = sorted({edge.source for edge in bad})
    if codes := possible_codes(checked.rows[:, sources], [names[i] for i in sources]):
        are = "is a code" if len(codes) == 1 else "are codes"
        remedy = Text(f"If {quoted(codes)} {are} of categories, use ", Declare(codes), ". Otherwise t", transform)
    are = f"{len(bad)} of {counted(len(edges), 'effect')} {'is' if len(bad) == 1 else 'are'}"
    listed = [f"{text} ({edge.curvature:.0%})" for text, edge in zip(_texts(checked, bad), bad, strict=True)]
    return Verdict(
        "warning" if bad[0].curvature > _CURVED[1] else "note",
        f"{are} not linear: {shortened(listed, 3)}. In brackets: extra variance that a curve explains.",
        remedy,
        f"{are} curved, not {'a straight line' if len(bad) == 1 else 'straight lines'}.",
        checked.named(_ends(bad)),
    )


def _skewed(checked: CheckedModel, columns: Sequence[int]) -> list[str]:
    """Return the columns of positive numbers whose logarithms are less skewed."""
    assert checked.rows is not None
    positive = [j for j in columns if checked.rows[:, j].min() > 0]
    values = checked.rows[:, positive]
    skewness, of_logarithms = (standardized_moments(own)[0] for own in (values, np.log(values)))
    is_skewed = skewness > np.maximum(_LONG_TAIL, np.abs(of_logarithms))
    return [checked.names[j] for j, chosen in zip(positive, is_skewed, strict=True) if chosen]


def find_independence(checked: CheckedModel) -> Verdict | None:
    """Find edges where the noise of the target depends on the source."""
    edges = checked.once(_edges)
    if edges is None:
        return None
    bad = _beyond(edges, "dependence", _DEPENDENT[0])
    if not bad:
        return _fine(edges, "No residual depends on the parents of its variable.")
    opposed = checked.model.graph_.conflicts
    turned = _texts(checked, [edge for edge in bad if (edge.source, edge.target) in opposed])
    remedy = "Look at these pairs in a scatter plot."
    if turned:
        remedy += f" Of {shortened(turned, 3)}, the direction may be wrong: the noise shapes support the opposite."
    if len(turned) < len(bad):
        where = "at the other edges" if turned else "here"
        remedy += f" golem does not use the shape of the noise {where}; do not use other methods that do (e.g. LiNGAM)."
    many = len(bad) > _MANY * len(edges) and bad[0].dependence > _DEPENDENT[1]
    listed = [f"{text} ({edge.dependence:.2f})" for text, edge in zip(_texts(checked, bad), bad, strict=True)]
    count = f"{len(bad)} of {counted(len(edges), 'edge')}"
    return Verdict(
        "warning" if many else "note",
        f"In {count} the residual depends on the parent: {shortened(listed, 3)}. The number in brackets measures this "
        f"dependence: 0 means independent, above {_DEPENDENT[1]} is strong. A curve, noise that grows with the parent, "
        "outliers, a hidden common cause or a wrong direction can cause this.",
        remedy,
        f"In {count} the points do not scatter evenly around the line.",
        checked.named(_ends(bad)),
    )


def _edges(checked: CheckedModel) -> list[EdgeAssumptions] | None:
    """Return the measures of all edges; None without rows, or if the model is not linear."""
    if checked.rows is None or not checked.is_linear:
        return None
    return edge_assumptions(checked.graph, checked.rows)


def _beyond(
    edges: Sequence[EdgeAssumptions], measure: Literal["curvature", "dependence"], least: float
) -> list[EdgeAssumptions]:
    """Return the edges with an effect that is neither small nor by chance, the largest first."""
    effects, p_values = (np.array([getattr(edge, name) for edge in edges]) for name in (measure, f"{measure}_p"))
    bad = np.flatnonzero((holm(p_values) < LEVEL) & (effects > least))
    return [edges[k] for k in bad[np.argsort(-effects[bad], kind="stable")]]


def _fine(edges: Sequence[EdgeAssumptions], sentence: str) -> Verdict:
    return ok(sentence if edges else f"No edge could be checked: this needs edges, and {_FEWEST_ROWS_PER_EDGE} rows.")


def _ends(edges: Sequence[EdgeAssumptions]) -> list[tuple[int, int]]:
    return [(edge.source, edge.target) for edge in edges]


def _texts(checked: CheckedModel, edges: Sequence[EdgeAssumptions]) -> list[str]:
    return checked.edge_texts(_ends(edges))


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


def find_equal_variances(checked: CheckedModel) -> Verdict | None:
    """Check whether equal noise variances are plausible, if the model assumes them."""
    likelihood, residuals, kurtosis = checked.model.likelihood_, checked.residuals, 0.0
    if not checked.is_linear:
        return None
    if not isinstance(likelihood, GaussianEV | GaussianTied):
        return ok("Equal noise variances were not assumed.")
    if residuals is not None and (varies := np.ptp(residuals, axis=0) > 0).any():
        kurtosis = max(float(standardized_moments(residuals[:, varies])[1].mean()), 0.0)
    try:
        test = equal_variances_test(checked.graph, checked.moments, kurtosis)
    except ValueError as error:
        return note(f"Equal noise variances could not be tested: {error}", "Use more rows.")
    factor = f"corrected for sampling errors, a typical pair differs by a factor of {test.factor:.2f}"
    numbers = f"Bartlett's test: p = {test.p_value:.2g}; {factor}"
    if isinstance(likelihood, GaussianTied):
        return ok(f"The noise variances were assumed to be similar, not equal ({numbers}).")
    if test.p_value >= LEVEL:
        return ok(f"Equal noise variances are plausible ({numbers}).")
    return Verdict(
        "warning" if test.factor >= _LARGE_FACTOR else "note",
        f"The directions depend on equal noise variances, but the variances differ ({numbers}).",
        Text.of("Use {noise='auto'} or {noise='nv'}."),
    )


def find_normality(checked: CheckedModel) -> Verdict | None:
    """Find residuals that are not normal, by the test of D'Agostino and Pearson with Holm's correction.

    Their shape is recommended for directions only if the residuals are independent of the parents.
    """
    names, rows, residuals = checked.names, checked.rows, checked.residuals
    if rows is None or residuals is None:
        return None
    # A column that varies in other rows can be constant in the complete ones.
    # The past of a series is given: it has no residuals.
    varying, n = np.nonzero((np.ptp(residuals, axis=0) > 0) & (checked.table.lags == 0))[0], len(rows)
    if n < _FEWEST_ROWS_OF_NORMALITY or not len(varying):
        few = f"the test needs {_FEWEST_ROWS_OF_NORMALITY} rows, and there are {n}"
        reason = few if n < _FEWEST_ROWS_OF_NORMALITY else "none of them varies"
        return note(f"Normality of the residuals was not checked: {reason}.", look_at(checked.graph))
    z = residuals[:, varying] / residuals[:, varying].std(axis=0)  # squares of large units would overflow
    adjusted = holm(normality_test(z))
    bad = varying[adjusted < LEVEL]
    if not len(bad):
        rest = f" {len(names) - len(varying)} do not vary in the complete rows." if len(varying) < len(names) else ""
        least = f"smallest adjusted p = {adjusted.min():.2g}"
        return ok(f"All residuals are compatible with a normal distribution ({least}).{rest}")
    tailed = [names[j] for j in bad if _is_log_normal(rows[:, j])]
    long = "a long right tail" if len(tailed) == 1 else "long right tails"
    logs = [f"Take logarithms of {quoted(tailed, 3)}, which removes {long}."] if tailed else []
    if not checked.table.is_ranked and (extreme := _extreme_values(names, rows)):
        return warning(
            extreme,
            " ".join([*logs, "Check whether these values are codes for missing values, errors or a long tail."]),
            "A few extreme values dominate a column and can create or hide edges.",
        )
    skewness, kurtosis = standardized_moments(residuals)
    worst = int(bad[np.argmax(np.abs(skewness[bad]) + np.abs(kurtosis[bad]))])
    independent = checked.once(find_independence)
    shapes = _use_of_shapes(checked.model) if independent is not None and independent.level == "ok" else []
    return note(
        f"The residuals of {len(bad)} of {len(names)} variables are not normal (most of all {names[worst]!r}: skewness "
        f"{skewness[worst]:.1f}, excess kurtosis {kurtosis[worst]:.1f}).",
        Text.of_sentences([*logs, *shapes]) or look_at(checked.graph),
    )


def _extreme_values(names: tuple[str, ...], rows: Matrix) -> str:
    """Name the columns whose variance a few values dominate; empty if there are none."""
    tails = standardized_moments(rows)[1]
    extreme = [j for j in np.argsort(-tails) if tails[j] > _EXTREME and not _is_log_normal(rows[:, j])]
    if not extreme:
        return ""
    column = rows[:, extreme[0]]
    where = f"in {names[extreme[0]]!r} " if len(extreme) > 1 else ""
    value = column[np.argmax(np.abs(column - np.median(column)))]
    return (
        f"A few extreme values dominate the variance of {quoted([names[j] for j in extreme], 3)} ({where}one value "
        f"is {value:.4g}; the median is {np.median(column):.4g}) and can create or hide edges."
    )


def _use_of_shapes(model: Golem) -> list[str]:
    """Return how to use noise that is not normal for directions; nothing if it was tried and gave none."""
    if model.graph_.shape_note and not model.by_shape_.any():
        return []
    use = Text.of(": use {shape='auto'}" if model.shape == "off" else ": use {noise='nv'}")
    how = "" if model.settings.uses_shape else use
    return [Text("The shape of such noise can settle directions", how, ".")]


def _is_log_normal(column: Vector) -> bool:
    """Return whether a column is positive with a long right tail that its logarithm does not have."""
    if column.min() <= 0:
        return False
    # Exponential noise does not count, as its logarithm is skewed as well (2 and -1.1).
    before, after = standardized_moments(np.column_stack([column, np.log(column)]))[0]
    return bool(before > _LONG_TAIL and abs(after) < _SHARE_LEFT * before)
