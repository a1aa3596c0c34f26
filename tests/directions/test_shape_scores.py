"""Scores of noise shapes: the distribution of the evidence under Gaussian noise."""

import numpy as np
import pytest

from golem.directions import by_shape as shape_scores
from golem.directions.by_shape import ComponentScores


def test_evidence_of_large_components_is_drawn_in_parts(monkeypatch, random_component):
    rng = np.random.default_rng(0)
    dag, component = random_component(40, 0.0, rng)
    X = rng.normal(size=(400, 40)) @ np.linalg.inv(np.eye(40) - 0.8 * dag)
    found = ComponentScores(component, X - X.mean(axis=0), 400)
    together = found.gaussian_evidence()
    monkeypatch.setattr(shape_scores, "_MOST_TOGETHER", 30)
    in_parts = found.gaussian_evidence()
    for share in (0.5, 0.95, 0.99):
        assert np.quantile(in_parts, share) == pytest.approx(np.quantile(together, share), rel=0.15)
