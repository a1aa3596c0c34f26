"""A second search against a fit of renamed columns by hand, and the sentence about the edges that differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from golem import Golem, Knowledge
from golem.assessment.diagnostics.search import find_search, reversed_refit
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
        finding = find_search(model, None)
        levels.add(finding.level)
        if noise == "nv":
            assert (finding.level == "ok") == same
        if finding.level != "ok":
            changed = np.argwhere(np.triu(model.cpdag_ != other.cpdag_[::-1, ::-1]))
            assert not len(changed) or f"'v{changed[0][0]}' - 'v{changed[0][1]}'" in finding.finding
            assert "effort='thorough'" in finding.remedy
            thorough = find_search(model.set_params(effort="thorough"), None)
            assert thorough.level == "ok" or thorough.remedy == "Do not rely on the edges that differ."
    assert len(levels) > 1


def test_exact_searches_and_large_tables_are_not_repeated():
    X = simulate(5, 100, "ER1", random_state=0).data
    for noise in ("nv", "auto"):
        assert "exact" in find_search(Golem(noise).fit(X), None).finding
    assert "Not checked" in find_search(Golem("ev").fit(X), False).finding
    assert find_search(Golem("ev").fit(X), None).level == "ok"
