"""The experiment on time series: what it counts, and a task of it."""

import numpy as np

from golem.comparison.other_packages import of_lags
from golem.simulate import simulate_series
from golem_experiments import Grid, load
from golem_experiments.series import draw, measurements


def test_true_graphs_have_no_errors():
    drawn = simulate_series(5, 60, lags=2, random_state=0)
    truth = np.concatenate([drawn.present[None], drawn.past]) != 0
    found = measurements(drawn, of_lags(truth))
    claimed = int((drawn.present != 0).sum())
    expected = {"f1_within": 1.0, "f1_lagged": 1.0, "claimed": claimed, "claimed_right": claimed, "claimed_wrong": 0}
    assert found == expected


def test_links_claim_nothing_and_reversed_arrows_are_wrong():
    drawn = simulate_series(5, 60, lags=1, random_state=0)
    truth = np.concatenate([drawn.present[None], drawn.past]) != 0
    links = truth.copy()
    links[0] |= links[0].T
    assert measurements(drawn, of_lags(links))["claimed"] == 0
    reverse = truth.copy()
    reverse[0] = reverse[0].T
    found = measurements(drawn, of_lags(reverse))
    assert (found["f1_within"], found["claimed_right"]) == (1.0, 0)


def test_a_task_runs():
    experiment = load("series")
    task = experiment.tasks(Grid(tiny=True, methods=("order",)))[0]
    row = experiment.run(task)
    assert row["f1_within"] > 0.5
    assert draw(task).data.shape == (100, 4)
    assert {"fit_seconds", "search_seconds"} <= set(row)
