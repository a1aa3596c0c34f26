"""The bootstrap of tables with categories."""

import numpy as np
import pandas as pd
import pytest

from golem import Golem, bootstrap
from golem.data.checks import DataWarning
from golem.diagnostics import find_outside_intervals
from golem.model.linear_sem import total_effects


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], 300)
    first = (kind == "b") * 1.5 + rng.normal(size=300)
    second = first + rng.normal(size=300)
    flag = np.where(second + rng.logistic(size=300) > 0, "yes", "no")
    return pd.DataFrame({"kind": kind, "first": first, "second": second, "flag": flag})


def test_frequencies_exist_for_all_edges_and_intervals_for_those_of_numbers(table):
    model = Golem().fit(table)
    found = bootstrap(model, table[list(table)[::-1]], 12, n_jobs=1)
    assert found.names == ("kind", "first", "second", "flag")
    assert found.adjacency_frequency[1, 2] == found.adjacency_frequency[2, 1] == 1
    assert found.direction_frequency + found.direction_frequency.T == pytest.approx(found.adjacency_frequency)
    numbers = np.array([False, True, True, False])
    defined = np.isfinite(found.weight_interval).all(axis=0)
    assert (defined == np.outer(numbers, numbers)).all()
    assert np.isnan(found.effect_interval[:, 0, 1]).all()
    # An undecided edge is drawn in both directions, so that its interval includes 0.
    assert found.weight_interval[0, 1, 2] == 0 < 0.5 < found.weight_interval[1, 1, 2] < 1.5


def test_discrete_tables_have_replicates(table):
    discrete = table[["kind", "flag"]]
    found = bootstrap(Golem(), discrete, 10, n_jobs=1, random_state=3)
    assert found.replicates == 10
    assert found.unit == "halves"
    assert "No edge has a weight" in find_outside_intervals(Golem().fit(discrete), found).finding
    again = bootstrap(Golem(), discrete, 10, n_jobs=2, random_state=3)
    assert (found.direction_frequency == again.direction_frequency).all()


def test_rare_levels_may_be_missing_in_a_half(table):
    rare = table.assign(kind=np.where(np.arange(300) < 3, "rare", table["kind"]))
    with pytest.warns(DataWarning, match="levels with fewer than 5 rows"):
        model = Golem().fit(rare)
    found = bootstrap(model, rare, 8, n_jobs=1)
    assert found.replicates == 8


def test_effects_along_an_edge_without_a_weight_are_unknown():
    rng = np.random.default_rng(1)
    B = np.triu(rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.6), 1)
    B[1, 3] = np.nan
    found = total_effects(B)
    known = np.isfinite(found)
    # An effect is known exactly if another value of the unknown weight does not change it.
    low, high = (np.linalg.inv(np.eye(6) - np.where(np.isnan(B), value, B)) for value in (1.7, 9.1))
    same = np.isclose(low, high)
    assert (known == same).all()
    assert found[known] == pytest.approx(low[known])
