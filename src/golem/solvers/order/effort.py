"""How much work a search over orders does."""

from __future__ import annotations

from typing import Literal

Effort = Literal["fast", "default", "thorough"]
# Starts, and perturbations a start: (how many, base, times sqrt(d)).
EFFORTS: dict[Effort, tuple[int, int, int]] = {"fast": (1, 0, 2), "default": (2, 50, 20), "thorough": (4, 500, 200)}
