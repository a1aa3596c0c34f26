"""Checks of experiments: error rates of the tests, and each problem found where it was put."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from golem import Golem, LinearSEM, Moments
from golem.assessment.diagnostics.environments import mechanism_shifts
from golem.data.table import Part, Table

CHAIN = LinearSEM([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [1, 2, 1], [1, 0, 3], names=list("abc"))
TARGETS = {"control": [], "exp": ["b"], "other": ["a"]}


def table_of(tables, targets, has_rows=True):
    """Return the environments with these rows, or with their moments alone."""
    parts = [
        Part(label, Moments.from_rows(rows, CHAIN.names), rows=rows if has_rows else None)
        for label, rows in tables.items()
    ]
    return Table.of_parts(parts, targets)


def diagnosed(changed, intervention="soft", n=400, targets=TARGETS, rows=True, noise="gaussian", **settings):
    """Fit and check environments drawn from some models; the ones not given have the effect they should have."""
    rng = np.random.default_rng(1)
    models = {"control": CHAIN, "exp": CHAIN.change("b", variance=3.0), "other": CHAIN.change("a", variance=3.0)}
    if intervention == "hard":
        models |= {"exp": CHAIN.randomize({"b": (0.0, 3.0)}), "other": CHAIN.randomize({"a": (0.0, 3.0)})}
    models |= changed
    tables = {label: dataclasses.replace(model, noise=noise).sample(n, rng) for label, model in models.items()}
    model = Golem("nv", intervention=intervention, robust="off", **settings)
    return model.fit(table_of(tables, targets, rows)).diagnose()


NAMES = ("off-target", "target-effects", "normal-residuals", "small-environments")


@pytest.mark.parametrize("intervention", ["soft", "hard"])
def test_good_experiments_have_no_findings(intervention):
    found = diagnosed({}, intervention)
    assert [found[name].level for name in NAMES] == ["ok"] * 4
    if intervention == "hard":
        assert found["hard-targets"].level == "ok"
    assert "not used with environments" not in found["directions"].finding
    assert found["rows-needed"].finding.startswith("Not checked, because the rows come from several environments")


def test_a_target_without_an_effect():
    finding = diagnosed({"exp": CHAIN})["target-effects"]
    assert finding.level == "warning"
    assert "1 of 2 targets shows no effect: 'b' in 'exp'" in finding.finding
    assert "[]" in finding.remedy


def test_a_target_whose_mean_alone_changes():
    finding = diagnosed({"exp": CHAIN.change("b", shift=2.0)})["target-effects"]
    assert finding.level == "note"
    assert "'exp' changed only the mean of its target 'b'" in finding.finding
    assert diagnosed({"exp": CHAIN.change("b", shift=2.0)}, intercepts="shared")["target-effects"].level == "ok"
    # Shared means are not suggested if means differ where nothing was changed.
    others = CHAIN.change("b", shift=2.0).change(["a", "c"], shift=2.0)
    finding = diagnosed({"exp": others})["target-effects"]
    assert finding.level == "note"
    assert not finding.remedy


def test_heavy_tails_do_not_look_like_an_effect():
    """With covariances alone, the variance of lognormal noise seems to change; the rows show that it does not."""
    silent = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        tables = {label: np.exp(1.2 * rng.normal(size=(300, 3))) for label in TARGETS}
        tables["exp"] += [0, 3, 0]
        tables["other"] += [3, 0, 0]
        finding = Golem("nv", robust="off").fit(table_of(tables, TARGETS)).diagnose()["target-effects"]
        silent += not ("changed only the mean" in finding.finding or "no effect" in finding.finding)
    assert silent <= 2


def test_normal_residuals_in_each_environment():
    assert diagnosed({})["normal-residuals"].level == "ok"
    finding = diagnosed({}, noise="exponential")["normal-residuals"]
    assert finding.level == "note"
    assert "not normal in 3 of 3 environments" in finding.finding
    finding = diagnosed({}, rows=False)["normal-residuals"]
    assert finding.level == "note"
    assert "experiments settle no direction" in finding.finding
    assert "rows" in finding.remedy


@pytest.mark.parametrize(
    ("change", "part"), [({"weights": 1.6}, "slopes"), ({"variance": 2.0}, "variance"), ({"shift": 1.0}, "intercept")]
)
def test_an_effect_on_another_variable(change, part):
    changed = {"exp": CHAIN.change("b", variance=3.0).change("c", **change)}
    finding = diagnosed(changed, intercepts="shared" if part == "intercept" else "separate")["off-target"]
    assert finding.level == "warning"
    assert "'c' in 'exp' (" in finding.finding
    assert part in finding.finding
    if part == "intercept":  # separate intercepts allow for it
        finding = diagnosed(changed)["off-target"]
        assert finding.level == "ok"
        assert "except for 1 shifted mean" in finding.finding


def test_checks_without_rows_say_what_they_checked():
    found = diagnosed({"exp": CHAIN.change("b", variance=3.0)})
    assert "no noise model was chosen" in found["noise-choice"].finding
    assert "one value in nearly all rows" in found["rows-needed"].finding
    assert found["near-constant"].finding == "No column is nearly constant compared with its mean."


def test_a_hard_target_that_depends_on_its_parents():
    finding = diagnosed({"exp": CHAIN.change("b", variance=1.5)}, "hard")["hard-targets"]
    assert finding.level == "warning"
    assert "'b' in 'exp' (R2 0." in finding.finding
    assert "settle no direction" in finding.finding
    assert finding.remedy == "Use intervention='soft'."
    assert "Not checked" in diagnosed({}, "hard", rows=False)["hard-targets"].finding


def test_small_environments():
    finding = diagnosed({}, n=20)["small-environments"]
    assert finding.level == "note"
    assert "3 of 3 environments have fewer than 30 rows: 'control' (20)" in finding.finding


def test_the_error_rates_are_those_of_the_level():
    parents = [np.flatnonzero(column) for column in CHAIN.adjacency.T]
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        parts = {label: Moments.from_rows(CHAIN.sample(n, rng), CHAIN.names) for label, n in (("x", 25), ("y", 60))}
        shifts = mechanism_shifts(Table.of(parts, {"x": [], "y": []}), parents)
        found.append([shift.p_values for shift in shifts if shift.environment == 0])
    rates = (np.array(found) < 0.05).mean(axis=(0, 1))
    rates *= [1, 3 / 2, 1]  # "a" has no parents, so only two variables of three have slopes
    # Their standard error is about 0.01.
    assert (rates > 0.015).all()
    assert (rates < 0.08).all()
