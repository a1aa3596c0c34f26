"""Graphs that are learned again: with standardized columns, and with the columns in reverse order."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import USE_FREE_VARIANCES, Verdict, edge_texts, note, ok
from golem.assessment.second_search import LARGEST, SecondSearch, fit_quietly, links, second_search
from golem.data.table import Table
from golem.estimator.fit import learn_scored
from golem.estimator.golem import Golem
from golem.estimator.settings import is_counted
from golem.runtime.messages import counted, shortened
from golem.runtime.problems import Set, Text
from golem.runtime.types import BoolMatrix
from golem.score.likelihood import GaussianNV
from golem.score.node_score import Variant
from golem.score.solution import Status

# With more columns, standardized ones are not fitted again.
LARGEST_REFIT = 500
# The share of edges or directions that may change without a warning.
_FEW = 0.2
_CHECK_IT = "Check it in Python: golem.diagnose(model, X, refit=True)."


@dataclass(frozen=True)
class Survival:
    """How much of one graph is found again in another.

    Parameters
    ----------
    edges, kept : int
        Edges of the first graph, and how many of them join the same variables in the second, in any direction.
    directions, kept_directions : int
        Edges of the first graph with a decided direction, and how many of them have it in the second.
    opened, turned : int
        How many of these edges are undecided in the second graph, and how many are reversed.

    Examples
    --------
    >>> from golem.diagnostics import Survival
    >>> kept = Survival(edges=4, kept=3, directions=2, kept_directions=1, opened=1, turned=0)
    >>> kept.kept / kept.edges
    0.75
    """

    edges: int
    kept: int
    directions: int
    kept_directions: int
    opened: int
    turned: int

    @property
    def lost(self) -> float:
        """The share of edges or of directions that are not kept, whichever is larger."""
        shares = [(self.edges, self.kept), (self.directions, self.kept_directions)]
        return max(1 - kept / total if total else 0.0 for total, kept in shares)


def survival(graph: BoolMatrix, decided: BoolMatrix, other: BoolMatrix, other_decided: BoolMatrix) -> Survival:
    """Compare two graphs, given their edges and their edges with a decided direction.

    Examples
    --------
    >>> graph = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    >>> turned = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0]], dtype=bool)
    >>> survival(graph, graph, turned, turned)
    Survival(edges=2, kept=2, directions=2, kept_directions=1, opened=0, turned=1)
    """
    joined, claimed = other | other.T, other_decided | other_decided.T
    opened, turned = decided & joined & ~claimed, decided & other_decided.T
    parts = (graph, graph & joined, decided, decided & other_decided, opened, turned)
    return Survival(*(int(edges.sum()) for edges in parts))


def standardized_refit(model: Golem) -> Golem:
    """Fit the same settings to the columns divided by their standard deviations.

    With solver="order" the refit has free noise variances, which noise="auto" would choose for standardized columns at
    several times the cost, and searches with effort="fast" unless the model has an effort of its own.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> model = Golem().fit(drawn.data)
    >>> from golem.diagnostics import standardized_refit
    >>> standardized_refit(model).adjacency_.shape
    (4, 4)
    """
    scale = np.sqrt(model.moments_.variances)
    # The moments are those of the fit: of ranks, if it used them.
    refit: Golem = clone(model).set_params(callback=None, knowledge=model.knowledge_, robust="off")
    if is_counted(model):
        refit.set_params(noise="nv", device="cpu", dtype="float64")
        if model.effort is None and isinstance(model.solver, str):
            refit.set_params(effort="fast")
    elif isinstance(model.init, np.ndarray):
        refit.set_params(init=model.init * scale[:, None] / scale)
    return fit_quietly(refit, model.moments_.standardized())


def find_units(checked: CheckedModel) -> Verdict | None:
    """Check how much of the graph depends on the units of the columns."""
    model, graph, d, refit = checked.model, checked.graph, checked.table.d, checked.refit
    if not checked.is_linear:
        return None
    if not graph.any():
        return ok("There are no edges that could depend on the units of the columns.")
    if isinstance(model.likelihood_, GaussianNV) and is_counted(model) and not model.by_variance_.any():
        return ok("With free noise variances the equivalence class does not depend on the units.")
    is_large = d > LARGEST_REFIT
    if refit is False or (refit is None and (is_large or not is_counted(model))):
        reason = f"there are {d} columns" if is_large else "the solver is slow" if refit is None else "refit=False"
        return note(
            f"Not checked, because {reason}: whether the graph depends on the units. Of its {int(graph.sum())} "
            f"directions, {int(model.by_variance_.sum())} depend only on the noise variances.",
            _CHECK_IT,
        )
    # Directions by shape do not depend on the units, and the refit has no rows to find them.
    again, decided = standardized_refit(model), graph & ~model.undecided_ & ~model.by_shape_
    open_again = again.graph_.matrix(again.graph_.directed_by("none"))
    found = survival(graph, decided, again.adjacency_, again.adjacency_ & ~open_again)
    sentence = f"If the columns are standardized, {_kept(found)}.{_sorting(model, decided)}"
    if found.lost == 0:
        return ok(sentence)
    return Verdict("warning" if found.lost > _FEW else "note", sentence, USE_FREE_VARIANCES)


def _kept(found: Survival) -> str:
    """Say how many edges and directions remain, and what becomes of the other directions."""
    edges = f"{found.kept} of {counted(found.edges, 'edge')} remain{'s' if found.kept == 1 else ''}"
    if not found.directions:
        return edges
    if found.kept_directions == found.directions:
        return f"{edges}, and no direction changes"
    lost = found.directions - found.kept_directions - found.turned - found.opened
    counts = ((found.turned, "reversed"), (found.opened, "open"), (lost, "lost with the edge"))
    fates = [f"{count} {'is' if count == 1 else 'are'} {fate}" for count, fate in counts if count]
    kept = f"only {found.kept_directions} of {counted(found.directions, 'direction')}"
    return f"{edges}, but {kept if found.kept_directions else 'no direction does'} ({', '.join(fates)})"


def _sorting(model: Golem, decided: BoolMatrix) -> str:
    """Return how many of the directions the columns sorted by their variances give without a search."""
    if not decided.any():
        return ""
    variances = model.moments_.variances
    rising = int((decided & (variances[:, None] < variances)).sum())
    directions = counted(int(decided.sum()), "direction")
    return f" In the original units, sorting the columns by variance would already give {rising} of {directions}."


def find_search(checked: CheckedModel) -> Verdict:
    """Search once more with the columns in reverse order, and name the edges that differ."""
    model, d, refit = checked.model, checked.table.d, checked.refit
    if not is_counted(model):
        return ok("The solver does not search over orders of the columns.")
    if model.solution_.status in (Status.EXACT, Status.GRID):
        return ok("Every search was exact, so the order of the columns has no effect.")
    if refit is False or (refit is None and d > LARGEST):
        reason = "refit=False" if refit is False else f"there are {d} columns"
        return note(f"Not checked, because {reason}: whether a second search finds the same graph.", _CHECK_IT)
    again = second_search(model)
    ours, other = links(model), again.links
    pairs = np.argwhere(np.triu((ours != other) | (ours != other).T))
    if not len(pairs):
        return ok("A second search, with the columns in reverse order, found the same graph.")
    total = len(model.graph_)
    return Verdict(
        "warning" if len(pairs) > _FEW * total else "note",
        f"A second search, with the columns in reverse order, found a graph that differs in "
        f"{counted(len(pairs), 'edge')} ({shortened(edge_texts(pairs, checked.names, '---'), 4)}). "
        f"The graph shown has {counted(total, 'edge')}. {_compared(again)}",
        _remedy(model),
        f"A second search found a graph that differs in {counted(len(pairs), 'edge')}.",
        checked.named(pairs),
    )


def find_scores(checked: CheckedModel) -> Verdict | None:
    """Learn a table of categories by its other scores as well, and count the directions that all of them have."""
    score, rows = checked.model.fit_.score, checked.rows
    is_discrete = checked.table.coding.is_discrete and not checked.table.has_environments
    few = checked.refit or (checked.refit is None and checked.table.d <= score.quick_columns)
    if not is_discrete or rows is None or len(rows) != checked.moments.n or not few:
        return None
    table = Table.single(checked.moments, rows)
    variants = score.with_table(table).variants()
    directed = {variant.name: _class_directions(checked.model, variant) for variant in variants}
    agreed, found = set.intersection(*directed.values()), set.union(*directed.values())
    pairs = sorted({(min(edge), max(edge)) for edge in found - agreed})
    if not pairs:
        return ok(f"All scores of categories have the same {counted(len(agreed), 'direction')}.")
    opposite = [(i, j) for i, j in pairs if (i, j) in found and (j, i) in found]
    numbers = ", ".join(f"{len(edges)} by {name}" for name, edges in directed.items())
    shown = shortened(edge_texts(opposite or pairs, checked.names, "---"), 2)
    how = f"Two scores have opposite directions of {len(opposite)}" if opposite else "Some scores leave them open"
    return note(
        f"The scores of categories disagree on the directions of {counted(len(pairs), 'edge')}: the equivalence "
        f"classes have {numbers}. {how} ({shown}).",
        "Rely on no such direction without knowledge (required or forbidden edges, tiers) or an experiment.",
        f"The scores of categories disagree on {counted(len(pairs), 'direction')}.",
        checked.named(pairs),
    )


def _class_directions(model: Golem, variant: Variant) -> set[tuple[int, int]]:
    """Return the directions of the class of the best graph by another score."""
    settings = dataclasses.replace(model.settings, callback=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = learn_scored(variant.score(variant.table), model.knowledge_, settings).graph
    return {edge for edge, source in graph.directions().items() if source == "unchecked"}


def _remedy(model: Golem) -> str:
    """Return what to do about edges that differ; equal variances have no effort, and a thorough one is the longest."""
    if model.effort == "thorough" or model.noise == "ev":
        return "Do not rely on the edges that differ."
    return Text("Search longer with ", Set("effort", "thorough"), ", and do not rely on edges that still differ.")


def _compared(other: SecondSearch) -> str:
    """Say which of two graphs has the better score."""
    if not other.excess:
        return "Both graphs have the same score."
    better, worse = ("graph shown", "other one") if other.excess > 0 else ("other graph", "graph shown")
    difference = f"{abs(other.excess):.1f} (deviance plus penalty; lower is better)"
    return f"The {better} is better than the {worse}, by a score difference of {difference}."
