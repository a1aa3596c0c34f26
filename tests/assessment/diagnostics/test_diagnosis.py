"""diagnose as a whole: what it lists, what it accepts, and what it does not change."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import golem
from golem import Golem, Moments
from golem.baselines import SortRegress
from golem.diagnostics import Diagnosis, Finding, diagnose
from golem.simulate import simulate

ALWAYS = [
    "density",
    "rows",
    "density",
    "equal-variances",
    "units",
    "search",
    "directions",
    "direction-conflicts",
    "noise-choice",
    "near-duplicates",
    "deterministic",
    "near-constant",
    "conditioning",
    "limits",
]


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(simulate(6, 400, "ER1", random_state=2).data, columns=list("abcdef"))


def test_everything_is_listed_with_and_without_rows(frame):
    model = Golem().fit(frame)
    with_rows, without = golem.diagnose(model, frame), Golem(evidence="fast").fit(frame).diagnose()
    from_rows = ["dependent-rows", "odd-values", "spikes", "normal-residuals", "influential-rows", "outliers"]
    from_rows += ["linearity", "independence"]
    assert {f.name for f in with_rows.findings} == {*ALWAYS, *from_rows}
    assert {f.name for f in without.findings} == {*ALWAYS, "rows-needed"}
    for found in (with_rows, without):
        assert all(f.finding.endswith(".") for f in found.findings)
        assert all(f.remedy for f in found.at("note", "warning"))
        assert "hidden common causes" in str(found)
        assert found.records() == [{**vars(f), "edges": [*f.edges]} for f in found.findings]
        assert json.loads(json.dumps(found.records()))
        assert all(len(f.headline) <= 76 for f in found.at("note", "warning"))
    assert with_rows["near-constant"].finding == "No column is nearly constant."
    assert "compared with its mean" in without["near-constant"].finding  # the rest needs rows


def test_a_small_complete_table_is_kept_for_the_checks_of_its_rows(frame):
    model = Golem().fit(frame)
    assert model.edges_  # asked for before, which checks the directions
    assert diagnose(model).records() == diagnose(model, frame).records()
    assert "not checked" not in str(model).lower()
    saved = pickle.loads(pickle.dumps(model))
    assert "rows-needed" in {f.name for f in diagnose(saved).findings}
    gaps = frame.assign(a=frame["a"].where(np.arange(len(frame)) % 7 > 0))
    assert "rows-needed" in {f.name for f in diagnose(Golem(missing="drop").fit(gaps)).findings}  # other row numbers


def test_only_a_graph_with_edges_has_edges_to_click():
    rows = np.random.default_rng(0).normal(size=(15, 2))
    empty, edge = (diagnose(Golem("nv", lambda_sparsity=penalty).fit(rows), rows) for penalty in (1e6, 0.0))
    for name in ("outliers", "normal-residuals"):  # which need more rows
        assert empty[name].remedy == "Look at a histogram of each column."
        assert edge[name].remedy.startswith("Click an edge")


def test_findings_are_sorted_by_level_and_importance(frame):
    clean = diagnose(Golem().fit(frame), frame)
    codes = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.05, -999.0)
    spoilt = diagnose(Golem("ev").fit(codes), codes)
    for diagnosis in (clean, spoilt):
        levels = [finding.level for finding in diagnosis.findings]
        assert levels == sorted(levels, key=["warning", "note", "ok"].index)
        assert diagnosis.at("note")[-1].name == "limits"
    assert spoilt.findings[0].name == "odd-values"


@pytest.mark.parametrize("seed", range(12))
def test_a_close_noise_choice_is_told_only_with_an_arrow_that_changes(seed):
    """Against fits with the other noise models: an arrow named as undecided or reversed there must not be claimed."""
    drawn = simulate(5, 100, "ER1", "gaussian-nv" if seed % 2 else "gaussian-ev", random_state=seed)
    model = Golem().fit(drawn.data)
    choice, finding = model.noise_choice_, diagnose(model)["noise-choice"]
    others = [kind for kind in choice.scores if kind != choice.kind]
    near = [kind for kind in others if choice.scores[kind] - choice.scores[choice.kind] < 10]
    claimed = model.adjacency_ & ~model.undecided_
    free = Golem("nv").fit(drawn.data)
    kept = {"free": free.adjacency_ & ~free.undecided_, "equal": choice.graphs["equal"], "tied": choice.graphs["tied"]}
    changed = {kind: {f"'x{i}' -> 'x{j}'" for i, j in np.argwhere(claimed & ~kept[kind])} for kind in near}
    assert (finding.level == "note") == any(changed.values())
    if finding.level == "note":
        assert any(arrow in finding.finding for arrows in changed.values() for arrow in arrows)
        behind = float(re.search(r"deviance is ([\d.]+) higher", finding.finding)[1])
        words = (
            "about as likely" if behind < 2 else "less likely (" if behind < 6 else "much less likely but not excluded"
        )
        assert f"which is {words}" in finding.finding


def test_columns_are_matched_by_name_and_left_untouched(frame):
    model = Golem().fit(frame)
    before = frame.copy()
    turned = diagnose(model, frame[list("fedcba")])
    assert turned == diagnose(model, frame) == diagnose(model, frame.to_numpy())
    pd.testing.assert_frame_equal(frame, before)


def test_undecided_directions_are_counted_and_named():
    X = np.random.default_rng(0).normal(size=(800, 3)).cumsum(axis=1)
    finding = diagnose(Golem("nv").fit(pd.DataFrame(X, columns=["u", "v", "w"])))["directions"]
    assert finding.level == "note"
    assert "2 of 2 edges have no evidence for their direction ('u' --- 'v', 'v' --- 'w')" in finding.finding
    assert "knowledge" in finding.remedy
    assert diagnose(Golem("ev").fit(X))["directions"].level == "ok"


def test_warnings_come_first_in_print():
    diagnosis = Diagnosis(
        [Finding("a", "note", "Mind."), Finding("b", "ok", "Fine."), Finding("c", "warning", "No.", "Do.")]
    )
    assert str(diagnosis) == "warning No. Do.\nnote    Mind."
    assert [finding.name for finding in diagnosis] == ["a", "b", "c"]
    with pytest.raises(KeyError, match="no finding 'z'; the findings are a, b, c"):
        diagnosis["z"]


def test_what_cannot_be_diagnosed_is_refused(frame):
    with pytest.raises(NotFittedError):
        diagnose(Golem())
    with pytest.raises(ValueError, match="a fitted GolemCV; got SortRegress"):
        diagnose(SortRegress().fit(frame))
    model = Golem().fit(frame)
    with pytest.raises(ValueError, match="'a', 'b', 'c', 'd', 'e'"):
        diagnose(model, frame.drop(columns="f"))
    with pytest.raises(ValueError, match="5 columns, but the model has 6"):
        diagnose(model, frame.to_numpy()[:, :5])
    with pytest.raises(ValueError, match=r"not 'Moments'\. To check a model without its rows, call diagnose\(model\)"):
        diagnose(model, Moments.from_table(frame))
    with pytest.raises(ValueError, match="Column 'f' is a category in X, but a number in the model"):
        diagnose(model, frame.assign(f=np.where(frame["f"] > 0, "high", "low")))


def test_rows_that_all_miss_a_value_are_no_rows(frame):
    model = Golem(evidence="fast").fit(frame)
    without, missing = diagnose(model), diagnose(model, frame.assign(a=np.nan))
    assert [f for f in missing.findings if f.name != "rows-needed"] == [
        f for f in without.findings if f.name != "rows-needed"
    ]
    assert "golem.diagnose(model, X)" in without["rows-needed"].remedy
    # That was just done, so it is not a remedy.
    assert "golem.diagnose" not in missing["rows-needed"].remedy
    assert missing["rows-needed"].finding.startswith("Not checked, because no row is complete: dependent rows")
    one = frame.assign(a=frame["a"].iloc[:1])
    assert "only one row is complete" in diagnose(model, one)["rows-needed"].finding


def test_a_cyclic_graph_is_refused():
    X = np.random.default_rng(0).normal(size=(100, 2))
    X[:, 1] += X[:, 0]
    model = Golem(
        "nv", "lbfgs", lambda_dag=0.0, lambda_sparsity=0.0, threshold=0.0, cycles="none", init=[[0, 0.4], [0.3, 0]]
    )
    model.fit(X)
    assert not hasattr(model, "sem_")
    with pytest.raises(ValueError, match="has a cycle"):
        diagnose(model)


def test_a_sample_of_the_rows_is_named(rng):
    X = rng.normal(size=(400, 3))
    model = Golem().fit(X)
    assert diagnose(model, X[:150])["sample"].finding.startswith(
        "The checks that need rows used a sample of 150 of 400"
    )
    holes = X.copy()
    holes[:100, 0] = np.nan
    for missing in ("drop", "em"):
        model = Golem(missing=missing).fit(holes)
        assert "sample" not in {finding.name for finding in diagnose(model, holes).findings}
        assert "150 of 300 complete rows" in diagnose(model, holes[:250])["sample"].finding


def test_a_sample_of_a_table_with_categories_is_named_if_all_rows_are_not_there(rng):
    table = pd.DataFrame(
        {"x": rng.normal(size=300), "kind": rng.choice(["a", "b"], 300), "b": rng.choice(["c", "d"], 300)}
    )
    assert "120 of 300" in diagnose(Golem().fit(table), table[:120])["sample"].finding
    kinds = pd.concat(
        [table[["kind", "b"]].assign(c=rng.choice(["e", "f", "g"], 300), d=rng.choice(["h", "i"], 300))] * 2
    )
    found = diagnose(Golem(score_function="bdeu").fit(kinds), kinds[:200])
    assert found.effective_rows == 300
    assert "sample" not in {finding.name for finding in found.findings}
