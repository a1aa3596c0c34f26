"""Distances between an estimated and a true graph; a short path to `golem.graphs.metrics`."""

from golem.graphs.metrics import (
    GraphScores,
    as_estimate,
    as_truth,
    evaluate,
    f1,
    fdr,
    precision,
    shd,
    shd_c,
    sid,
    tpr,
)

__all__ = [
    "GraphScores",
    "as_estimate",
    "as_truth",
    "evaluate",
    "f1",
    "fdr",
    "precision",
    "shd",
    "shd_c",
    "sid",
    "tpr",
]
