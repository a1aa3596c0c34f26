"""Paths: what a setting means for fewer rows, the default grids, and solves that thresholds share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from golem import Golem, Moments
from golem.assessment.selection.path_scores import (
    Setting,
    default_penalties,
    fit_path,
    grid,
    information_criterion,
    middle_of_the_best,
)
from golem.data.table import Table
from golem.score.sparsity import L0
from golem.simulate import simulate


def test_an_edge_keeps_its_price_on_fewer_rows():
    setting = Setting(0.05, 5.0, "lr").for_rows(100, of=400, counted=True)
    assert 2 * 100 * setting.lambda_sparsity == pytest.approx(2 * 400 * 0.05)
    assert (setting.lambda_dag, setting.threshold) == (5.0, "lr")
    assert Setting(0.05).for_rows(100, of=400, counted=False).lambda_sparsity == pytest.approx(0.1)


@pytest.mark.parametrize(("n", "d"), [(100, 20), (10_000, 2), (5, 3), (1000, 500)])
def test_the_default_penalties_hold_that_of_the_default(n, d):
    penalties = 2 * n * np.array(default_penalties(True, n, d))
    usual = L0().penalties(n, d)[1]
    assert np.isclose(penalties, usual).sum() == 1
    assert np.all(np.diff(penalties) > 0)
    assert penalties.max() == pytest.approx(2 * usual)
    assert penalties.min() <= 2 + 1e-12


def test_grids_go_from_dear_to_cheap_edges():
    settings = grid([0.01, 0.1, 0.01], (1.0, 5.0), ("lr", 0.3))
    assert [setting.lambda_sparsity for setting in settings] == [0.1] * 4 + [0.01] * 4
    assert settings[1].parameters == {"lambda_sparsity": 0.1, "lambda_dag": 1.0, "threshold": 0.3}
    assert Setting(0.1).parameters == {"lambda_sparsity": 0.1}


def test_thresholds_share_the_solve():
    moments = Moments.from_rows(simulate(6, 200, "ER1", random_state=0).data)
    models = list(
        fit_path(Golem("ev", "lbfgs"), Table.single(moments), grid([0.1, 0.02], (None,), ("lr", 0.3)), moments.n)
    )
    assert models[0].raw_weights_ is models[1].raw_weights_
    assert models[2].raw_weights_ is models[3].raw_weights_ is not models[0].raw_weights_
    assert [model.threshold for model in models] == ["lr", 0.3, "lr", 0.3]


def test_the_criterion_of_equal_variances_is_the_likelihood_with_one_variance():
    X = simulate(6, 200, "ER1", random_state=0).data
    model = Golem("ev").fit(X)
    residuals = (X - X.mean(axis=0)) @ (np.eye(6) - model.weights_)
    deviance = -2 * norm(scale=np.sqrt(np.mean(residuals**2))).logpdf(residuals).sum()
    # Up to a constant: n d (log 2 pi + 1), and d/2 log of a sum instead of a mean.
    constant = 200 * 6 * (np.log(2 * np.pi) + 1 - np.log(6))
    edges = L0("bic").penalties(200, 6)[1] * model.adjacency_.sum()
    assert information_criterion(model, L0("bic")) == pytest.approx(deviance - constant + edges, rel=1e-9)


@pytest.mark.parametrize(
    ("scores", "position"), [([3, 1, 2], 0), ([1, 2, 2, 2, 0], 2), ([2, 2], 0), ([0, 2, 2, 2, 2], 2), ([1], 0)]
)
def test_of_equally_good_settings_the_middle_one_is_taken(scores, position):
    assert middle_of_the_best([(score,) for score in scores]) == position
