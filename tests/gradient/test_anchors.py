"""The whole recipe against another implementation's means: minutes, so run apart (`make test-slow`)."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from golem import Moments, metrics
from golem.estimator.settings import PAPER_THRESHOLD
from golem.gradient.paper_recipe import NOISE_MODELS
from golem.gradient.rounding import round_to_dag
from golem.score.objective import Objective
from golem.simulate import simulate
from golem.solvers import Adam

ANCHORS = Path(__file__).parents[2] / "benchmarks" / "anchors.csv"


@pytest.mark.slow
@pytest.mark.parametrize("graph", ["ER1", "ER4"])
def test_golem_ev_is_as_accurate_as_its_anchor(graph):
    with ANCHORS.open() as file:
        wanted = {"d": "10", "n": "1000", "graph": graph, "noise": "gaussian-ev", "method": "golem-ev"}
        (anchor,) = (row for row in csv.DictReader(file) if wanted.items() <= row.items())
    drawn = [simulate(10, 1000, graph, "gaussian-ev", random_state=seed) for seed in range(12)]
    S = np.stack([Moments.from_rows(one.data).covariance for one in drawn])
    paper = NOISE_MODELS["ev"]
    objective = Objective(S, paper.likelihood(1000), lambda_sparsity=paper.lambda_sparsity, lambda_dag=paper.lambda_dag)
    raw = Adam().solve(objective).weights
    shd = [
        metrics.shd(one.sem.adjacency, round_to_dag(B, PAPER_THRESHOLD).weights, normalize=True)
        for one, B in zip(drawn, raw, strict=True)
    ]
    error = np.std(shd, ddof=1) / np.sqrt(12)
    assert abs(np.mean(shd) - float(anchor["shd_per_node"])) <= 3 * np.sqrt(2) * error + 0.02
