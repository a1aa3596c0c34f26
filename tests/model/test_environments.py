"""Rows of several environments: only the mechanisms of the targets change."""

from __future__ import annotations

import numpy as np
import pytest

from golem.model.simulation import simulate_environments, single_targets
from golem.simulate import random_sem


@pytest.mark.parametrize("intervention", ["hard", "soft"])
def test_only_the_regressions_of_targets_change(intervention):
    sem = random_sem(4, "ER2", "gaussian-nv", random_state=2)
    targets = single_targets(sem, 4, intervention)
    drawn = simulate_environments(sem, targets, 60_000, intervention, random_state=0)
    assert list(drawn.targets) == list(targets)
    assert dict(zip(*np.unique(drawn.labels, return_counts=True), strict=True)) == dict.fromkeys(targets, 12_000)
    for label, chosen in drawn.targets.items():
        X = drawn.data[drawn.labels == label]
        for j, name in enumerate(sem.names):
            parents = np.flatnonzero(sem.adjacency[:, j])
            A = np.column_stack([np.ones(len(X)), X[:, parents]])
            b = np.linalg.lstsq(A, X[:, j])[0]
            factor = {"hard": 0, "soft": 2}[intervention] if name in chosen else 1
            np.testing.assert_allclose(b[1:], factor * sem.weights[parents, j], atol=0.1)
            variance = 1.0 if factor == 0 else factor * sem.noise_variances[j]
            assert (X[:, j] - A @ b).var() == pytest.approx(variance, rel=0.1)
            if factor == 0:
                assert abs(b[0]) == pytest.approx(2, abs=0.1)


def test_impossible_environments_are_refused():
    sem = random_sem(3, random_state=0)
    with pytest.raises(ValueError, match="between 0 and 3"):
        single_targets(sem, 4, "hard")
    with pytest.raises(ValueError, match="2 environments need at least 2 rows; got n=1"):
        simulate_environments(sem, {"a": [], "b": [0]}, 1)
    with pytest.raises(ValueError, match="at least one environment"):
        simulate_environments(sem, {}, 10)
    with pytest.raises(ValueError, match="'hard' or 'soft'"):
        simulate_environments(sem, {"a": []}, 10, "mild")
