"""Checks of the learned graph: too many edges or none, weights and directions without support, and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.finding import USE_FREE_VARIANCES, Finding, Verdict, edge_texts, note, ok, warning
from golem.data.factors import few_factors
from golem.directions.equivalence_class import open_edges
from golem.directions.factors import MANY_PARENTS, hidden_factors, is_too_dense
from golem.estimator.settings import is_counted
from golem.graphs.edges import Edges
from golem.runtime.messages import counted, shortened
from golem.runtime.problems import Bare, Set, Text
from golem.score.solution import Status
from golem.score.sparsity import L0

if TYPE_CHECKING:
    from golem.assessment.bootstrap_result import Bootstrap
    from golem.estimator.golem import Golem

# With more than four parents per node a graph is dense if it has this share of all pairs, or too few rows.
_LARGE_SHARE = 0.3
# A number so many times the penalty of "mbic" is more likely in another unit than meant.
_HUGE_PENALTY = 10.0
_OF_NUMBERS = Text.of(
    "Look for a sparser graph: {select='stability'} chooses a higher penalty per edge if the edges "
    "differ between halves of the rows."
)
_WITH_CATEGORIES = Text("Look for a sparser graph with a higher penalty per edge (", Set("lambda_sparsity"), ").")
# How likely a noise model is whose penalized deviance is less than so much higher, on the scale of Kass and Raftery
# (1995, "Bayes factors"). From 10 on, the evidence against it is very strong.
_CLOSE = 10.0
_HOW_LIKELY = {2.0: "about as likely", 6.0: "less likely", _CLOSE: "much less likely but not excluded"}


def find_density(checked: CheckedModel) -> Verdict:
    """Check that the graph is sparse, as the penalty assumes, but not empty because of the unit of the penalty."""
    n, d, edges = checked.moments.n, checked.table.d, int(checked.graph.sum())
    if not edges and (huge := _huge_penalty(checked.model, n, d)) is not None:
        return huge
    parents = edges / d
    share = edges / max(d * (d - 1) / 2, 1)
    rows = checked.moments.rows_in_words
    few_rows = is_too_dense(edges, d, n)
    numbers = f"{counted(edges, 'edge')} among {d} variables ({parents:.1f} per variable, {share:.0%} of all pairs)"
    if parents <= MANY_PARENTS or not (few_rows or share > _LARGE_SHARE):
        return ok(f"The graph is not too dense for {rows}: {numbers}.")
    return Verdict(
        "warning" if few_rows else "note",
        f"The graph is dense for {rows}: {numbers}. Dependent rows, nonlinear effects, long tails and nearly "
        "identical columns all cause many weak edges."
        + (" No direction that follows from the structure is claimed." if few_rows else ""),
        _OF_NUMBERS if checked.is_linear else _WITH_CATEGORIES,
    )


def _huge_penalty(model: Golem, n: int, d: int) -> Verdict | None:
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
    return note(sentence, remedy, "No edges: the penalty per edge is very high. Is it in another unit?")


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
    name, names, graph = "intervals", model.table_.names, model.graph_
    weights, edges, links = graph.matrix(graph.weights), graph.matrix(), graph.matrix(graph.undecided)
    low, high = bootstrap.weight_interval
    outside = edges & ~links & ((weights < low) | (weights > high))
    if np.isnan(weights[edges]).all() and edges.any():
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
        if listed := edge_texts(np.argwhere(edges), names):
            parts.append(f"For {shortened(listed, 3)}, {reason}.")
    count = int(outside.sum())
    are = "1 weight lies outside its" if count == 1 else f"{count} weights lie outside their"
    return Finding(
        name,
        "note",
        f"{are} bootstrap interval. {' '.join(parts)}",
        "Do not rely on these weights; the frequencies show how often such an edge is found.",
    )


def find_factors(checked: CheckedModel) -> Verdict | None:
    """Find whether a few hidden common causes would explain the correlations better than the graph."""
    model, intercepts = checked.model, checked.model.fit_.score.intercepts
    count = hidden_factors(checked.table, intercepts, model.graph_)
    if not count:
        return None
    causes, withheld = counted(count, "hidden common cause"), "No direction that follows from the structure is claimed."
    if not (model.settings.counts_edges or few_factors(checked.table.present_moments(intercepts))):
        return note(  # not the table, but the graph may be the reason
            f"{causes.capitalize()} would explain the correlations better than this graph. {withheld}",
            "Compare the graph with that of the default method, which may fit better.",
            f"{causes.capitalize()} would explain more than this graph.",
        )
    short = " So the search was short." if model.solution_.status is Status.FACTORS else ""
    return warning(
        f"{causes.capitalize()} would explain nearly all correlations, so the edges may only imitate them.{short} "
        f"{withheld}",
        "Measure what the columns share, or subtract it: learn the graph of what the first principal components leave.",
        f"{causes.capitalize()} would explain nearly everything.",
    )


def find_directions(checked: CheckedModel) -> Verdict:
    """Find the edges whose direction has no evidence."""
    model, total, undecided = checked.model, len(checked.model.graph_), int(checked.links.sum())
    if not undecided:
        assumed = "the noise model" if checked.is_linear else "the score"
        given = assumed if model.knowledge_.is_empty else f"{assumed} and the knowledge"
        return ok(f"Given {given}, every direction has evidence." if total else "There are no edges.")
    links = np.argwhere(checked.links)
    if unchecked := int(model.graph_.directed_by("unchecked").sum()):
        more = f", and {undecided - unchecked} more have no evidence" if undecided > unchecked else ""
        told = f"{unchecked} of {counted(total, 'direction')} {'was' if unchecked == 1 else 'were'} not checked"
        return note(
            f"{told}{more}.",
            "Check them with the rows: check_directions(X), or golem fit without --evidence fast.",
            f"{told}: these edges are links.",
            checked.named(links),
        )
    return note(
        f"{undecided} of {counted(total, 'edge')} {'has' if undecided == 1 else 'have'} no evidence for "
        f"{'its' if undecided == 1 else 'their'} direction ({shortened(checked.edge_texts(links), 2)}).",
        "Add knowledge (required or forbidden edges, tiers), or do an experiment; the report ranks the variables to "
        "intervene on.",
        f"{undecided} of {counted(total, 'direction')} {'is' if undecided == 1 else 'are'} open: "
        "the data do not tell cause from effect there.",
        checked.named(links),
    )


def find_conflicts(checked: CheckedModel) -> Verdict | None:
    """Find directions that the noise variances support and the noise shapes contradict."""
    conflicts = checked.model.graph_.conflicts
    if not checked.is_linear:
        return None
    if not conflicts:
        return ok("Noise variances and noise shapes do not contradict each other.")
    count = len(conflicts)
    return warning(
        f"The noise variances support {shortened(edge_texts(conflicts, checked.names), 2)}, but the noise shapes "
        f"support the opposite. "
        f"{'Neither is claimed' if count == 1 else f'In these {count} conflicts neither is claimed'}.",
        Text("The noise variances depend on the units. ", USE_FREE_VARIANCES),
    )


def find_noise_choice(checked: CheckedModel) -> Verdict | None:
    """Find the arrows that would change with another noise model that the data do not exclude."""
    model, choice = checked.model, checked.model.noise_choice_
    if not checked.is_linear:
        return None
    if choice is None:
        if checked.table.series is not None:
            return ok("With lags or units the noise variances are always free, so no noise model was chosen.")
        if checked.table.environments:
            return ok("With environments the noise variances are always free, so no noise model was chosen.")
        return ok("The noise model was given, so it was not chosen from the data.")
    # Directions by shape do not depend on the noise variances.
    arrows = checked.graph & ~model.undecided_ & ~model.by_shape_
    for kind in sorted(choice.scores, key=lambda kind: choice.scores[kind])[1:]:
        behind, graph = choice.scores[kind] - choice.scores[choice.kind], choice.graphs[kind]
        edges = Edges.from_matrix(graph)
        undecided = edges.matrix(open_edges(edges, edges.find_reversible(), model.knowledge_) & (kind == "free"))
        changed = np.argwhere(arrows & ~(graph & ~undecided))
        if behind >= _CLOSE or not len(changed):
            continue
        i, j = changed[0]
        joined, decided = (bool((edges | edges.T)[i, j]) for edges in (graph, graph & ~undecided))
        fate = "reversed" if decided else "open" if joined else "missing"
        others = f", and {counted(len(changed) - 1, 'other arrow')} would change" if len(changed) > 1 else ""
        variances = "close to each other" if kind == "tied" else kind
        likely = next(words for limit, words in _HOW_LIKELY.items() if behind < limit)
        return note(
            f"If the noise variances were {variances}, which is {likely} (the penalized deviance is {behind:.1f} "
            f"higher; {_CLOSE:.0f} would be very strong evidence against it), "
            f"{edge_texts(changed[:1], checked.names)[0]} would be {fate}{others}.",
            Text.of("Compare with {noise='ev'} and {noise='nv'}, and rely on the arrows that all fits share."),
        )
    return ok("No arrow would change with another noise model that the data do not exclude.")


def find_limits(checked: CheckedModel) -> Verdict:
    """Say what no check can detect."""
    return note(
        "No check detects hidden common causes, selected rows or feedback, which can all look like edges.",
        "Rule them out by experiments or subject knowledge.",
    )
