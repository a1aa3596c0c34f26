"""The ranking of experiments: what `golem.next_experiment` returns and prints."""

from __future__ import annotations

import numpy as np
import pytest

import golem
from golem import Golem, Knowledge, Moments


def star(d=5, strength=0.6):
    """Return the moments of a star whose centre is the last column."""
    B = np.zeros((d, d))
    B[d - 1, : d - 1] = strength
    effects = np.linalg.inv(np.eye(d) - B)
    return Moments.from_covariance(effects.T @ effects, 2000, names=[*(f"leaf {k}" for k in range(d - 1)), "centre"])


def test_the_centre_of_a_star_is_the_best_target():
    found = golem.next_experiment(Golem("nv").fit(star()))
    assert found.undecided == 4
    best = found.ranking[0]
    # The root is one of 5 nodes. If it is the centre or a leaf, an experiment on the centre shows all.
    assert best == ("centre", 4.0, 4)
    # On a leaf: all 4 edges if it is the root (1 of 5), otherwise only its own.
    assert [row.decided for row in found.ranking[1:]] == [pytest.approx((4 + 4 * 1) / 5)] * 4
    assert str(found).splitlines()[2].split() == ["centre", "4.00", "4"]
    assert "'centre' would settle 4 of the 4 open directions" in found.sentence


def test_nothing_is_ranked_if_all_directions_are_known():
    known = Knowledge.named(tiers=[["centre"], [f"leaf {k}" for k in range(4)]])
    found = golem.next_experiment(Golem("nv", knowledge=known).fit(star()))
    assert len(found) == 0
    assert str(found) == "No direction is open."


def test_links_count_also_where_the_class_has_directions_without_evidence():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    X[:, 2] += 0.5 * X[:, 0] + 0.5 * X[:, 1]
    model = Golem("nv", lambda_sparsity="bic").fit(X)
    assert model.undecided_.sum() == 2
    assert not model.cpdag_[2, :2].any()  # the class has x0 -> x2 <- x1
    found = golem.next_experiment(model)
    assert [(row.variable, row.decided, row.least) for row in found] == [("x2", 2, 2), ("x0", 1, 1), ("x1", 1, 1)]


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match="not fitted"):
        golem.next_experiment(Golem())
    with pytest.raises(ValueError, match="must be a Golem"):
        golem.next_experiment("model")
