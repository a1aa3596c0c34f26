"""Checks of the edges as a whole: too many for the rows, none, and weights outside their own bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.estimator.settings import is_counted
from golem.runtime.messages import counted, shortened
from golem.runtime.problems import Bare, Set, Text
from golem.score.sparsity import L0

if TYPE_CHECKING:
    from golem.assessment.bootstrap_result import Bootstrap
    from golem.estimator.golem import Golem

# Sparse graphs have up to four parents per node. Beyond, a graph is dense if it has this share of all pairs, or fewer
# rows per parent than regressions need.
_MANY_PARENTS = 4.0
_LARGE_SHARE = 0.3
_FEW_ROWS_PER_PARENT = 50
# A number so many times the penalty of "mbic" is more likely in another unit than meant.
_HUGE_PENALTY = 10.0
_OF_NUMBERS = Text.of(
    "Look for a sparser graph: {select='stability'} chooses a higher penalty per edge if the edges "
    "differ between halves of the rows."
)
_WITH_CATEGORIES = Text("Look for a sparser graph with a higher penalty per edge (", Set("lambda_sparsity"), ").")


def find_density(model: Golem) -> Finding:
    """Check that the graph is sparse, as the penalty assumes, but not empty because of the unit of the penalty."""
    n, d, edges = model.moments_.n, model.graph_.d, int(model.adjacency_.sum())
    if not edges and (huge := _huge_penalty(model, n, d)) is not None:
        return huge
    parents = edges / d
    share = edges / max(d * (d - 1) / 2, 1)
    rows = model.moments_.rows_in_words
    few_rows = n < _FEW_ROWS_PER_PARENT * parents
    numbers = f"{counted(edges, 'edge')} among {d} variables ({parents:.1f} per variable, {share:.0%} of all pairs)"
    if parents <= _MANY_PARENTS or not (few_rows or share > _LARGE_SHARE):
        return Finding("density", "ok", f"The graph is not too dense for {rows}: {numbers}.")
    return Finding(
        "density",
        "warning" if few_rows else "note",
        f"The graph is dense for {rows}: {numbers}. Dependent rows, nonlinear effects, long tails and nearly "
        "identical columns all cause many weak edges.",
        _OF_NUMBERS if model.score_ == "gaussian" else _WITH_CATEGORIES,
    )


def _huge_penalty(model: Golem, n: int, d: int) -> Finding | None:
    """Return a finding if the penalty is a number far above that of "mbic"; it is per row, not on the deviance."""
    given, usual = model.edge_penalty_.criterion, float(L0().penalties(n, max(d, 2))[1])
    if isinstance(given, str) or not is_counted(model) or 2 * n * given < _HUGE_PENALTY * usual:
        return None
    used, meant = (Set("lambda_sparsity", Bare(number)) for number in (f"{given:g}", f"{given / (2 * n):.3g}"))
    sentence = Text(
        f"The graph has no edges. For {n} rows, ",
        used,
        f" is a penalty of {2 * n * given:.6g} per edge in units of the deviance (2 n lambda). That of mbic, the "
        f"default, is {usual:.3g}.",
    )
    remedy = Text(f"For a penalty of {given:g} per edge, use ", meant, f" ({given:g} / 2n).")
    return Finding("density", "note", sentence, remedy)


def find_outside_intervals(model: Golem, bootstrap: Bootstrap) -> Finding:
    """Find weights outside their own bootstrap intervals, and explain them.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> model = Golem().fit(drawn.data)
    >>> import golem
    >>> from golem.diagnostics import find_outside_intervals
    >>> find_outside_intervals(model, golem.bootstrap(model, drawn.data, 20, random_state=0)).name
    'intervals'
    """
    name, names, weights = "intervals", model.moments_.variables, model.weights_
    low, high = bootstrap.weight_interval
    outside = model.adjacency_ & ((weights < low) | (weights > high))
    if np.isnan(weights[model.adjacency_]).all() and model.adjacency_.any():
        return Finding(name, "ok", "No edge has a weight, so there are no bootstrap intervals of weights.")
    if not outside.any():
        return Finding(name, "ok", "All weights are within their bootstrap intervals.")
    rare = outside & (bootstrap.direction_frequency <= 0.5)
    parts = []
    for edges, reason in (
        (rare, "most graphs of the bootstrap lack or reverse the edge, and its weight then counts as 0"),
        (outside & ~rare, "most graphs of the bootstrap have the edge, but other parents of its effect, and the weight "
         "depends on these parents"),
    ):  # fmt: skip
        listed = [f"{names[i]!r} -> {names[j]!r}" for i, j in np.argwhere(edges)]
        if listed:
            parts.append(f"For {shortened(listed, 3)}, {reason}.")
    count = int(outside.sum())
    are = "1 weight lies outside its" if count == 1 else f"{count} weights lie outside their"
    return Finding(
        name,
        "note",
        f"{are} bootstrap interval. {' '.join(parts)}",
        "Do not rely on these weights; the frequencies show how often such an edge is found.",
    )
