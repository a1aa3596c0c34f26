"""Scatter plots of edges, as plain data for the script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from golem.assessment.diagnostics import EdgeScatter
from golem.runtime.types import Vector


def packed(scatters: Sequence[EdgeScatter]) -> dict[str, Any] | None:
    """Return lines by edge, values by source and residuals by target, which edges share; None without plots."""
    if not scatters:
        return None
    return {
        "lines": [[one.source, one.target, _short(one.slope), _short(one.intercept)] for one in scatters],
        "values": {one.source: _all_short(one.x) for one in scatters},
        "residuals": {one.target: _all_short(one.residuals) for one in scatters},
    }


def _all_short(values: Vector) -> list[float]:
    return [_short(value) for value in values.tolist()]


def _short(value: float) -> float:
    """Round to four digits, which is more than a plot shows."""
    return float(f"{value:.4g}")
