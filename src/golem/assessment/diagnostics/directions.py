"""Directions that nothing decides, and what no diagnostic can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.runtime.messages import shortened
from golem.score.likelihood import GaussianNV

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

LIMITS = Finding(
    "limits",
    "note",
    "No diagnostic sees hidden common causes, selection of rows, or feedback: each can look like an edge.",
    "Experiments and knowledge of the matter do.",
)


def find_directions(model: Golem) -> Finding:
    """Tell which edges have no direction of their own."""
    total, undecided = int(model.adjacency_.sum()), int(model.undecided_.sum())
    if not undecided:
        given = "the noise model" if model.knowledge_.is_empty else "the noise model and what is known"
        return Finding(
            "directions", "ok", f"Every direction follows from the data, given {given}." if total else "No edges."
        )
    names = model.moments_.names
    examples = [f"{names[i]!r} - {names[j]!r}" for i, j in np.argwhere(model.undecided_)]
    broken = isinstance(model.likelihood_, GaussianNV) and model.solver == "order"
    tie_break = "; the arrows shown are a tie-break, towards equal noise variances" if broken else ""
    return Finding(
        "directions",
        "note",
        f"The data cannot decide the direction of {undecided} of {total} edges ({shortened(examples, 2)}){tie_break}.",
        "Knowledge can: required or forbidden edges, tiers.",
    )
