"""Selection of penalties and thresholds: information criteria, cross-validation, stability."""

from golem.assessment.selection.golem_cv import GolemCV, Selection

__all__ = ["GolemCV", "Selection"]
