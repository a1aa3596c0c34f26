"""The model behind what a user passes: a Golem, or the one that a GolemCV has chosen."""

from __future__ import annotations

from typing import Any

from golem.estimator.golem import Golem


def plain_model(model: Any) -> Golem:
    """Return a Golem itself, or the one that a fitted GolemCV has chosen; raise a ValueError for anything else."""
    chosen = getattr(model, "estimator_", model)
    if not isinstance(chosen, Golem):
        raise ValueError(f"The model must be a Golem or a fitted GolemCV; got {type(model).__name__}.")
    return chosen
