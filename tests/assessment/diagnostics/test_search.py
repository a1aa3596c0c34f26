"""A second search against a fit of renamed columns by hand, and the sentence about the edges that differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from golem import Golem, Knowledge
from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.assessment.diagnostics.refits import find_search
from golem.assessment.second_search import keep_better, reversed_refit
from golem.datasets import load_sachs
from golem.diagnostics import diagnose
from golem.simulate import simulate


def few_rows(seed):
    """Return a table on which the search depends on the order of the columns."""
    return simulate(24, 48, "ER2", "gaussian-nv", random_state=seed).data


def test_the_second_search_is_a_fit_of_the_reversed_table():
    X = few_rows(0)
    knowledge = Knowledge.of(24, forbidden=[(0, 1)], required=[(2, 3)])
    again = reversed_refit(Golem("nv", knowledge=knowledge).fit(X))
    backwards = Knowledge.of(24, forbidden=[(23, 22)], required=[(21, 20)])
    by_hand = Golem("nv", knowledge=backwards).fit(X[:, ::-1])
    np.testing.assert_array_equal(again.cpdag_, by_hand.cpdag_[::-1, ::-1])


@pytest.mark.parametrize("noise", ["nv", "auto"])
def test_edges_that_differ_are_named(noise):
    levels = set()
    for seed in range(8):
        table = pd.DataFrame(few_rows(seed), columns=[f"v{j}" for j in range(24)])
        model = Golem(noise).fit(table)
        renamed = table[table.columns[::-1]].set_axis([f"v{j}" for j in range(24)], axis=1)
        other = Golem(noise).fit(renamed)
        same = np.array_equal(other.cpdag_[::-1, ::-1], model.cpdag_)
        finding = find_search(CheckedModel(model))
        levels.add(finding.level)
        if noise == "nv":
            assert (finding.level == "ok") == same
        if finding.level != "ok":
            differs = model.cpdag_ != other.cpdag_[::-1, ::-1]
            changed = np.argwhere(np.triu(differs | differs.T))
            assert not len(changed) or f"'v{changed[0][0]}' --- 'v{changed[0][1]}'" in finding.finding
            assert "effort='thorough'" in finding.remedy
            thorough = find_search(CheckedModel(model.set_params(effort="thorough")))
            assert thorough.level == "ok" or thorough.remedy == "Do not rely on the edges that differ."
    assert len(levels) > 1


def test_exact_searches_and_large_tables_are_not_repeated():
    X = simulate(5, 100, "ER1", random_state=0).data
    for noise in ("nv", "auto"):
        assert "exact" in find_search(CheckedModel(Golem(noise).fit(X))).finding
    assert "Not checked" in find_search(CheckedModel(Golem("ev").fit(X), refit=False)).finding
    assert find_search(CheckedModel(Golem("ev").fit(X))).level == "ok"


def score(model):
    choice = model.noise_choice_
    return 2 * model.moments_.n * model.solution_.terms["score"] if choice is None else choice.scores[choice.kind]


def rows_of_kind(kind, seed):
    """Return a table on which the second search finds a better graph for some seeds, and the settings of the fit."""
    X = few_rows(seed)
    if kind != "categories":
        return X, {"noise": kind}
    names = [f"v{j:02}" for j in range(22)]
    return pd.DataFrame(X[:, :22], columns=names).assign(v20=np.where(X[:, 20] > 0, "yes", "no")), {}


@pytest.mark.parametrize(("kind", "seeds"), [("nv", (38, 2)), ("auto", (1, 3, 6)), ("categories", (5, 0))])
def test_the_better_graph_of_two_searches_is_shown(kind, seeds):
    gains = []
    for seed in seeds:
        X, settings = rows_of_kind(kind, seed)
        model = Golem(**settings).fit(X)
        before, again, kinds = score(model), reversed_refit(model), (model.score_, model.variables_)
        keep_better(model)
        assert (model.score_, model.variables_) == kinds
        assert diagnose(model)["directions"]
        assert score(model) == pytest.approx(min(before, score(again)))
        assert "The other graph is better" not in find_search(CheckedModel(model)).finding
        gains.append(before - score(model))
        if gains[-1] > 0.05:
            np.testing.assert_array_equal(model.cpdag_, again.cpdag_)
            assert f"The graph shown is better than the other one, by a score difference of {gains[-1]:.1f}" in (
                find_search(CheckedModel(model)).finding
            )
    assert max(gains) > 0.05 > min(gains) > -0.05


def test_directions_by_interventions_are_not_a_difference_of_two_searches():
    """The second search has no rows, without which experiments decide nothing."""
    rng = np.random.default_rng(0)
    B = np.diag(np.full(13, 0.8), 1)  # a chain; the experiment doubles the noise of the middle
    tables = {}
    for label, scale in (("control", 1.0), ("treated", 2.0)):
        noise = rng.normal(size=(800, 14))
        noise[:, 7] *= scale
        tables[label] = noise @ np.linalg.inv(np.eye(14) - B)
    model = Golem("nv").fit(tables, targets={"control": [], "treated": [7]})
    assert model.by_intervention_.any()
    finding = find_search(CheckedModel(model))
    assert finding.level == "ok", finding


def test_directions_that_the_rows_refute_are_not_edges_that_differ():
    sachs = load_sachs()
    model = Golem("ev").fit(pd.DataFrame(sachs.values, columns=sachs.names))
    assert (model.undecided_ & ~model.cpdag_.T).any()  # the class has a direction that the rows do not support
    np.testing.assert_array_equal(reversed_refit(model).cpdag_, model.cpdag_)
    assert find_search(CheckedModel(model)).level == "ok"
