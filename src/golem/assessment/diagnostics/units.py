"""The unit test: how much of a graph is left when the columns are standardized, and what sorting alone would find."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from golem.assessment.diagnostics.finding import Finding
from golem.baselines import SortRegress
from golem.data.moments import Moments
from golem.estimator.golem import Golem, is_counted
from golem.runtime.types import BoolMatrix, Vector
from golem.score.likelihood import GaussianNV
from golem.solvers import Status

# Sorting needs a lasso a node: up to here it takes a fraction of the fit.
LARGEST_SORTED = 50
_MANY_LOST = 0.2


@dataclass(frozen=True)
class Survival:
    """What of one graph is found again in another.

    Parameters
    ----------
    edges, kept : int
        Adjacencies of the first graph, and those of them that the second has, in any direction.
    directions, kept_directions : int
        Edges of the first whose direction rests on evidence, and those of them that the second directs alike.
    opened, turned : int
        Of the others: those that the second joins but leaves open, and those that it directs the other way.
    """

    edges: int
    kept: int
    directions: int
    kept_directions: int
    opened: int
    turned: int

    @property
    def lost(self) -> float:
        """The larger of the shares of adjacencies and of directions that are not kept."""
        shares = [(self.edges, self.kept), (self.directions, self.kept_directions)]
        return max(1 - kept / total if total else 0.0 for total, kept in shares)


def survival(graph: BoolMatrix, decided: BoolMatrix, other: BoolMatrix, other_decided: BoolMatrix) -> Survival:
    """Compare two graphs, directions where both have decided on one.

    Examples
    --------
    >>> graph = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    >>> turned = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0]], dtype=bool)
    >>> survival(graph, graph, turned, turned)
    Survival(edges=2, kept=2, directions=2, kept_directions=1, opened=0, turned=1)
    """
    joined = other | other.T
    return Survival(
        int(graph.sum()),
        int((graph & joined).sum()),
        int(decided.sum()),
        int((decided & other_decided).sum()),
        int((decided & joined & ~other_decided & ~other_decided.T).sum()),
        int((decided & other_decided.T).sum()),
    )


def standardized_refit(model: Golem) -> Golem:
    """Fit the same settings to the columns divided by their standard deviations.

    With solver="order" the refit has free noise variances: to that noise="auto" comes on standardized columns, at
    several times the cost, and under noise="ev" there nothing but rounding would say which column comes first. It
    searches with effort="fast", unless the model was made with an effort of its own.
    """
    scale = np.sqrt(model.moments_.variances)
    refit: Golem = clone(model).set_params(callback=None, knowledge=model.knowledge_)
    if is_counted(model):
        refit.set_params(noise="nv", device="cpu", dtype="float64")
        if model.effort is None and isinstance(model.solver, str):
            refit.set_params(effort="fast")
    elif isinstance(model.init, np.ndarray):
        refit.set_params(init=model.init * scale[:, None] / scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of equal scales and few rows, and of what the fit itself has told
        refit.fit(model.moments_.standardized())
    if refit.solution_.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return refit


def sortability(adjacency: BoolMatrix, key: Vector) -> float:
    """Share of the graph's directed paths, counted once for each pair and length, along which a number increases.

    With the columns' variances this is the varsortability of Reisach, Seiler and Weichwald (2021), with their R2 on all
    others the R2-sortability of Reisach et al. (2023). At 1 sorting the columns finds the order of the graph, at 0.5 it
    says nothing. NaN for a graph without edges.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> sortability(chain, np.array([1.0, 2.0, 1.5]))  # 0 -> 1, 0 -> 2 rise, 1 -> 2 falls
    0.6666666666666666
    """
    from scipy.sparse import csr_array

    edges = csr_array(adjacency.astype(np.float64))
    paths, rising, count = edges, 0.0, 0
    while paths.nnz:
        sources, targets = paths.nonzero()
        rising += float((key[sources] < key[targets]).sum() + 0.5 * (key[sources] == key[targets]).sum())
        count += len(sources)
        paths = (paths @ edges).astype(bool).astype(np.float64)
    return rising / count if count else float("nan")


def find_units(model: Golem, refit: bool | None, largest: int) -> Finding:
    """Tell how much of the graph rests on the units of the columns."""
    graph, moments = model.adjacency_, model.moments_
    if not graph.any():
        return Finding("units", "ok", "No edges, so nothing rests on the units of the columns.")
    if isinstance(model.likelihood_, GaussianNV) and is_counted(model):
        return Finding(
            "units",
            "ok",
            "With free noise variances and counted edges the equivalence class does not depend on the units.",
        )
    beside = _sorting(graph, graph & ~model.undecided_, moments)
    too_large = moments.d > largest
    if refit is False or (refit is None and (too_large or not is_counted(model))):
        reason = f"d = {moments.d} is large" if too_large else "the solver is slow" if refit is None else "left out"
        return Finding(
            "units",
            "note",
            f"Not checked, as {reason}: whether the graph survives standardizing the columns; "
            f"{int(model.by_variance_.sum())} of {int(graph.sum())} directions rest on the noise variances alone, and "
            f"{beside}.",
            "Fit the standardized columns too (diagnose(model, refit=True) does), and believe what both share.",
        )
    again = standardized_refit(model)
    found = survival(graph, graph & ~model.undecided_, again.adjacency_, again.adjacency_ & ~again.undecided_)
    fate = [f"{count} {what}" for count, what in ((found.opened, "left open"), (found.turned, "turned")) if count]
    directions = f" and {found.kept_directions} of {found.directions} directions" if found.directions else ""
    sentence = (
        f"Standardized columns keep {found.kept} of {found.edges} edges{directions}"
        f"{' (' + ', '.join(fate) + ')' if fate else ''}; {beside}."
    )
    if found.lost == 0:
        return Finding("units", "ok", sentence)
    remedy = "Believe the rest only if the columns have comparable units; --noise nv does without them."
    return Finding("units", "warning" if found.lost > _MANY_LOST else "note", sentence, remedy)


def _sorting(graph: BoolMatrix, decided: BoolMatrix, moments: Moments) -> str:
    """Tell what sorting the columns would find."""
    if moments.n <= moments.d + 1:
        return f"varsortability {sortability(graph, moments.variances):.2f}"
    r2 = 1 - 1 / np.diagonal(np.linalg.inv(moments.standardized().covariance))
    keys = {"variance": sortability(graph, moments.variances), "r2": sortability(graph, r2)}
    if moments.d > LARGEST_SORTED or not decided.any():
        return f"varsortability {keys['variance']:.2f}, R2-sortability {keys['r2']:.2f}"
    counts: dict[str, Any] = {}
    for by in ("variance", "r2"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of equal scales: the sortability tells
            counts[by] = int((SortRegress(by).fit(moments).adjacency_ & decided).sum())
    return (
        f"sorting by variance alone finds {counts['variance']} of these directions, by R2 {counts['r2']} "
        f"(varsortability {keys['variance']:.2f})"
    )
