"""Linear dependence: exact combinations are refused, columns with noise of their own are not."""

from __future__ import annotations

import json
import re
import shlex
import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from golem import DataWarning, Golem, Moments
from golem.cli import app
from golem.data.checks import require_learnable
from golem.data.unusable import unusable_columns
from golem.simulate import simulate


@pytest.mark.parametrize("noise", ["ev", "nv"])
@pytest.mark.parametrize("spread", [0, 1, 3])
@pytest.mark.parametrize("mean", [0.0, 1e4, 1e8])
def test_a_linear_combination_is_refused_at_any_scale_and_mean(noise, spread, mean):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        mixed = rng.normal(size=(200, 6)) @ (np.eye(6) + rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.3))
        X = mixed * 10.0 ** rng.uniform(-spread, spread, 6)
        X += mean * X.std(axis=0) * rng.normal(size=6)
        X = np.insert(X, rng.integers(7), X[:, :3].sum(axis=1), axis=1)
        with pytest.raises(ValueError, match="is a linear combination of"):
            Golem(noise).fit(X)


@pytest.mark.parametrize(("size", "expected"), [(1e-3, 0), (1e-6, 1)])
def test_a_total_with_noise_of_its_own_is_learned_with_a_warning_if_the_noise_is_tiny(size, expected):
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(500, 4)) * [1, 2, 3, 4]
    total = parts[:, :2].sum(axis=1) + size * rng.normal(size=500)
    X = np.column_stack([parts, total])
    for noise in ("ev", "nv", "auto"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = Golem(noise).fit(X)
        near = [one for one in caught if "nearly a linear combination" in str(one.message)]
        assert len(near) == expected
        assert all(one.filename == __file__ for one in near)
        joined = model.adjacency_ | model.adjacency_.T
        assert joined[0, 4] or joined[1, 4]


def test_dense_graphs_with_little_noise_are_not_refused():
    # Of some columns only 1e-12 of the variance is noise, and the regressions still find the graph.
    drawn = simulate(100, 1000, "ER10", random_state=0)
    with pytest.warns(DataWarning, match="nearly a linear combination of .* only .e-1. of its variance"):
        require_learnable(Moments.from_rows(drawn.data), uses_scale=False)
    with pytest.warns(DataWarning, match="nearly a linear combination"):
        model = Golem("ev").fit(drawn.data)
    assert (model.adjacency_ != drawn.sem.adjacency).sum() <= 2


def test_rounding_errors_of_many_columns_do_not_add_up():
    # Added up, they could explain more than a tenth of the variance that remains of a column.
    moments = Moments.from_rows(simulate(100, 500, "ER12", "gaussian-nv", random_state=23).data)
    with pytest.warns(DataWarning, match="nearly a linear combination"):
        require_learnable(moments, uses_scale=False)
    assert not unusable_columns(moments)


def test_a_table_of_constants_has_only_constant_columns():
    found = unusable_columns(Moments.from_rows(np.ones((5, 2)), ["a", "b"]))
    assert [(column.name, column.determined_by) for column in found] == [("a", ()), ("b", ())]


def test_a_table_can_be_used_without_its_unusable_columns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5)) * [1, 10, 100, 1e3, 1e4]
    X = np.column_stack([X, X.sum(axis=1), X[:, 0] - X[:, 4], 2 * X[:, 1]])
    dropped = {int(column.name[1:]) for column in unusable_columns(Moments.from_rows(X))}
    assert len(dropped) == 3
    rest = Moments.from_rows(np.delete(X, list(dropped), axis=1))
    require_learnable(rest, uses_scale=False)
    assert not unusable_columns(rest)


def test_columns_of_treatments_are_told_about_experiments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    arms = np.repeat(np.eye(3), 60, axis=0)  # every row has one of three treatments
    X = rng.normal(size=(180, 2)) + arms[:, :2]
    names = ["PKC", "Akt", "pma", "ly", "none"]
    pd.DataFrame(np.column_stack([X, arms]), columns=names).to_csv("a.csv", index=False)
    said = CliRunner().invoke(app, ["fit", "a.csv", "-o", "out"]).output
    options = re.search(r"If 'pma', 'ly', 'none' \(0 or 1\) mark experiments.* use (--environment.*) \(docs/int", said)
    assert options, said
    label = pd.Series(names[2:]).iloc[arms.argmax(axis=1)].to_list()
    pd.DataFrame(X, columns=names[:2]).assign(experiment=label).to_csv("b.csv", index=False)
    (tmp_path / "targets.json").write_text(json.dumps({"pma": ["PKC"], "ly": ["Akt"], "none": []}))
    fitted = CliRunner().invoke(app, ["fit", "b.csv", "-o", "out", *shlex.split(options[1])])
    assert fitted.exit_code == 0, fitted.output
    # Other linear combinations have nothing to do with experiments.
    with pytest.raises(ValueError, match="linear combination") as error:
        Golem().fit(np.column_stack([X, X.sum(axis=1)]))
    assert "experiments" not in str(error.value)


@pytest.mark.parametrize("missing", ["error", "em"])
def test_large_integers_that_vary_in_their_last_digits_are_not_called_constant(missing):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"stamp": 10**18 + np.arange(60), "y": rng.normal(size=60), "z": rng.normal(size=60)})
    if missing == "em":
        table.loc[0, "y"] = np.nan
    with pytest.raises(ValueError, match="'stamp' is constant in the first 14 digits of its numbers"):
        Golem(missing=missing).fit(table)


def test_columns_that_only_seem_constant_say_why():
    noise = np.random.default_rng(0).normal(size=60)
    rows = np.column_stack([1e18 + 1000 * noise, 1e-200 * noise, np.ones(60), noise])
    found = unusable_columns(Moments.from_rows(rows, ["stamp", "small", "one", "y"]))
    assert [column.reason for column in found] == ["constant in the first 14 digits", "tiny numbers", "constant"]
