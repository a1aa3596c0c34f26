"""The command line on tables with categories."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import golem
from golem import GolemCV


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 80)
    size = 2.0 * (kind == "a") + rng.normal(size=80)
    return pd.DataFrame({"kind": kind, "size": size, "cost": size + rng.normal(size=80)})


def test_a_fit_prints_writes_and_repeats(table, tmp_path):
    table.to_csv(tmp_path / "data.csv", index=False)
    result = golem("fit", tmp_path / "data.csv", "-o", tmp_path / "out", "--bootstrap", 4, "--no-diagnose", "--scatter")
    assert "There are no scatter plots (--scatter), because the table has categories." in result.output
    assert "learned from random halves of the rows" in result.output
    assert "strength: gain in log-likelihood from the edge" in result.output
    assert "score for mixed tables (degenerate Gaussian)" in result.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "graph.json", "edges.csv", "coefficients.csv", "graph.png", "report.html",
    }  # fmt: skip
    document = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert [one["kind"] for one in document["variables"]] == ["category", "numeric", "numeric"]
    edges = {frozenset((edge["source"], edge["target"])): edge for edge in document["edge_table"]}
    between = edges[frozenset(("size", "cost"))]
    assert between["weight_low"] <= between["weight"] <= between["weight_high"]
    assert edges[frozenset(("kind", "size"))]["weight_low"] is None
    assert edges[frozenset(("kind", "size"))]["adjacency_frequency"] == 1
    again = golem("fit", "--from", tmp_path / "out" / "graph.json", "-o", tmp_path / "again", "--no-diagnose")
    assert "the data are the same; the graph is the same" in again.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--select", "bic"], "only for tables of numbers, and this one has categories"),
        (["--score", "bdeu"], "needs a table of categories, but 2 columns are numbers: 'size', 'cost'"),
        (["--noise", "ev"], "has no equal noise variances"),
        (["--solver", "lbfgs"], "needs"),
    ],
)
def test_options_for_numbers_are_refused(table, tmp_path, options, message):
    table.to_csv(tmp_path / "data.csv", index=False)
    result = golem("fit", tmp_path / "data.csv", "-o", tmp_path / "out", *options, expect=1)
    assert message in result.output


def test_a_penalty_is_chosen_only_for_numbers(table):
    with pytest.raises(ValueError, match="only for tables of numbers"):
        GolemCV(select="bic").fit(table)
