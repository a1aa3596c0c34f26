"""What a review of planned matrix functions finds."""

from __future__ import annotations

from typing import NamedTuple

# A plan is shortened if a shorter one would have sufficed in this many reviews in a row. Each change of a plan costs as
# much as many steps.
PATIENCE = 20


class Review(NamedTuple):
    """Whether all results since the last review were exact to rounding, and whether the plan has changed."""

    exact: bool
    replanned: bool
