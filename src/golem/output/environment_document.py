"""What the graph document says about the environments of a fit, and numbers that differ between kinds of fits."""

from __future__ import annotations

import numpy as np

from golem.estimator.golem import Golem
from golem.graphs.graph_document import EnvironmentRecord, GraphDocument

# Columns whose means shift most, per environment.
_MOST_SHIFTS = 5
# Shifts below this many standard deviations are not listed, except those of targets.
_LEAST_SHIFT = 0.1
_SOFT_WEIGHTS = (
    "A weight describes the environments that do not change the effect. If it is near 0, the edge may act only in "
    "those that do."
)


def environment_records(model: Golem) -> list[EnvironmentRecord] | None:
    """Describe the environments of a fit; None if there are none."""
    found, records = model.table_, []
    if not found.environments:
        return None
    for part, shifts in zip(found.parts, found.shifts(), strict=True):
        targets = part.targets
        largest = np.argsort(-np.abs(shifts), kind="stable")[:_MOST_SHIFTS].tolist()
        listed = [*targets, *(j for j in largest if j not in targets and abs(shifts[j]) >= _LEAST_SHIFT)]
        records.append(
            EnvironmentRecord(
                label=part.label,
                rows=part.moments.n,
                targets=[found.names[j] for j in targets],
                shifts={found.names[j]: float(shifts[j]) for j in listed} if len(found.labels) > 1 else {},
            )
        )
    return records


def note_on_weights(document: GraphDocument) -> str:
    """Return what weights describe if an effect depends on its causes in other ways where a soft intervention is."""
    is_soft = (document.settings or {}).get("intervention") == "soft"
    changed = {name for one in document.environments or () for name in one.targets}
    return _SOFT_WEIGHTS if is_soft and any(edge["target"] in changed for edge in document.edge_table) else ""
