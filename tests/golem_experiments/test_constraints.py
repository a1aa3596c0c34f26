"""What the rows of the experiment on the penalties hold, and how its verdicts follow from them."""

import numpy as np
import pytest

from golem.score.acyclicity import Expm
from golem_experiments import Grid, load
from golem_experiments.learners import learn
from golem_experiments.sweep import draw


def test_h_is_of_the_thresholded_estimate_and_h_raw_of_all_weights():
    task = next(t for t in load("constraints").tasks(Grid(tiny=True)) if t.method == "golem-ev-plain")
    row = load("constraints").run(task)
    raw = learn(task.method, task.cell, draw(task).data).model.raw_weights_
    kept = np.where(np.abs(raw) >= 0.3, raw, 0.0)
    assert row["h"] == pytest.approx(max(Expm().value_and_grad(kept)[0], 0.0))
    assert row["h_raw"] == pytest.approx(Expm().value_and_grad(raw)[0])
    assert row["h"] < row["h_raw"]


VARIANTS = [f"golem-{noise}{variant}" for noise in ("ev", "nv") for variant in ("", "-l1", "-plain")]
# What each variant gets wrong on ER1 with 10 true edges, where the paper's claims are true: few rows, and many.
TRUE = {"golem-ev": (2, 0), "golem-ev-l1": (6, 0), "golem-ev-plain": (40, 30), "golem-nv": (3, 1),
        "golem-nv-l1": (9, 6), "golem-nv-plain": (40, 30)}  # fmt: skip


def table(wrong, *, seeds=5, h=None):
    """Build rows: errors are true edges missed, four times as many on ER4, give or take one by seed with few rows."""
    h = {"golem-ev": 0.0, "golem-nv": 1e-4} | (h or {})
    made = []
    for graph, factor in (("ER1", 1), ("ER4", 4)):
        for place, n in enumerate((100, 10_000)):
            for method in VARIANTS:
                for seed in range(seeds):
                    shd = factor * wrong[method][place] + (seed % 2) * (place == 0)
                    made.append({
                        "experiment": "constraints", "graph": graph, "noise": method[6:8], "d": 10, "n": n,
                        "method": method, "seed": seed, "status": "done", "true_edges": 10 * factor, "shd": shd,
                        "tpr": max(1 - shd / (10 * factor), 0.0), "cyclic": False, "h": h.get(method, 1.0 + seed),
                    })  # fmt: skip
    return made


def judged(wrong, **more):
    return [verdict.holds for verdict in load("constraints").verdicts(table(wrong, **more))]


def test_the_claims_hold_where_they_are_true():
    assert judged(TRUE) == [True] * 5


def test_one_seed_decides_nothing():
    assert judged(TRUE, seeds=1) == [None] * 5


@pytest.mark.parametrize(
    ("claim", "change", "holds"),
    [
        (0, {"golem-ev-l1": (6, 3)}, False),  # not close
        (0, {"golem-ev-plain": (40, 0)}, False),  # close, but is said not to be
        (1, {"golem-ev-l1": (3, 6)}, False),  # the gap grows
        (1, {"golem-ev-l1": (6, 4)}, None),  # it stays
        (1, {"golem-ev-l1": (1, -5)}, False),  # it grows the other way
        (2, {"golem-nv-l1": (3, 1)}, None),  # no difference
        (2, {"golem-nv-l1": (1, 0)}, False),
        (3, {"golem-ev-l1": (6, 4)}, None),  # as helpful with many rows
        (3, {"golem-ev-l1": (3, 6)}, False),
        (3, {"golem-ev-l1": (2, 0)}, None),  # no help at all
    ],
)
def test_the_verdicts_follow_the_errors(claim, change, holds):
    assert judged(TRUE | change)[claim] is holds


def test_a_refuted_claim_quotes_the_comparison_that_refutes_it():
    verdict = load("constraints").verdicts(table(TRUE | {"golem-nv-l1": (1, 6)}))[2]
    assert verdict.holds is False
    assert "contradict it: n = 100: TPR, golem-nv-l1 - golem-nv: +" in verdict.why


def test_an_h_beyond_all_numbers_is_not_low():
    assert judged(TRUE, h={"golem-ev": None})[4] is False
    assert judged(TRUE, h={"golem-ev": 0.5})[4] is False
    # As low without the penalty as with it.
    assert judged(TRUE, h={"golem-ev-l1": 0.0})[4] is None


def test_methods_that_were_not_run_are_named():
    rows = [row for row in table(TRUE) if row["method"] != "golem-ev-l1"]
    verdict = load("constraints").verdicts(rows)[1]
    assert verdict.holds is None
    assert verdict.measured == "Not run: golem-ev-l1"
