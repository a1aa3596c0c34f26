"""Directions without evidence, directions that hang on the noise model, and what no check can detect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from golem.assessment.diagnostics.finding import USE_FREE_VARIANCES, Finding
from golem.directions.equivalence_class import open_edges
from golem.graphs.edges import Edges
from golem.runtime.messages import counted, shortened
from golem.runtime.problems import Text
from golem.score.likelihood import GaussianNV

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

LIMITS = Finding(
    "limits",
    "note",
    "No check detects hidden common causes, selected rows or feedback, which can all look like edges.",
    "Rule them out by experiments or subject knowledge.",
)
# How likely a noise model is whose penalized deviance is less than so much higher, on the scale of Kass and Raftery
# (1995, "Bayes factors"). From 10 on, the evidence against it is very strong.
_CLOSE = 10.0
_HOW_LIKELY = {2.0: "about as likely", 6.0: "less likely", _CLOSE: "much less likely but not excluded"}


def find_directions(model: Golem) -> Finding:
    """Find the edges whose direction has no evidence."""
    total, undecided = int(model.adjacency_.sum()), int(model.undecided_.sum())
    if not undecided:
        assumed = "the noise model" if model.score_ == "gaussian" else "the score"
        given = assumed if model.knowledge_.is_empty else f"{assumed} and the knowledge"
        sentence = f"Given {given}, every direction has evidence." if total else "There are no edges."
        return Finding("directions", "ok", sentence)
    names = model.moments_.variables
    examples = [f"{names[i]!r} - {names[j]!r}" for i, j in np.argwhere(model.undecided_)]
    searched = model.solver == "order" and not model.table_.environments
    broken = model.score_ == "gaussian" and searched and isinstance(model.likelihood_, GaussianNV)
    have, arrows = ("has", "The arrowhead of this edge is") if undecided == 1 else ("have", "Their arrowheads are")
    tie_break = f" {arrows} arbitrary (golem draws the direction that would fit best with equal noise variances)."
    return Finding(
        "directions",
        "note",
        f"{undecided} of {counted(total, 'edge')} {have} no evidence for {'its' if undecided == 1 else 'their'} "
        f"direction ({shortened(examples, 2)}).{tie_break if broken else ''}",
        "Add knowledge (required or forbidden edges, tiers), or do an experiment: golem.next_experiment(model) and the "
        "report rank the variables to intervene on.",
    )


def find_conflicts(model: Golem) -> Finding:
    """Find directions that the noise variances support and the noise shapes contradict."""
    name = "direction-conflicts"
    conflicts, names = model.graph_.conflicts, model.moments_.names
    if not conflicts:
        return Finding(name, "ok", "Noise variances and noise shapes do not contradict each other.")
    examples = [f"{names[i]!r} -> {names[j]!r}" for i, j in conflicts]
    count = len(examples)
    return Finding(
        name,
        "warning",
        f"The noise variances support {shortened(examples, 2)}, but the noise shapes support the opposite. "
        f"{'Neither is claimed' if count == 1 else f'In these {count} conflicts neither is claimed'}.",
        Text("The noise variances depend on the units. ", USE_FREE_VARIANCES),
    )


def find_noise_choice(model: Golem) -> Finding:
    """Find the arrows that would change with another noise model that the data do not exclude."""
    name, choice = "noise-choice", model.noise_choice_
    if choice is None:
        if model.table_.environments:
            sentence = "With environments the noise variances are always free, so no noise model was chosen."
            return Finding(name, "ok", sentence)
        return Finding(name, "ok", "The noise model was given, so it was not chosen from the data.")
    # Directions by shape do not depend on the noise variances.
    arrows, names = model.adjacency_ & ~model.undecided_ & ~model.by_shape_, model.moments_.names
    for kind in sorted(choice.scores, key=lambda kind: choice.scores[kind])[1:]:
        behind, graph = choice.scores[kind] - choice.scores[choice.kind], choice.graphs[kind]
        edges = Edges.from_matrix(graph)
        undecided = edges.matrix(open_edges(edges, edges.find_reversible(), model.knowledge_) & (kind == "free"))
        changed = np.argwhere(arrows & ~(graph & ~undecided))
        if behind >= _CLOSE or not len(changed):
            continue
        i, j = changed[0]
        joined, decided = (bool((edges | edges.T)[i, j]) for edges in (graph, graph & ~undecided))
        fate = "reversed" if decided else "undecided" if joined else "missing"
        others = f", and {counted(len(changed) - 1, 'other arrow')} would change" if len(changed) > 1 else ""
        variances = "close to each other" if kind == "tied" else kind
        likely = next(words for limit, words in _HOW_LIKELY.items() if behind < limit)
        return Finding(
            name,
            "note",
            f"If the noise variances were {variances}, which is {likely} (the penalized deviance is {behind:.1f} "
            f"higher; {_CLOSE:.0f} would be very strong evidence against it), "
            f"{names[i]!r} -> {names[j]!r} would be {fate}{others}.",
            Text.of("Compare with {noise='ev'} and {noise='nv'}, and rely on the arrows that all fits share."),
        )
    return Finding(name, "ok", "No arrow would change with another noise model that the data do not exclude.")
