"""Checks of experiments: targets without an effect, shifts of other variables, hard targets with parents, few rows.

The mechanism of a variable is its regression on its parents: intercept, slopes and variance of the noise. An experiment
must change the mechanisms of its targets and no others. Mechanisms are compared with those in the observational
environments or, if there are none, in all others that do not target the variable. Tests of moments assume normal noise;
those of rows, which a model with rows has made already, do not. Mechanisms of categories are not tested, because the
probabilities of their levels are not linear in the parents.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import Verdict, note, ok, warning
from golem.assessment.p_values import holm, p_text
from golem.directions.equivalence_class import parent_lists
from golem.directions.experiments import Shift
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import Set, Text
from golem.runtime.types import Indices, Matrix, Vector

if TYPE_CHECKING:
    from golem.data.moments import Moments
    from golem.data.table import Table

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


def _shifts(checked: CheckedModel) -> list[Shift] | None:
    """Return how mechanisms differ between environments; None without environments or numbers, and for too many."""
    environments = checked.table.environments
    if not environments or not len(checked.numbers) or len(environments) * checked.table.d > _MOST_PAIRS:
        return None
    return mechanism_shifts(checked.table, parent_lists(checked.model.graph_))


def _off_target(checked: CheckedModel) -> list[Shift]:
    """Return the shifts of variables that are not targets."""
    return [shift for shift in checked.once(_shifts) or () if not shift.is_target]


def mechanism_shifts(environments: Table, parents: Sequence[Sequence[int]]) -> list[Shift]:
    """Compare the mechanism of every number in every environment with that in others.

    Parameters
    ----------
    environments : Table
        The environments.
    parents : sequence of d sequences
        The parents of each variable.
    """
    observational = [e for e, targets in enumerate(environments.targets) if not targets]
    first, numbers = environments.coding.first, np.flatnonzero(environments.coding.levels == 0)
    columns = [[k for i in sorted(own) for k in range(first[i], first[i + 1])] for own in parents]
    group = functools.cache(
        lambda which: _Group(environments.pooled(which), sum(environments.parts[k].moments.n for k in which))
    )
    shifts = []
    for e, targets in enumerate(environments.targets):
        for j in numbers.tolist():
            others = tuple(k for k in (observational or environments.without(j)) if k != e)
            if others:
                tests = _compare(group((e,)), group(others), int(first[j]), np.array(columns[j], dtype=np.intp))
                shifts.append(Shift(e, j, j in targets, tests))
    return shifts


class _Group(NamedTuple):
    """Environments taken together, each about its own mean."""

    moments: Moments
    rows: int


class _Regression(NamedTuple):
    """A regression of a variable on its parents."""

    slopes: Vector
    variance: float
    freedom: int
    spread: Matrix  # covariance of the slopes


def _regress(group: _Group, j: int, P: Indices) -> _Regression | None:
    """Regress a column on those of its parents; None if there are too few rows or one of these does not vary."""
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


def find_dependent_targets(checked: CheckedModel) -> Verdict | None:
    """Find targets of hard interventions that still depend on their parents."""
    hardness, score = checked.model.graph_.hardness, checked.model.fit_.score
    if score.intervention != "hard" or checked.once(_shifts) is None:
        return None
    if hardness is None:
        return note(
            f"Not checked, {_WITHOUT_ROWS}: whether targets of hard interventions depend on their parents.", _GIVE_ROWS
        )
    if not hardness.tested:
        return ok("No target of a hard intervention has parents that are certain, so hardness could not be tested.")
    if not hardness.dependent:
        return ok("No target of a hard intervention depends on its parents.")
    wrong = hardness.dependent
    examples = [f"{_place(checked.table, e, j)} (R2 {r2:.2f})" for e, j, r2 in wrong]
    return warning(
        f"{len(wrong)} of {counted(hardness.tested, 'target')} with parents still "
        f"{'depends' if len(wrong) == 1 else 'depend'} on them, although the interventions are said to be hard: "
        f"{shortened(examples, _MOST_EXAMPLES)}. So experiments settle no direction"
        f"{'' if hardness.is_refuted else ' of their edges'}.",
        Text("Use ", Set("intervention", "soft"), "."),
    )


def find_off_target(checked: CheckedModel) -> Verdict | None:
    """Find variables whose mechanism shifts in an environment that does not target them."""
    if checked.once(_shifts) is None:
        return None
    shifts, table = _off_target(checked), checked.table
    p = np.array([shift.p_values for shift in shifts]).reshape(-1, len(PARTS))
    tested, adjusted = np.isfinite(p), _adjusted(p)
    found = adjusted < LEVEL
    means_alone = found[:, 0] & ~found[:, 1:].any(axis=1)
    serious = np.flatnonzero(found.any(axis=1) & ~(means_alone & (not _uses_means(checked))))
    if not len(serious):
        moved = int(means_alone.sum())
        allowed = f", except for {counted(moved, 'shifted mean')}, which separate intercepts allow for" if moved else ""
        return ok(f"Given its parents, no variable changes in an environment that does not target it{allowed}.")
    worst = serious[np.argsort(np.where(tested, p, 1.0)[serious].min(axis=1), kind="stable")]
    parts = [", ".join(part for part, is_found in zip(PARTS, row, strict=True) if is_found) for row in found[worst]]
    examples = [
        f"{place} ({part})" for place, part in zip(_places(table, [shifts[k] for k in worst]), parts, strict=True)
    ]
    smallest = float(np.where(tested, adjusted, 1.0)[worst[0]].min())
    many = "Once a variable changes" if len(serious) == 1 else f"{len(serious)} times a variable changes"
    return warning(
        f"{many} in an environment that does not list it as a target: {shortened(examples, _MOST_EXAMPLES)} "
        f"({counted(len(shifts), 'pair')} of variable and environment tested; corrected {p_text(smallest)} for the "
        "first).",
        "Add the variables to the targets of these environments, or leave out the environments. A wrong parent or a "
        "curved effect can also cause this.",
    )


def find_effects(checked: CheckedModel) -> Verdict | None:
    """Find targets whose mechanism is the same as in other environments.

    Shared intercepts are suggested only if the environments are comparable.
    """
    table, found, checks = checked.table, checked.once(_shifts), checked.model.graph_.experiments
    if not table.environments:
        return None
    if found is None and len(checked.numbers):
        sentence = f"Not checked, because there are {len(table.parts) * table.d} pairs of environment and variable"
        return note(f"{sentence}: effects of experiments.", "Check environments with fewer columns.")
    shifts = () if checks is None else checks.effects
    shifts = shifts or tuple(shift for shift in found or () if shift.is_target)
    silent, only_mean = _without_effect(shifts, _uses_means(checked))
    more = _untested_targets(table)
    if more and not shifts:
        return note(more, "Compare how often each level occurs in the environments.")
    more = f" {more}" if more else ""
    if silent:
        return warning(
            f"{len(silent)} of {counted(len(shifts), 'target')} {'shows' if len(silent) == 1 else 'show'} no effect: "
            f"{shortened(_places(table, silent), _MOST_EXAMPLES)}. An experiment without an effect settles no "
            f"direction.{more}",
            "Check that these experiments worked. Give an environment [] as targets if its experiment failed.",
        )
    if only_mean:
        return note(
            f"{_only_means(table, only_mean)} With separate intercepts, a change of the mean gives no evidence about "
            f"directions.{more}",
            Text.of("If nothing else differs between the experiments (no batch effects), use {intercepts='shared'}.")
            if _comparable(_off_target(checked))
            else "",
        )
    return ok(f"All {counted(len(shifts), 'target')} show an effect.{more}")


def _untested_targets(table: Table) -> str:
    """Name the targets that are categories; empty if there are none."""
    nodes = sorted({j for own in table.targets for j in own if table.coding.levels[j]})
    are = "it is a category" if len(nodes) == 1 else "they are categories"
    names = quoted([table.names[j] for j in nodes], _MOST_EXAMPLES)
    return f"The effect of experiments on {names} was not checked, because {are}." if nodes else ""


def _uses_means(checked: CheckedModel) -> bool:
    """Return whether the means of environments are evidence."""
    return checked.model.fit_.score.intercepts == "shared"


def _without_effect(shifts: Sequence[Shift], uses_means: bool) -> tuple[list[Shift], list[Shift]]:
    """Return the targets that show no effect, and those that show one of the mean alone, if means are not evidence."""
    silent, only_mean = [], []
    for shift in shifts:
        p = np.array(shift.p_values)
        if np.isnan(p).all():
            continue
        p = p * np.isfinite(p).sum()
        if np.nanmin(p) > _WEAK_LEVEL:
            silent.append(shift)
        elif not uses_means and not (p[1:] <= _WEAK_LEVEL).any():
            only_mean.append(shift)
    return silent, only_mean


def _comparable(off_target: list[Shift]) -> bool:
    """Return whether few variables shift, in mean, slopes or noise, where they are not targets."""
    p = np.array([shift.p_values for shift in off_target]).reshape(-1, len(PARTS))
    return bool((_adjusted(p) < LEVEL).any(axis=1).sum() <= _FEW_SHIFTS * len(off_target))


def _adjusted(p: Matrix) -> Matrix:
    """Return p-values that are corrected for their number; 1 where nothing was tested."""
    tested, adjusted = np.isfinite(p), np.ones(p.shape)
    adjusted[tested] = holm(p[tested])
    return adjusted


def _only_means(table: Table, shifts: list[Shift]) -> str:
    """Say which experiments change only the mean of a target."""
    if len(shifts) > 1:
        places = shortened(_places(table, shifts), _MOST_EXAMPLES)
        return f"{len(shifts)} experiments changed only the mean of their target: {places}."
    label, name = table.labels[shifts[0].environment], table.names[shifts[0].node]
    return f"The experiment {label!r} changed only the mean of its target {name!r}."


def find_normality(checked: CheckedModel) -> Verdict | None:
    """Find environments whose residuals are not normal."""
    checks = checked.model.graph_.experiments
    if checked.once(_shifts) is None:
        return None
    if checks is None:
        return note(
            f"Not checked, {_WITHOUT_ROWS}: whether the noise is normal in each environment. With heavy tails, "
            "covariances differ between environments by chance. So experiments settle no direction here.",
            _GIVE_ROWS,
        )
    found = _adjusted(checks.normality) < LEVEL
    tested = int(np.isfinite(checks.normality).any(axis=1).sum())
    if not tested:
        reason = "every environment has few rows" if checked.is_linear else "few rows or categories leave no residuals"
        return note(f"Not checked, because {reason}: whether the noise is normal.")
    environments = counted(len(found), "environment")
    if not found.any():
        return ok(f"Residuals do not differ from normal ones in {tested} of {environments} that could be tested.")
    examples = [_place(checked.table, e, j) for e, j in np.argwhere(found)]
    return note(
        f"Residuals are not normal in {int(found.any(axis=1).sum())} of {environments} "
        f"({shortened(examples, _MOST_EXAMPLES)}). Directions by interventions do not assume normal noise; off-target "
        "does, and may find too much.",
    )


def find_small(checked: CheckedModel) -> Verdict | None:
    """Find environments with few rows."""
    sizes = {part.label: part.moments.n for part in checked.table.environments}
    if not sizes:
        return None
    small = [f"{label!r} ({n})" for label, n in sizes.items() if n < _FEW_ROWS]
    if not small:
        return ok(f"Every environment has at least {min(sizes.values())} rows.")
    return note(
        f"{len(small)} of {counted(len(sizes), 'environment')} {'has' if len(small) == 1 else 'have'} fewer than "
        f"{_FEW_ROWS} rows: {shortened(small, _MOST_EXAMPLES)}. They can settle little.",
        "Add rows, or give environments with the same targets one label.",
    )


def _place(table: Table, environment: int, node: int) -> str:
    """Return a variable and an environment as text."""
    return f"{table.names[node]!r} in {table.labels[environment]!r}"


def _places(table: Table, shifts: Sequence[Shift]) -> list[str]:
    """Return the variables and environments of some shifts as text."""
    return [_place(table, shift.environment, shift.node) for shift in shifts]
