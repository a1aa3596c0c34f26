"""Checks of experiments: targets without an effect, shifts of other variables, hard targets with parents, few rows.

The mechanism of a variable is its regression on its parents: intercept, slopes and variance of the noise. An experiment
must change the mechanisms of its targets and no others. Mechanisms are compared with those in the observational
environments or, if there are none, in all others that do not target the variable. Tests of moments assume normal noise;
those of rows, which a model with rows has made already, do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.assessment.p_values import holm, p_text
from golem.directions.experiments import Hardness, Shift
from golem.runtime.messages import counted, shortened
from golem.runtime.problems import Set, Text
from golem.runtime.types import Indices, Matrix, Vector

if TYPE_CHECKING:
    from golem.data.moments import Moments
    from golem.data.table import Table
    from golem.directions.experiments import ExperimentChecks
    from golem.estimator.golem import Golem

# An effect that should not be there must be clear; one that should be there may be weak.
LEVEL, _WEAK_LEVEL = 0.01, 0.05
PARTS = ("intercept", "slopes", "variance")
# With fewer rows, covariances of an environment of its own are unreliable.
_FEW_ROWS = 30
_MOST_PAIRS = 50_000
_MOST_EXAMPLES = 4
# Share of variables that may shift where they are not targets, up to which environments are comparable.
_FEW_SHIFTS = 0.1
_WITHOUT_ROWS = "because only means and covariances were given"
_GIVE_ROWS = "Give the rows of each environment instead of its moments."


def find_environments(model: Golem) -> list[Finding]:
    """Check the experiments of a model with environments; return one finding per check, the most important first."""
    environments = model.table_
    assert environments is not None
    small = _find_small(environments)
    pairs = len(environments.labels) * environments.d
    if pairs > _MOST_PAIRS:
        sentence = f"Not checked, because there are {pairs} pairs of environment and variable: effects of experiments."
        return [Finding("target-effects", "note", sentence, "Check environments with fewer columns."), small]
    parents = [np.flatnonzero(column) for column in model.adjacency_.T]
    shifts = mechanism_shifts(environments, parents)
    uses_means = model.intercepts == "shared"
    checks = model.graph_.experiments
    dependent = [_find_dependent_targets(environments, model.graph_.hardness)] if model.intervention == "hard" else []
    off_target = [shift for shift in shifts if not shift.is_target]
    effects = checks.effects if checks is not None else ()
    effects = effects or tuple(shift for shift in shifts if shift.is_target)
    return [
        *dependent,
        _find_off_target(environments, off_target, uses_means),
        _find_effects(environments, effects, uses_means, _comparable(off_target)),
        _find_normality(environments, checks),
        small,
    ]


def mechanism_shifts(environments: Table, parents: Sequence[Indices]) -> list[Shift]:
    """Compare the mechanism of every variable in every environment with that in others.

    Parameters
    ----------
    environments : Table
        The environments.
    parents : sequence of d arrays
        The parents of each variable.
    """
    observational = [e for e, targets in enumerate(environments.targets) if not targets]
    alone = [_Group.of(environments, (e,)) for e in range(len(environments.labels))]
    pooled: dict[tuple[int, ...], _Group] = {}
    shifts = []
    for e, targets in enumerate(environments.targets):
        for j in range(environments.d):
            others = [k for k in (observational or environments.without(j)) if k != e]
            if not others:
                continue
            which = tuple(others)
            if which not in pooled:
                pooled[which] = _Group.of(environments, which)
            tests = _compare(alone[e], pooled[which], j, parents[j])
            shifts.append(Shift(e, j, j in targets, tests))
    return shifts


@dataclass(frozen=True, eq=False)
class _Group:
    """Environments taken together, each about its own mean."""

    moments: Moments
    rows: int

    @classmethod
    def of(cls, environments: Table, which: tuple[int, ...]) -> _Group:
        return cls(environments.pooled(which), sum(environments.parts[e].moments.n for e in which))


class _Regression(NamedTuple):
    """A regression of a variable on its parents."""

    slopes: Vector
    variance: float
    freedom: int
    spread: Matrix  # covariance of the slopes


def _regress(group: _Group, j: int, P: Indices) -> _Regression | None:
    """Regress a variable on its parents; None if there are too few rows or a parent does not vary."""
    scatter, freedom = group.moments.scatter, group.moments.n - len(P)
    A, b = scatter[np.ix_(P, P)], scatter[P, j]
    if freedom < 1 or scatter[j, j] <= 0:
        return None
    scale = np.sqrt(np.diagonal(A))
    if not (scale > 0).all() or (len(P) and np.linalg.cond(A / np.outer(scale, scale)) > 1e10):
        return None
    inverse = np.linalg.inv(A)
    slopes = inverse @ b
    variance = float(scatter[j, j] - b @ slopes) / freedom
    return None if variance <= 0 else _Regression(slopes, variance, freedom, np.asarray(inverse * variance))


def _compare(one: _Group, other: _Group, j: int, P: Indices) -> tuple[float, float, float]:
    """Return the p-values of equal intercepts, slopes and variances; slopes and intercepts allow unequal variances."""
    from scipy.special import betainc

    first, second = _regress(one, j, P), _regress(other, j, P)
    if first is None or second is None:
        return math.nan, math.nan, math.nan
    freedom = min(first.freedom, second.freedom)

    def f_test(statistic: float, k: int, rest: int) -> float:
        """Return the upper tail of the F distribution."""
        return float(betainc(rest / 2, k / 2, rest / (rest + k * statistic)))

    difference = first.slopes - second.slopes
    slopes = math.nan
    if len(P):
        wald = float(difference @ np.linalg.solve(first.spread + second.spread, difference))
        slopes = f_test(wald / len(P), len(P), freedom)
    away = one.moments.mean[P] - other.moments.mean[P]
    gap = float(one.moments.mean[j] - other.moments.mean[j] - away @ second.slopes)
    error = first.variance / one.rows + second.variance / other.rows + float(away @ second.spread @ away)
    ratio = first.variance / second.variance
    upper = f_test(ratio, first.freedom, second.freedom)
    return f_test(gap**2 / error, 1, freedom), slopes, min(2 * min(upper, 1 - upper), 1.0)


def _comparable(off_target: list[Shift]) -> bool:
    """Return whether few variables shift, in mean, slopes or noise, where they are not targets."""
    shifted = (_adjusted(off_target) < LEVEL).any(axis=1)
    return bool(shifted.sum() <= _FEW_SHIFTS * len(off_target))


def _adjusted(shifts: list[Shift]) -> Matrix:
    """Return the p-values of the parts of each shift, corrected for their number; 1 where nothing was tested."""
    p = np.array([shift.p_values for shift in shifts]).reshape(-1, len(PARTS))
    tested, adjusted = np.isfinite(p), np.ones(p.shape)
    adjusted[tested] = holm(p[tested])
    return adjusted


def _find_effects(environments: Table, shifts: Sequence[Shift], uses_means: bool, comparable: bool) -> Finding:
    """Find targets whose mechanism is the same as in other environments.

    Shared intercepts are suggested only if the environments are comparable.
    """
    name, silent, only_mean = "target-effects", [], []
    for shift in shifts:
        p = np.array(shift.p_values)
        if np.isnan(p).all():
            continue
        smallest = np.nanmin(p) * np.isfinite(p).sum()
        if smallest > _WEAK_LEVEL:
            silent.append(shift)
        elif not uses_means and not (p[1:] * np.isfinite(p).sum() <= _WEAK_LEVEL).any():
            only_mean.append(shift)
    if silent:
        return Finding(
            name,
            "warning",
            f"{len(silent)} of {counted(len(shifts), 'target')} {'shows' if len(silent) == 1 else 'show'} no effect: "
            f"{_places(environments, silent)}. An experiment without an effect decides no direction.",
            "Check that these experiments worked. Give an environment [] as targets if its experiment failed.",
        )
    if only_mean:
        return Finding(
            name,
            "note",
            f"{_only_means(environments, only_mean)} With separate intercepts, a change of the mean gives no evidence "
            "about directions.",
            Text.of("If nothing else differs between the experiments (no batch effects), use {intercepts='shared'}.")
            if comparable
            else "",
        )
    return Finding(name, "ok", f"All {counted(len(shifts), 'target')} show an effect.")


def _only_means(environments: Table, shifts: list[Shift]) -> str:
    """Say which experiments change only the mean of a target."""
    if len(shifts) > 1:
        return f"{len(shifts)} experiments changed only the mean of their target: {_places(environments, shifts)}."
    label, name = environments.labels[shifts[0].environment], environments.names[shifts[0].node]
    return f"The experiment {label!r} changed only the mean of its target {name!r}."


def _find_off_target(environments: Table, shifts: list[Shift], uses_means: bool) -> Finding:
    """Find variables whose mechanism shifts in an environment that does not target them."""
    name = "off-target"
    p = np.array([shift.p_values for shift in shifts]).reshape(-1, len(PARTS))
    tested, adjusted = np.isfinite(p), _adjusted(shifts)
    found = adjusted < LEVEL
    means_alone = found[:, 0] & ~found[:, 1:].any(axis=1)
    serious = np.flatnonzero(found.any(axis=1) & ~(means_alone & (not uses_means)))
    if not len(serious):
        moved = int(means_alone.sum())
        allowed = f", except for {counted(moved, 'shifted mean')}, which separate intercepts allow for" if moved else ""
        unchanged = "Given its parents, no variable changes in an environment that does not target it"
        return Finding(name, "ok", f"{unchanged}{allowed}.")
    worst = serious[np.argsort(np.where(tested, p, 1.0)[serious].min(axis=1), kind="stable")]
    parts = [", ".join(part for part, is_found in zip(PARTS, row, strict=True) if is_found) for row in found[worst]]
    examples = [f"{_place(environments, shifts[k])} ({part})" for k, part in zip(worst, parts, strict=True)]
    smallest = float(np.where(tested, adjusted, 1.0)[worst[0]].min())
    many = "Once a variable changes" if len(serious) == 1 else f"{len(serious)} times a variable changes"
    return Finding(
        name,
        "warning",
        f"{many} in an environment that does not list it as a target: {shortened(examples, _MOST_EXAMPLES)} "
        f"({counted(len(shifts), 'pair')} of variable and environment tested; corrected {p_text(smallest)} for the "
        "first).",
        "Add the variables to the targets of these environments, or leave out the environments. A wrong parent or a "
        "curved effect can also cause this.",
    )


def _find_dependent_targets(environments: Table, hardness: Hardness | None) -> Finding:
    """Find targets of hard interventions that still depend on their parents."""
    name = "hard-targets"
    if hardness is None:
        sentence = f"Not checked, {_WITHOUT_ROWS}: whether targets of hard interventions depend on their parents."
        return Finding(name, "note", sentence, _GIVE_ROWS)
    if not hardness.tested:
        sentence = "No target of a hard intervention has parents that are certain, so hardness could not be tested."
        return Finding(name, "ok", sentence)
    if not hardness.dependent:
        return Finding(name, "ok", "No target of a hard intervention depends on its parents.")
    names, labels, wrong = environments.names, environments.labels, hardness.dependent
    examples = [f"{names[j]!r} in {labels[e]!r} (R2 {r2:.2f})" for e, j, r2 in wrong]
    return Finding(
        name,
        "warning",
        f"{len(wrong)} of {counted(hardness.tested, 'target')} with parents still "
        f"{'depends' if len(wrong) == 1 else 'depend'} on them, although the interventions are said to be hard: "
        f"{shortened(examples, _MOST_EXAMPLES)}. So interventions decide no direction"
        f"{'' if hardness.is_refuted else ' of their edges'}.",
        Text("Use ", Set("intervention", "soft"), "."),
    )


def _find_normality(environments: Table, checks: ExperimentChecks | None) -> Finding:
    """Find environments whose residuals are not normal."""
    name = "normal-residuals"
    if checks is None:
        return Finding(
            name,
            "note",
            f"Not checked, {_WITHOUT_ROWS}: whether the noise is normal in each environment. With heavy tails, "
            "covariances differ between environments by chance. So interventions decide no direction here.",
            _GIVE_ROWS,
        )
    tested, adjusted = np.isfinite(checks.normality), np.ones(checks.normality.shape)
    adjusted[tested] = holm(checks.normality[tested])
    found = adjusted < LEVEL
    checked = int(tested.any(axis=1).sum())
    if not checked:
        return Finding(
            name, "note", "Not checked, because every environment has few rows: whether the noise is normal."
        )
    if not found.any():
        said = f"{checked} of {counted(len(found), 'environment')}"
        return Finding(name, "ok", f"Residuals do not differ from normal ones in {said} that could be tested.")
    names, labels = environments.names, environments.labels
    examples = [f"{names[j]!r} in {labels[e]!r}" for e, j in np.argwhere(found)]
    return Finding(
        name,
        "note",
        f"Residuals are not normal in {int(found.any(axis=1).sum())} of {counted(len(found), 'environment')} "
        f"({shortened(examples, _MOST_EXAMPLES)}). Directions by interventions do not assume normal noise; off-target "
        "does, and may find too much.",
    )


def _find_small(environments: Table) -> Finding:
    """Find environments with few rows."""
    sizes = {part.label: part.moments.n for part in environments.parts}
    small = [f"{label!r} ({n})" for label, n in sizes.items() if n < _FEW_ROWS]
    if not small:
        return Finding("small-environments", "ok", f"Every environment has at least {min(sizes.values())} rows.")
    return Finding(
        "small-environments",
        "note",
        f"{len(small)} of {counted(len(sizes), 'environment')} {'has' if len(small) == 1 else 'have'} fewer than "
        f"{_FEW_ROWS} rows: {shortened(small, _MOST_EXAMPLES)}. They can decide little.",
        "Add rows, or give environments with the same targets one label.",
    )


def _place(environments: Table, shift: Shift) -> str:
    """Return the variable and the environment of a shift."""
    return f"{environments.names[shift.node]!r} in {environments.labels[shift.environment]!r}"


def _places(environments: Table, shifts: list[Shift]) -> str:
    """Return the variables and environments of some shifts."""
    return shortened([_place(environments, shift) for shift in shifts], _MOST_EXAMPLES)
