"""Tables with categories from experiments: fitted, bootstrapped, checked and reported."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import golem
from golem import Golem
from golem.comparison import compare
from golem.output import list_edges

TARGETS = {"control": [], "dose": ["dose"], "kind": ["kind"]}
EFFECTS = {"a": 0.0, "b": 1.5, "c": -1.0}


def draw(n, seed, changed=None):
    """Return rows of kind -> dose -> size -> sick; a hard intervention sets `dose` or `kind`."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(list("abc"), size=n, p=[0.1, 0.1, 0.8] if changed == "kind" else [0.5, 0.3, 0.2])
    dose = rng.normal(size=n) + np.vectorize(EFFECTS.get)(kind)
    if changed == "dose":
        dose = rng.normal(size=n) * 2 + 3
    size = 0.9 * dose + rng.normal(size=n)
    sick = np.where(size + rng.logistic(size=n) > 0, "yes", "no")
    return pd.DataFrame({"kind": kind, "dose": dose, "size": size, "sick": sick})


@pytest.fixture(scope="module")
def parts():
    return {"control": draw(800, 0), "dose": draw(400, 1, "dose"), "kind": draw(400, 2, "kind")}


@pytest.fixture(scope="module")
def table(parts):
    return pd.concat([part.assign(arm=label) for label, part in parts.items()], ignore_index=True)


@pytest.fixture(scope="module")
def model(table):
    return Golem(intervention="hard").fit(table, environments="arm", targets=TARGETS)


def test_the_graph_is_found_and_experiments_direct_it(model):
    assert model.score_ == "mixed"
    assert {(e.source, e.target) for e in model.edges_} == {("kind", "dose"), ("dose", "size"), ("size", "sick")}
    by_ends = {(e.source, e.target): e for e in model.edges_}
    assert by_ends["dose", "size"].direction_from == "interventions"
    assert by_ends["dose", "size"].weight == pytest.approx(0.9, abs=0.05)
    assert all(e.edge_strength > 10 for e in model.edges_)
    assert not hasattr(model, "sem_")


def test_coefficients_leave_out_the_environments_that_target_the_effect(parts, model):
    rows = pd.concat([parts["control"], parts["kind"]])
    labels = np.repeat([0, 1], [len(parts["control"]), len(parts["kind"])])
    X = np.column_stack([rows["kind"] == "b", rows["kind"] == "c", labels == 0, labels == 1]).astype(float)
    expected = np.linalg.lstsq(X, rows["dose"].to_numpy(), rcond=None)[0]
    found = {c.source_level: c.coefficient for c in model.coefficients_ if (c.source, c.target) == ("kind", "dose")}
    assert found == pytest.approx({"b": expected[0], "c": expected[1]})


def test_the_cost_of_a_node_is_that_of_the_rows_that_do_not_target_it(parts, model):
    score, names = model.fit_.score.deviance(), list(model.table_.names)
    kept = [parts["control"], parts["kind"]]
    centred = pd.concat([part[["dose", "size"]] - part[["dose", "size"]].mean() for part in kept]).to_numpy()
    slope = centred[:, 1] @ centred[:, 0] / (centred[:, 1] @ centred[:, 1])
    residual, n = centred[:, 0] - slope * centred[:, 1], len(centred) - 2
    expected = n * np.log(residual @ residual / n)
    assert score.cost(names.index("dose"), [names.index("size")]) == pytest.approx(expected)


def test_all_kinds_of_input_agree(parts, table, model):
    labels = table["arm"].to_numpy()
    others = [
        Golem(intervention="hard").fit(pl.from_pandas(table), environments="arm", targets=TARGETS),
        Golem(intervention="hard").fit(table.drop(columns="arm"), environments=labels, targets=TARGETS),
        Golem(intervention="hard").fit(parts, targets=TARGETS),
        Golem(intervention="hard").fit(table[list(table)[::-1]], environments="arm", targets=TARGETS),
    ]
    for other in others:
        assert {e[:2]: e.direction_from for e in other.edges_} == {e[:2]: e.direction_from for e in model.edges_}
        assert {e[:2]: e.edge_strength for e in other.edges_} == pytest.approx(
            {e[:2]: e.edge_strength for e in model.edges_}
        )


def test_it_is_bootstrapped_checked_drawn_and_reported(table, model, tmp_path):
    found = golem.bootstrap(model, table, 10, environments="arm")
    assert found.unit == "halves"
    assert found.adjacency_frequency[model.adjacency_].min() > 0.8
    names = {finding.name for finding in golem.diagnose(model).findings}
    assert {"target-effects", "rare-levels"} <= names
    page = model.report(tmp_path / "report.html", bootstrap=found).read_text()
    assert "kind" in page
    assert {edge.source for edge in list_edges(model, found)} == {"kind", "dose", "size"}
    assert model.plot() is not None


def test_methods_that_can_are_compared(table):
    result = compare(table, ["order", "fgs"], environments="arm", targets=TARGETS)
    order, fgs = result.rows
    assert (order.status, order.edges) == ("done", 3)
    assert order.score is not None
    assert "needs numbers" in fgs.message


def test_scores_that_count_are_refused(table):
    with pytest.raises(ValueError, match=r"score_function='bdeu' cannot be used with environments"):
        Golem(score_function="bdeu").fit(table, environments="arm", targets=TARGETS)


def test_an_experiment_without_effect_directs_nothing():
    table = pd.concat([draw(300, k).assign(arm=label) for k, label in enumerate(TARGETS)], ignore_index=True)
    model = Golem().fit(table, environments="arm", targets=TARGETS)
    assert not model.by_intervention_.any()


def test_a_level_may_occur_only_where_an_experiment_sets_it(parts):
    rare = parts | {"kind": parts["kind"].assign(kind="new")}
    model = Golem(intervention="hard").fit(rare, targets=TARGETS)
    assert "new" in model.variables_[0].levels
    assert ("dose", "size") in {edge[:2] for edge in model.edges_}
