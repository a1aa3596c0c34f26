"""Penalties and thresholds chosen from the data: cross-validation, information criteria, stability selection."""

from golem.assessment.selection.golem_cv import GolemCV, Selection

__all__ = ["GolemCV", "Selection"]
