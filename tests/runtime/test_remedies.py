"""Remedies in messages: code for each library, parameters for tables in files, and options of the command line."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import typer
from typer.testing import CliRunner

import golem
from golem.baselines import SortRegress
from golem.cli import app
from golem.runtime.dialects import FILES, OPTIONS, PANDAS, SHELL, Dialect, dialect_of
from golem.runtime.problems import (
    DROP_DEPENDENT,
    SCATTER_PLOTS,
    Bare,
    Declare,
    Drop,
    KeepOne,
    MarkMissing,
    Parameter,
    Remedy,
    Set,
    Text,
    Treat,
    told,
)

LIBRARIES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda table: table,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "record batch": pa.RecordBatch.from_pandas,
}


def written(remedy: Remedy, dialect: Dialect) -> str:
    """Return the words of a dialect."""
    return str(Text(remedy, dialect=dialect))


def pasted(code: str, X: Any) -> Any:
    """Return the value of an expression of a message."""
    return eval(code, {"X": X, "np": np, "pl": pl, "pc": pc})


@pytest.mark.parametrize(
    ("remedy", "pandas", "files", "shell"),
    [
        (Drop(["a b"]), "X.drop(columns=['a b'])", "drop=['a b']", "--drop 'a b'"),
        (
            Declare(["a", "b"]),
            "X.astype({'a': 'category', 'b': 'category'})",
            "categorical=['a', 'b']",
            "--categorical a,b",
        ),
        (MarkMissing([("a", "-9")]), "X.replace({'a': {-9: np.nan}})", "na=['a=-9']", "--na a=-9"),
        (
            MarkMissing([("a", "-9"), ("b", "not known"), ("a", "0.5")]),
            "X.replace({'a': {-9: np.nan, 0.5: np.nan}, 'b': {'not known': np.nan}})",
            "na=['a=-9', 'a=0.5', 'b=not known']",
            "--na a=-9 --na a=0.5 --na 'b=not known'",
        ),
        (Set("targets"), "targets=...", "targets=...", "--targets"),
        (Set("noise", "nv"), "noise='nv'", "noise='nv'", "--noise nv"),
        (Set("rows", 5), "rows=5", "rows=5", "--rows 5"),
        (Set("rows", Bare("N")), "rows=N", "rows=N", "--rows N"),
        (Set("columns", [...]), "columns=[...]", "columns=[...]", "--columns"),
        (Set("na", ["?", "-"]), "na=['?', '-']", "na=['?', '-']", "--na '?' --na -"),
        (Set("environments", True), "environments=True", "environments=True", "--environments"),
        (Set("environments", "a"), "environments='a'", "environments='a'", "--environment a"),
        (Set("header", False), "header=False", "header=False", "--no-header"),
        (Set("dtype", "float32"), "dtype='float32'", "dtype='float32'", "dtype='float32'"),
        (Parameter("noise_std"), "noise_std", "noise_std", "--noise-std"),
        (Parameter("acyclicity"), "acyclicity", "acyclicity", "acyclicity"),
        (Treat("em"), "Golem(missing='em').fit(X)", "missing='em'", "--missing em"),
        (
            Treat("drop", ["a"]),
            "Golem(missing='drop').fit(X.drop(columns=['a']))",
            "missing='drop' drop=['a']",
            "--missing drop --drop a",
        ),
        (DROP_DEPENDENT, "golem.fit_file(..., drop_dependent=True)", "drop_dependent=True", "--drop-dependent"),
        (SCATTER_PLOTS, "model.report('report.html', rows=X)", "scatter=True", "--scatter"),
    ],
)
def test_a_remedy_is_written_for_the_caller(remedy: Remedy, pandas: str, files: str, shell: str) -> None:
    """In Python the table or a parameter, on the command line an option."""
    assert [written(remedy, dialect) for dialect in (PANDAS, FILES, SHELL)] == [pandas, files, shell]


def test_dots_end_the_sentence() -> None:
    """A value that stands for any other ends with the dot of the sentence."""
    message = Text("It needs ", Set("targets"), ". Add it.")
    assert (message, told(message, SHELL)) == ("It needs targets=... Add it.", "It needs --targets. Add it.")


@pytest.mark.parametrize("copies", [None, 3])
def test_a_shell_keeps_one_of_several_lines(copies: int | None) -> None:
    """A command for text files."""
    chosen = "!seen[$0]++" if copies is None else "seen[$0]++ % 3 == 0"
    assert written(KeepOne(copies), SHELL) == f"awk '{chosen}' FILE > unique.csv"


def test_all_options_are_those_of_a_command() -> None:
    """What a message names can be typed."""
    commands = typer.main.get_command(app).commands.values()  # type: ignore[attr-defined]
    known = {option for command in commands for one in command.params for option in (*one.opts, *one.secondary_opts)}
    assert {written(Parameter(name), SHELL) for name in OPTIONS} - known == set()
    assert written(Set("header", False), SHELL) in known


def test_options_of_a_message_are_accepted(tmp_path: Path) -> None:
    """A table with a code, a constant column and a column of labels is fitted as the remedies say."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "blood pressure"])
    table = table.assign(one=1, group=np.arange(60) % 3)
    table.loc[:4, "b"] = -999
    table.to_csv(tmp_path / "data.csv", index=False)
    remedies = [
        Drop(["one"]),
        Declare(["group"]),
        MarkMissing([("b", "-999")]),
        Set("missing", "drop"),
        Set("noise", "nv"),
    ]
    options = " ".join(written(remedy, SHELL) for remedy in remedies)
    out = ["-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["fit", str(tmp_path / "data.csv"), *out, *shlex.split(options), "--no-diagnose"])
    assert result.exit_code == 0, result.output
    document = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert document["names"] == ["a", "b", "blood pressure", "group"]
    assert document["n"] == 55


@pytest.mark.parametrize("name", ["it's", 'a "b"', "a,b", "new\nline", "[x]", "\\", "noise=nv", "a header=True"])
def test_any_name_survives(name: str) -> None:
    """A name with quotes, commas or brackets can be pasted into a shell."""
    [word, value] = shlex.split(written(Drop([name]), SHELL))
    assert (word, next(csv.reader([value], strict=True)) if "\n" not in name else [name]) == ("--drop", [name])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["code", "it's", "a {b}: np.nan"])
def test_what_a_message_says_can_be_pasted(library: str, name: str) -> None:
    """In every library, columns are dropped or become categories, and codes become missing."""
    table = LIBRARIES[library](pd.DataFrame({name: [1, 2, -9, 0], "sex": ["f", "m", "?", "f"], "x": [0.5, 1, 2, 3]}))

    def after(remedy: Remedy) -> Any:
        found = pasted(written(remedy, dialect_of(table)), table)
        return nw.from_native(found if isinstance(found, pd.DataFrame | pl.DataFrame) else pa.table(found))

    assert after(Drop([name, "sex"])).columns == ["x"]
    kinds = after(Declare([name, "sex"])).schema
    assert [kinds[name], kinds["sex"]] == [nw.Categorical, nw.Categorical]
    missing = after(MarkMissing([(name, "-9"), ("sex", "?"), (name, "0")]))
    assert missing[name].is_null().to_list() == [False, False, True, True]
    assert missing["sex"].is_null().to_list() == [False, False, True, False]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_advice_of_an_error_works_in_every_library(library: str) -> None:
    """What the message says makes the table one that can be fitted."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    days = pd.to_datetime(["2020-01-01", "2020-02-01"] * 60)
    bad = LIBRARIES[library](table.assign(one=1.0, day=days))
    with pytest.raises(ValueError, match="constant") as error:
        golem.Golem().fit(bad)
    drop = re.search(r"Drop them: (.*?)\. To keep", str(error.value))
    keep = re.search(r"use each date as a category: (.*)\.$", str(error.value))
    assert drop is not None
    assert keep is not None
    assert len(golem.Golem().fit(pasted(drop[1], bad)).variables_) == 3
    kept = golem.Golem().fit(pasted(written(Drop(["one"]), dialect_of(bad)), pasted(keep[1], bad)))
    assert [variable.name for variable in kept.variables_ if variable.is_category] == ["day"]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize(
    "run",
    [
        lambda X: golem.GolemCV(golem.Golem()).fit(X),
        lambda X: golem.bootstrap(golem.Golem(), X, replicates=2),
        lambda X: SortRegress().fit(X),
        lambda X: golem.compare(X, methods="order"),
    ],
)
def test_every_function_names_remedies_of_the_library(library: str, run: Callable[[Any], object]) -> None:
    """A constant column is to be dropped in the words of the library."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc")).assign(one=1.0)
    with pytest.raises(ValueError, match="constant") as error:
        run(LIBRARIES[library](table))
    assert "X.drop(columns" not in str(error.value)
    assert {"polars": "X.drop(['one'])", "pyarrow": "X.drop_columns(['one'])"}[library] in str(error.value)


def test_environments_name_remedies_of_the_library() -> None:
    """A table per environment has the library of the first one."""
    X = pl.DataFrame({"a": [1.5, 2.5, 4.0], "day": ["2020-01-01", "2020-01-02", "2020-01-04"]})
    with pytest.raises(ValueError, match=r"Drop it: X\.drop\(\['day'\]\)\."):
        golem.Golem().fit({"control": X, "treated": X}, targets={"control": [], "treated": ["a"]})


@pytest.mark.parametrize("library", LIBRARIES)
def test_findings_name_remedies_of_the_library(library: str) -> None:
    """A finding about a code names what to do in the library of the table."""
    table = pd.DataFrame(np.random.default_rng(0).normal(10, 1, size=(200, 3)), columns=list("abc"))
    table.loc[:9, "b"] = -999
    X = LIBRARIES[library](table)
    remedy = golem.diagnose(golem.Golem().fit(X), X)["odd-values"].remedy
    code = re.search(r"use (.*) and missing='em'", remedy)
    assert code is not None
    marked = nw.from_native(pa.table(pasted(code[1], X)) if library == "record batch" else pasted(code[1], X))
    assert marked["b"].is_null().sum() == 10


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize("copies", [None, 2])
def test_one_of_several_copies_is_kept_in_every_library(library: str, copies: int | None) -> None:
    """Copied rows are removed, and names are kept."""
    X = LIBRARIES[library](pd.DataFrame({"a": [1.5, 1.5, 2.5, 2.5], "b": list("xxyy")}))
    kept = pasted(written(KeepOne(copies), dialect_of(X)), X)
    assert kept.to_dict("list") == {"a": [1.5, 2.5], "b": ["x", "y"]}


def test_arrays_have_columns_by_number() -> None:
    """Unless their names come from elsewhere, such as a fitted model."""
    X = np.arange(12.0).reshape(4, 3)
    code = written(Drop(["x1", "x2"]), dialect_of(X))
    assert code == "np.delete(X, [1, 2], axis=1)"
    np.testing.assert_array_equal(pasted(code, X), X[:, :1])
    assert written(Drop(["age"]), dialect_of(X)) == written(Drop(["age"]), PANDAS)
