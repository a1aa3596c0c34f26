"""Checks of a fitted model: what the graph depends on, the value of each edge, influential rows."""

from golem.assessment.diagnostics.assumptions import (
    EdgeAssumptions,
    EqualVariances,
    edge_assumptions,
    equal_variances_test,
)
from golem.assessment.diagnostics.diagnosis import diagnose
from golem.assessment.diagnostics.edges import (
    EdgeLoss,
    EdgeScatter,
    certify,
    drop_losses,
    edge_loss,
    edge_scatters,
)
from golem.assessment.diagnostics.finding import Diagnosis, Finding, Level
from golem.assessment.diagnostics.graph import find_outside_intervals
from golem.assessment.diagnostics.influence import CarriedEdge, carried_edges, outlying_rows
from golem.assessment.diagnostics.refits import LARGEST_REFIT, Survival, standardized_refit, survival

__all__ = [
    "LARGEST_REFIT",
    "CarriedEdge",
    "Diagnosis",
    "EdgeAssumptions",
    "EdgeLoss",
    "EdgeScatter",
    "EqualVariances",
    "Finding",
    "Level",
    "Survival",
    "carried_edges",
    "certify",
    "diagnose",
    "drop_losses",
    "edge_assumptions",
    "edge_loss",
    "edge_scatters",
    "equal_variances_test",
    "find_outside_intervals",
    "outlying_rows",
    "standardized_refit",
    "survival",
]
