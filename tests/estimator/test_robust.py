"""robust="auto", "ranks" and "off": which moments a fit uses, what it says, and what refuses."""

import json

import numpy as np
import pandas as pd
import pytest

from golem import Golem, GolemCV, Moments, bootstrap, fit_file
from golem.data.robust import robust_table
from golem.data.table_reading import read_table
from golem.simulate import simulate
from golem.workflow import repeat_fit


@pytest.fixture(scope="module")
def clean():
    return simulate(8, 1000, "ER1", "gaussian-nv", weight_scale=0.4, random_state=3)


@pytest.fixture(scope="module")
def wild(clean):
    rng = np.random.default_rng(0)
    rows = clean.data.copy()
    rows[:10] += 30 * rng.choice([-1, 1], (10, 8)) * (rng.random((10, 8)) < 0.3)
    return rows


def adjacent(model):
    return model.adjacency_ | model.adjacency_.T


def test_auto_uses_ranks_only_if_there_are_outliers(clean, wild):
    expected = adjacent(Golem(robust="off").fit(clean.data))
    plain, robust = Golem(robust="off").fit(wild), Golem().fit(wild)
    assert (adjacent(plain) != expected).sum() > 2 * (adjacent(robust) != expected).sum()
    assert robust.table_.is_ranked
    assert "rows have outliers, so correlations are those of ranks" in robust.table_.robust_note
    np.testing.assert_array_equal(robust.weights_, Golem(robust="ranks").fit(wild).weights_)
    usual = Golem().fit(clean.data)
    np.testing.assert_array_equal(usual.weights_, Golem(robust="off").fit(clean.data).weights_)
    assert not usual.table_.robust_note


def test_the_choice_depends_neither_on_the_order_of_rows_nor_on_units(wild):
    for other in (wild[::-1], wild * 1e-6 + 5, np.random.default_rng(0).permutation(wild)):
        assert Golem().fit(other).table_.robust_note == Golem().fit(wild).table_.robust_note


def test_weights_are_in_the_units_of_the_columns(clean, wild):
    expected, found = Golem(robust="off").fit(clean.data), Golem().fit(wild * 100)
    same = (expected.adjacency_ & found.adjacency_).nonzero()
    np.testing.assert_allclose(found.weights_[same], expected.weights_[same], atol=0.15)
    np.testing.assert_allclose(found.moments_.variances, expected.moments_.variances * 1e4, rtol=0.15)


@pytest.mark.parametrize("noise", ["exponential", "standard_cauchy"])
def test_noise_with_heavy_tails_is_not_taken_for_outliers(noise):
    rng = np.random.default_rng(0)
    drawn = [getattr(rng, noise)(size=(500, 10)) @ np.triu(np.ones((10, 10))) for _ in range(10)]
    assert not any(robust_table(read_table(rows), "auto").is_ranked for rows in drawn)
    assert all(robust_table(read_table(rows), "ranks").is_ranked for rows in drawn)


def test_what_stays_on_plain_covariances(clean, wild):
    moments = Moments.from_rows(wild)
    model = Golem().fit(moments)
    assert not model.table_.is_ranked
    assert model.table_.robust_note.startswith("Outliers were not looked for")
    for model in (Golem("ev"), Golem(solver="lbfgs"), Golem.paper("ev", max_iter=10)):
        assert model.settings.robust_moments == "off"
    assert Golem.paper("nv").robust == "off"
    assert Golem("nv", "lbfgs", robust="ranks").fit(wild).table_.is_ranked


@pytest.mark.parametrize(
    ("settings", "data", "message"),
    [
        ({"robust": "ranks", "noise": "ev"}, None, "cannot be used with noise='ev'"),
        ({"robust": "ranks"}, Moments.from_rows(np.random.default_rng(0).normal(size=(50, 3))), "all rows in memory"),
        ({"robust": "ranks"}, pd.DataFrame({"a": list("xy") * 30, "b": list("xxy") * 20}), "needs numbers"),
        ({"robust": "median"}, None, "robust must be one of 'auto', 'ranks', 'off'"),
    ],
)
def test_what_cannot_be_ranked_is_refused(settings, data, message, wild):
    with pytest.raises(ValueError, match=message):
        Golem(**settings).fit(wild if data is None else data)


def test_columns_that_others_determine_are_refused_whatever_the_moments_are(wild):
    with pytest.raises(ValueError, match="combination"):
        Golem().fit(np.column_stack([wild, wild[:, 0] + wild[:, 1]]))
    uniform = np.random.default_rng(0).random(len(wild))
    same_ranks = np.column_stack([wild, uniform**4, np.exp(uniform)])
    assert not Golem().fit(same_ranks).table_.is_ranked
    with pytest.raises(ValueError, match="copies of each other"):
        Golem(robust="ranks").fit(same_ranks)


def test_environments_and_mixed_tables_can_be_ranked(wild):
    labels = np.repeat(["a", "b"], 500)
    model = Golem().fit(wild, environments=labels, targets={"a": [], "b": ["x1"]})
    assert [part.ranked for part in model.table_.parts] == [True, True]
    table = pd.DataFrame(wild[:, :4], columns=list("abcd")).assign(g=np.where(wild[:, 5] > 0, "high", "low"))
    assert Golem().fit(table).table_.is_ranked


def test_bootstrap_and_selection_use_the_moments_of_the_fit(wild):
    names, model = [f"x{j}" for j in range(8)], Golem("nv").fit(wild)
    scores = read_table(wild).with_ranks().parts[0].units.values
    found = bootstrap(model, wild, replicates=5)
    expected = bootstrap(Golem("nv", robust="off", shape="off"), pd.DataFrame(scores, columns=names), replicates=5)
    np.testing.assert_array_equal(found.adjacency_frequency, expected.adjacency_frequency)
    chosen = GolemCV(Golem("nv"), "cv").fit(wild)
    assert chosen.table_.is_ranked
    assert chosen.path_ == GolemCV(Golem("nv", robust="off"), "cv").fit(scores).path_


def test_files_follow_and_repeat(tmp_path, wild):
    pd.DataFrame(wild).add_prefix("v").to_csv(tmp_path / "wild.csv", index=False)
    result = fit_file(tmp_path / "wild.csv", tmp_path / "out", bootstrap=3)
    quick = fit_file(tmp_path / "wild.csv", tmp_path / "quick", diagnose=False)
    memory = Golem().fit(pd.DataFrame(wild).add_prefix("v"))
    for one in (result, quick):
        np.testing.assert_array_equal(one.model.adjacency_, memory.adjacency_)
    document = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert "correlations are those of ranks" in document["robust_note"]
    assert document["robust_note"] in (tmp_path / "out" / "report.html").read_text()
    again = repeat_fit(tmp_path / "out" / "graph.json", tmp_path / "again")
    assert again.repeat.same_data
    assert again.repeat.same_graph


def test_large_files_say_that_outliers_were_not_looked_for(tmp_path, wild, monkeypatch):
    monkeypatch.setattr("golem.data.robust.MOST_NUMBERS", 100)
    assert Golem().fit(wild).table_.robust_note.startswith("Outliers were not looked for")
