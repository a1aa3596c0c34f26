"""Variables and levels that others determine: by regression, categories by counts and by ranges."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import Verdict, ok, warning
from golem.data.moments import Moments
from golem.data.variables import Coding
from golem.graphs.edges import Edges
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import Drop, Text
from golem.runtime.types import Matrix, Vector
from golem.score.table_regression import regress_block

# A variable is determined by others if they leave less than this share of its variance in some direction.
_DETERMINED = 1e-6
# With fewer rows per level or combination of levels, a category can be determined by accident.
_ROWS_PER_COMBINATION = 5
# Most categories that others do not determine differ within the first rows.
_FIRST_ROWS = 1000


def find_determined(checked: CheckedModel) -> Verdict | None:
    """Find variables, and levels, that others determine: their edges say little.

    Regressions find those that are linear in the columns of others. With rows, categories that are another function of
    their neighbours are found as well, such as `c` if it is "yes" where `a` and `b` are, or groups of ages.
    """
    moments, coding, graph, rows = checked.moments, checked.table.coding, checked.model.graph_, checked.rows
    if not coding.categories:
        return None
    if moments.n <= moments.d + 1:
        return ok("With so few rows every column is determined by others.")
    alone, in_part = _by_regression(moments, coding)
    whole = {j: by[:1] for j, by in alone.items()}
    by_rows = [] if rows is None else [*_by_counts(graph, coding, rows).items(), *_by_ranges(graph, coding, rows)]
    ranges: dict[int, tuple[int, ...]] = {}
    for j, by in by_rows:
        if j not in whole and j not in ranges:
            (whole if all(coding.variables[i].is_category for i in by) else ranges)[j] = by
            in_part = {i: levels for i, levels in in_part.items() if i not in (j, *by)}
    if not (whole or ranges or in_part):
        return ok("No variable is determined by others.")
    found = [
        *([_whole_words(moments, coding, whole, alone)] if whole else []),
        *([_range_words(coding, ranges)] if ranges else []),
        *([_part_words(coding, in_part)] if in_part else []),
    ]
    sentence = (
        "The strengths and directions of edges between these variables are not reliable, and their edges to other "
        "variables may be attached to the wrong one of them."
    )
    parts, remedies = zip(*found, strict=True)
    return warning(" ".join([*parts, sentence]), Text.of_sentences(remedies))


def _whole_words(
    moments: Moments, coding: Coding, whole: dict[int, tuple[int, ...]], alone: dict[int, tuple[int, ...]]
) -> tuple[str, str]:
    """Say which variables others determine, and which to drop."""
    listed = [
        f"{coding.names[j]!r} by {' and '.join(repr(coding.names[i]) for i in by) or 'the others together'}"
        for j, by in whole.items()
    ]
    pairs = [(j, i) for j, by in alone.items() for i in by]
    pairs += [(j, by[0]) for j, by in whole.items() if j not in alone and len(by) == 1]
    drop = _to_drop(moments, coding, pairs, [j for j, by in whole.items() if len(by) > 1])
    are = "is" if len(whole) == 1 else "are"
    return (
        f"{counted(len(whole), 'variable')} {are} determined by others: {shortened(listed, 4)}.",
        Text("Drop columns so that none follows from others, e.g. ", Drop(drop), "."),
    )


def _range_words(coding: Coding, ranges: dict[int, tuple[int, ...]]) -> tuple[str, str]:
    """Say which categories have levels that are ranges of a number; this can be the effect of the category."""
    listed = [f"{coding.names[j]!r} by {coding.names[i]!r}" for j, (i,) in ranges.items()]
    return (
        f"In this table, numbers determine categories whose levels are separate ranges: {shortened(listed, 4)}.",
        Text.of(
            "Drop categories that were cut from a number, e.g. {drop}. Keep those that were observed on their own, "
            "such as a treatment with a large effect on the number.",
            drop=Drop([coding.names[j] for j in ranges][:4]),
        ),
    )


def _part_words(coding: Coding, in_part: dict[int, tuple[str, ...]]) -> tuple[str, str]:
    """Say which levels others determine."""
    listed = [f"{coding.names[j]!r}{f' ({quoted(levels, 3)})' if levels else ''}" for j, levels in in_part.items()]
    return (
        f"Other variables determine some levels of {shortened(listed, 4)}.",
        "If a level such as 'unknown' is in the same rows of several columns, mark it as missing.",
    )


def _to_drop(moments: Moments, coding: Coding, pairs: Sequence[tuple[int, int]], several: Sequence[int]) -> list[str]:
    """Return few variables without which others determine no variable.

    `pairs` are variables and others that determine them alone, and `several` are those that several determine.
    """
    dropped, left = set(several), list(pairs)
    while left := [pair for pair in left if dropped.isdisjoint(pair)]:
        counts, determined = Counter(itertools.chain(*left)), {j for j, _ in left}
        # One that is in most pairs, then one that is determined, then the last.
        dropped.add(max(counts, key=lambda k: (counts[k], k in determined, k)))
    while True:
        names = [name for j, name in enumerate(coding.names) if j not in dropped]
        rest = coding.selected(names)
        together = [j for j, levels in _suspects(moments.selected(names), rest).items() if levels is None]
        if not together:
            return [name for j, name in enumerate(coding.names) if j in dropped]
        dropped.add(coding.names.index(names[together[-1]]))


def _by_regression(moments: Moments, coding: Coding) -> tuple[dict[int, tuple[int, ...]], dict[int, tuple[str, ...]]]:
    """Return the variables that others determine, with all that do so alone, and those determined in part."""
    suspects = _suspects(moments, coding)
    alone = {j: _determining(moments, coding, j) for j in suspects}
    # A variable that determines another one is itself determined in part, so this is not reported.
    determining = set(itertools.chain(*alone.values()))
    found = {j: by for j, by in alone.items() if by or j not in determining}
    in_part = {j: levels for j, by in found.items() if not by and (levels := suspects[j]) is not None}
    return {j: by for j, by in found.items() if j not in in_part}, in_part


def _suspects(moments: Moments, coding: Coding) -> dict[int, tuple[str, ...] | None]:
    """Return the variables that all others together determine in some direction.

    If they do not determine it wholly, its levels that they determine come with it; there may be none, as a direction
    can combine levels.
    """
    S, scale = moments.covariance, np.sqrt(moments.variances)
    unit = np.where(scale > 0, scale, 1.0)  # a level may vary between environments alone
    R = S / np.outer(unit, unit)
    R[np.diag_indices_from(R)] = 1 + _DETERMINED**2
    precision = np.linalg.inv(R)
    found: dict[int, tuple[str, ...] | None] = {}
    for j, (a, b) in enumerate(zip(coding.first, coding.first[1:], strict=False)):
        residual = np.linalg.inv(precision[a:b, a:b])
        shares = _shares(residual, R[a:b, a:b])
        if shares[0] < _DETERMINED:
            found[j] = None
            if shares[-1] >= _DETERMINED:
                left, own = residual * np.outer(scale[a:b], scale[a:b]), S[a:b, a:b]
                # The first level has no column; its indicator is one minus the sum of the others.
                left, own = (np.append(one.sum(), np.diagonal(one)) for one in (left, own))
                levels = zip(coding.variables[j].levels, left < _DETERMINED * own, strict=True)
                found[j] = tuple(level for level, is_determined in levels if is_determined)
    return found


def _determining(moments: Moments, coding: Coding, j: int) -> tuple[int, ...]:
    """Return the variables that alone determine variable j."""
    S, first, found = moments.covariance, coding.first, []
    own = np.arange(first[j], first[j + 1])
    own = own[np.diagonal(S)[own] > 0]
    for i in range(len(coding.names)):
        fit = None if i == j else regress_block(S, moments.n, own, np.arange(first[i], first[i + 1]))
        if fit is not None and _shares(fit.residual, S[np.ix_(own, own)])[-1] < _DETERMINED:
            found.append(i)
    return tuple(found)


def _shares(residual: Matrix, total: Matrix) -> Vector:
    """Return the shares of the variance that are left in the directions of a block, from the smallest."""
    from scipy.linalg import eigh

    return np.asarray(eigh(residual, total, eigvals_only=True))


def _by_counts(graph: Edges, coding: Coding, rows: NDArray[np.generic]) -> dict[int, tuple[int, ...]]:
    """Return at most one category per family (a node and its parents) that others of the family determine.

    Which of them is the child can be arbitrary, so every member is tried, the child first.
    """
    found = {}
    for child in range(graph.d):
        members = [child, *graph.causes[graph.children == child].tolist()]
        members = [i for i in members if coding.variables[i].is_category]
        for j in members if len(members) > 2 else ():  # regressions find one that another alone determines
            by = _function_of(rows, j, [i for i in members if i != j])
            if by:
                found[j] = by
                break
    return found


def _by_ranges(graph: Edges, coding: Coding, rows: NDArray[np.generic]) -> Iterator[tuple[int, tuple[int]]]:
    """Yield the categories whose levels are ranges of a neighbour that is a number, such as groups of ages."""
    for edge in graph.pairs():
        j, i = sorted(edge, key=lambda k: not coding.variables[k].is_category)
        if coding.variables[j].is_category and not coding.variables[i].is_category and _are_ranges(rows, j, i):
            yield j, (i,)


def _are_ranges(rows: NDArray[np.generic], j: int, i: int) -> bool:
    """Return whether the levels of category j, each with enough rows, are ranges of number i that do not overlap."""
    numbers = [rows[rows[:, j] == level, i] for level in np.unique(rows[:, j])]
    ranges = sorted((own.min(), own.max()) for own in numbers)
    are_usable = len(numbers) > 1 and min(map(len, numbers)) >= _ROWS_PER_COMBINATION
    return are_usable and all(low[1] < high[0] for low, high in itertools.pairwise(ranges))


def _function_of(rows: NDArray[np.generic], j: int, others: Sequence[int]) -> tuple[int, ...]:
    """Return those of some categories that determine category j; none if they do not, or maybe by accident."""
    if not (_is_function(rows[:_FIRST_ROWS], j, others) and _is_function(rows, j, others)):
        return ()
    by = list(others)
    for i in others:
        fewer = [k for k in by if k != i]
        by = fewer if fewer and _is_function(rows, j, fewer) else by
    _, first, counts = np.unique(_combinations(rows, by), return_index=True, return_counts=True)
    levels = rows[first, j].astype(np.intp)
    rarer = counts[levels != np.bincount(levels, weights=counts).argmax()]
    return tuple(by) if len(rarer) and min(counts.mean(), rarer.mean()) >= _ROWS_PER_COMBINATION else ()


def _is_function(rows: NDArray[np.generic], j: int, others: Sequence[int]) -> bool:
    """Return whether rows that agree in some categories also agree in category j."""
    return bool(_combinations(rows, others).max() == _combinations(rows, [*others, j]).max())


def _combinations(rows: NDArray[np.generic], columns: Sequence[int]) -> NDArray[np.intp]:
    """Return, for each row, the number of its combination of levels of some columns, counted from 0."""
    found = np.zeros(len(rows), dtype=np.intp)
    for j in columns:
        codes = rows[:, j].astype(np.intp)
        found = np.unique(found * (codes.max() + 1) + codes, return_inverse=True)[1]
    return found
