"""What the rows of the experiment on the penalties hold, and how its verdicts follow from them."""

import numpy as np
import pytest

from golem.acyclicity import Expm
from golem.experiments import Grid, load
from golem.experiments.constraints import CLAIMS
from golem.experiments.learners import learn
from golem.experiments.sweep import draw


def test_h_is_of_the_thresholded_estimate_and_h_raw_of_all_weights():
    task = next(t for t in load("constraints").tasks(Grid(tiny=True)) if t.method == "golem-ev-plain")
    row = load("constraints").run(task)
    raw = learn(task.method, task.cell, draw(task).data).model.raw_weights_
    kept = np.where(np.abs(raw) >= 0.3, raw, 0.0)
    assert row["h"] == pytest.approx(max(Expm().value_and_grad(kept)[0], 0.0))
    assert row["h_raw"] == pytest.approx(Expm().value_and_grad(raw)[0])
    assert row["h"] < row["h_raw"]


def rows(method, h):
    return [
        {"experiment": "constraints", "graph": "ER1", "noise": "gaussian-ev", "d": 10, "n": 100, "method": method,
         "seed": seed, "status": "done", "shd": 1, "tpr": 1.0, "cyclic": False, "h": value}
        for seed, value in enumerate(h)
    ]  # fmt: skip


@pytest.mark.parametrize(("full", "holds"), [([0.0, 1e-4, 0.0], True), ([0.0, None, 0.0], False)])
def test_an_h_beyond_all_numbers_is_not_low(full, holds):
    verdict = load("constraints").verdicts(rows("golem-ev", full) + rows("golem-ev-l1", [1.0, 2.0, 3.0]))[4]
    assert verdict.claim == CLAIMS[4]
    assert verdict.holds is holds
