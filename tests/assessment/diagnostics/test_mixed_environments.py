"""Checks of tables with categories from several environments."""

import numpy as np
import pytest

import golem
from golem import Golem, Knowledge, diagnose, next_experiment
from golem.assessment.diagnostics.determined import _suspects
from golem.data.coded_tables import CodedTable
from golem.data.table import Part, Table
from golem.data.variables import Coding, Variable
from golem.diagnostics import drop_losses, edge_loss

CODING = Coding(
    (
        Variable("kind", "category", ("a", "b", "c")),
        Variable("x"),
        Variable("y"),
        Variable("flag", "category", ("no", "yes")),
    )
)
EFFECT = np.array([0.0, 1.5, -1.0])


def rows(rng, n, target=None, intervention="soft", levels=3):
    """Draw coded rows of kind -> x -> y -> flag, with an intervention on a variable; `kind` may lack levels."""
    hard = intervention == "hard"
    kind = rng.integers(levels, size=n)
    if target == "kind":
        kind = np.ones(n, dtype=int) if hard else rng.choice(3, n, p=[0.1, 0.2, 0.7])
    x = EFFECT[kind] * (not (hard and target == "x")) + (1.7 if target == "x" else 1) * rng.normal(size=n)
    y = x + rng.normal(size=n)
    flag = y * (not (hard and target == "flag")) + (3 if target == "flag" else 1) * rng.logistic(size=n) > 0
    return np.column_stack([kind, x, y, flag]).astype(float)


def table(parts, targets, coding=CODING, has_rows=True):
    """Return a table of environments, given their coded rows."""
    made = [
        Part(label, CodedTable(coding, own).moments(), rows=own if has_rows else None) for label, own in parts.items()
    ]
    return Table.of_parts(made, targets)


def levels_of(diagnosis):
    return {finding.name: finding.level for finding in diagnosis}


OF_ENVIRONMENTS = {"off-target", "target-effects", "normal-residuals", "small-environments"}
OF_CATEGORIES = {"determined", "rare-levels", "near-constant", "numbers-only"}
OF_BOTH = {"rows", "density", "search", "directions", "rows-needed", "near-duplicates", "limits"}


@pytest.mark.parametrize("intercepts", ["separate", "shared"])
@pytest.mark.parametrize("has_rows", [True, False])
@pytest.mark.parametrize("levels", [3, 2])
@pytest.mark.parametrize("target", ["x", "kind"])
@pytest.mark.parametrize("intervention", ["soft", "hard"])
def test_the_findings_of_environments_and_of_categories_appear(intervention, target, levels, has_rows, intercepts):
    rng = np.random.default_rng(0)
    parts = {"control": rows(rng, 400), "exp": rows(rng, 300, target, intervention, levels)}
    model = Golem(intervention=intervention, intercepts=intercepts)
    model.fit(table(parts, {"control": [], "exp": [target]}, has_rows=has_rows))
    np.testing.assert_array_equal(model.adjacency_, np.eye(4, k=1))
    found = diagnose(model)
    names = [finding.name for finding in found]
    assert len(set(names)) == len(names)
    expected = OF_ENVIRONMENTS | OF_CATEGORIES | OF_BOTH | ({"hard-targets"} if intervention == "hard" else set())
    assert set(names) == expected
    assert not found.at("warning")
    assert found["off-target"].level == "ok"
    assert found["normal-residuals"].level == ("ok" if has_rows else "note")
    if target == "x":
        assert found["target-effects"].finding == "All 1 target show an effect."
    else:
        assert "on 'kind' was not checked, because it is a category" in found["target-effects"].finding
    with pytest.raises(ValueError, match=r"needs numbers, .* 'kind', 'flag'"):
        golem.check(model, np.vstack(list(parts.values())))
    assert next_experiment(model).undecided == int(model.undecided_.sum())
    losses = drop_losses(model)
    assert edge_loss(model, "x", "y").drop == pytest.approx(losses[1, 2])
    assert (losses[model.adjacency_] > 0).all()


@pytest.mark.parametrize("intervention", ["soft", "hard"])
def test_a_level_that_only_an_experiment_on_its_effect_has(intervention):
    rng = np.random.default_rng(0)
    parts = {"control": rows(rng, 400, levels=2), "exp": rows(rng, 300, "x", intervention)}
    known = Knowledge.named(required=[("kind", "x")])
    model = Golem(intervention=intervention, knowledge=known).fit(table(parts, {"control": [], "exp": ["x"]}))
    found = {one.source_level: one for one in model.coefficients_ if one.target == "x"}
    assert found["b"].coefficient == pytest.approx(EFFECT[1], abs=4 * found["b"].standard_error)
    assert found["c"].standard_error is None  # x is regressed on the rows of the control
    assert not diagnose(model).at("warning")


def test_a_level_that_varies_between_environments_alone_is_not_determined():
    rng = np.random.default_rng(3)
    exp = rows(rng, 300)
    exp[:, 0] = 2
    both = table({"control": rows(rng, 400, levels=2), "exp": exp}, {"control": [], "exp": ["kind"]})
    assert both.moments().variances[1] == 0
    assert not _suspects(both.moments(), CODING)


def test_effects_on_a_number_and_on_a_category_are_told_apart():
    rng = np.random.default_rng(1)
    parts = {"control": rows(rng, 400), "exp": rows(rng, 300), "other": rows(rng, 300, "flag")}
    targets = {"control": [], "exp": ["x"], "other": ["flag"]}
    finding = diagnose(Golem().fit(table(parts, targets)))["target-effects"]
    assert finding.level == "warning"
    assert "1 of 1 target shows no effect: 'x' in 'exp'." in finding.finding
    assert finding.finding.endswith("on 'flag' was not checked, because it is a category.")


def test_a_number_that_changes_given_a_category_is_found():
    rng = np.random.default_rng(2)
    exp = rows(rng, 300)
    exp[:, 2] += 2 * EFFECT[exp[:, 0].astype(int)]  # an effect of 'kind' that others do not have
    parts = {"control": rows(rng, 400), "other": rows(rng, 400, "x"), "exp": exp}
    finding = diagnose(Golem().fit(table(parts, {"control": [], "other": ["x"], "exp": []})))["off-target"]
    assert finding.level == "warning"
    assert "'y' in 'exp' (" in finding.finding
    assert "slopes" in finding.finding


@pytest.mark.parametrize("intervention", ["soft", "hard"])
def test_categories_alone(intervention):
    rng = np.random.default_rng(4)
    coding = Coding(tuple(Variable(name, "category", ("0", "1")) for name in "abc"))
    parts = {}
    for label in ("control", "exp"):
        a = rng.integers(2, size=400)
        b = np.where(rng.random(400) < (0.8 if label == "control" else 0.1), a, rng.integers(2, size=400))
        parts[label] = np.column_stack([a, b, np.where(rng.random(400) < 0.8, b, 1 - b)]).astype(float)
    model = Golem(intervention=intervention).fit(table(parts, {"control": [], "exp": ["b"]}, coding))
    found = levels_of(diagnose(model))
    assert found["target-effects"] == found["rows-needed"] == "note"
    assert found["small-environments"] == found["rare-levels"] == "ok"
    assert not {"off-target", "hard-targets", "numbers-only", "near-duplicates"} & set(found)
