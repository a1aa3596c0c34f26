"""The tables of several environments, for methods that need moments and for those that need rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from golem.comparison.registry import Tables
from golem.data.environment_input import moments_of_parts, split_data
from golem.data.environments import Environments
from golem.data.missing import MissingChoice


def read_tables(X: Any, environments: Any, targets: Mapping[Any, Any] | None, missing: MissingChoice) -> Tables:
    """Return the environments of a table, and the complete rows of each; the arguments are those of `Golem.fit`."""
    if isinstance(X, Environments):
        return Tables(X, None)
    parts, _ = split_data(X, environments)
    found = Environments.of(moments_of_parts(parts, missing), targets)
    # A hard target may be constant in its environment; a soft method then says so itself.
    found.require_learnable("hard")
    if missing == "em" or not all(isinstance(part, tuple) for part in parts.values()):
        return Tables(found, None)
    rows = [np.asarray(parts[label][0], dtype=float) for label in found.labels]
    return Tables(found, [part[~np.isnan(part).any(axis=1)] for part in rows])
