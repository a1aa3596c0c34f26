"""The unit test against refits by hand."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Golem, Knowledge
from golem.assessment.diagnostics import refits
from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.refits import find_units
from golem.diagnostics import diagnose, standardized_refit, survival
from golem.simulate import simulate


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def in_class(model):
    """Return the directions that the class leaves open, of a model that was not checked."""
    return model.graph_.matrix(model.graph_.directed_by("none"))


def by_hand(first, second):
    """Edges kept, directions kept, left open and turned, as sets of pairs."""
    edges = set(map(tuple, np.argwhere(first.adjacency_)))
    claimed = set(map(tuple, np.argwhere(first.adjacency_ & ~first.undecided_)))
    others = set(map(tuple, np.argwhere(second.adjacency_)))
    other_claims = set(map(tuple, np.argwhere(second.adjacency_ & ~in_class(second))))
    joined = others | {(j, i) for i, j in others}
    turned = {(i, j) for i, j in claimed if (j, i) in other_claims}
    opened = {(i, j) for i, j in claimed & joined if (i, j) not in other_claims} - turned
    return len(edges & joined), len(claimed & other_claims), len(opened), len(turned)


@pytest.mark.parametrize("noise", ["ev", "auto"])
@pytest.mark.parametrize("seed", range(3))
def test_the_unit_test_is_a_refit_by_hand(noise, seed):
    X = simulate(8, 500, "ER1", "gaussian-nv" if seed else "gaussian-ev", random_state=seed).data
    model = Golem(noise).fit(X)
    second = Golem("nv").fit(standardized(X))
    refit = standardized_refit(model)
    np.testing.assert_array_equal(refit.cpdag_, second.cpdag_)
    found = survival(
        model.adjacency_, model.adjacency_ & ~model.undecided_, refit.adjacency_, refit.adjacency_ & ~in_class(refit)
    )
    assert (found.kept, found.kept_directions, found.opened, found.turned) == by_hand(model, second)
    sentence = find_units(CheckedModel(model)).finding
    assert f"{found.kept} of {found.edges} edges" in sentence
    place = np.argsort(np.argsort(X.var(axis=0)))
    count = sum(place[i] < place[j] for i, j in np.argwhere(model.adjacency_ & ~model.undecided_))
    assert f"would already give {count} of " in sentence


@pytest.mark.parametrize("seed", range(4))
def test_free_variances_rest_on_no_units(seed):
    """What the finding claims: the equivalence class is that of the same columns in any units."""
    X = simulate(9, 400, "ER2", "gaussian-nv", random_state=seed).data
    scales = np.exp(np.random.default_rng(seed).normal(0, 3, 9))
    model = Golem("nv").fit(X)
    np.testing.assert_array_equal(model.cpdag_, Golem("nv").fit(X * scales).cpdag_)
    assert diagnose(model)["units"].level == "ok"


@pytest.mark.parametrize("seed", range(3))
def test_directions_from_units_are_a_warning(seed):
    """A chain has no direction but by its scales."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 6)).cumsum(axis=1)
    for noise in ("ev", "auto"):
        finding = diagnose(Golem(noise).fit(X))["units"]
        assert finding.level == "warning"
        assert "5 of 5 edges remain, but no direction does (5 are open)." in finding.finding
        assert "noise='nv'" in finding.remedy


def test_colliders_survive_standardizing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[:, 2] += X[:, 0] + X[:, 1]
    finding = diagnose(Golem().fit(X))["units"]
    assert finding.level == "ok"
    assert "2 of 2 edges remain, and no direction changes." in finding.finding


def test_the_refit_is_left_out_where_it_is_dear(monkeypatch):
    X = simulate(6, 300, "ER1", random_state=0).data
    ordered, descended = Golem("ev").fit(X), Golem("ev", "lbfgs").fit(X)
    with monkeypatch.context() as smaller:
        smaller.setattr(refits, "LARGEST_REFIT", 5)
        assert find_units(CheckedModel(ordered)).finding.startswith("Not checked, because there are 6 columns")
    assert "Not checked, because the solver is slow" in diagnose(descended)["units"].finding
    assert "If the columns are standardized" in diagnose(descended, refit=True)["units"].finding
    assert diagnose(ordered, refit=False)["units"].finding.startswith("Not checked")


def test_the_refit_obeys_what_is_known():
    X = np.random.default_rng(1).normal(size=(500, 4)).cumsum(axis=1)
    known = Knowledge.of(4, required=[(3, 2), (2, 1)])
    refit = standardized_refit(Golem("ev", knowledge=known).fit(X))
    assert refit.adjacency_[3, 2]
    assert refit.adjacency_[2, 1]


def test_no_edges_rest_on_nothing():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = Golem("ev").fit(X)
    assert not model.adjacency_.any()
    assert diagnose(model)["units"].level == "ok"
