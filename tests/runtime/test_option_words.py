"""Settings in messages: as parameters of Python, for tables in files, and as options of the command line."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import golem
from golem.baselines import SortRegress
from golem.runtime.option_words import (
    SCATTER_PLOTS,
    as_categories,
    as_missing,
    as_options,
    dropping,
    for_files,
    for_library,
    one_copy_of,
)

LIBRARIES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda table: table,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "record batch": pa.RecordBatch.from_pandas,
}


def pasted(code: str, X: Any) -> Any:
    """Return the value of an expression of a message."""
    return eval(code, {"X": X, "np": np, "pl": pl, "pc": pc})


@pytest.mark.parametrize(
    ("message", "files", "options"),
    [
        (f"Drop it: {dropping(['a b'])}.", "Drop it: drop=['a b'].", "Drop it: --drop 'a b'."),
        (f"Use {as_categories(['a', 'b'])}.", "Use categorical=['a', 'b'].", "Use --categorical a,b."),
        (f"Use {as_missing([('a', '-9')])}.", "Use na=['a=-9'].", "Use --na a=-9."),
        (
            f"Use {as_missing([('a', '-9'), ('b', 'not known'), ('a', '0.5')])}.",
            "Use na=['a=-9', 'a=0.5', 'b=not known'].",
            "Use --na a=-9 --na a=0.5 --na 'b=not known'.",
        ),
        ("It needs targets=... Add it.", "It needs targets=... Add it.", "It needs --targets. Add it."),
        ("Use effort=... or noise='nv'.", "Use effort=... or noise='nv'.", "Use --effort or --noise nv."),
        ("Use (columns=[...]).", "Use (columns=[...]).", "Use (--columns)."),
        ("Use environments=True.", "Use environments=True.", "Use --environments."),
        ("Use environments='a'.", "Use environments='a'.", "Use --environment a."),
        ("Remove header=False.", "Remove header=False.", "Remove --no-header."),
        ("Use golem.fit_file(..., drop_dependent=True).", "Use drop_dependent=True.", "Use --drop-dependent."),
        ("noise_std must be low.", "noise_std must be low.", "--noise-std must be low."),
        (f"Look at it: {SCATTER_PLOTS}.", "Look at it: scatter=True.", "Look at it: --scatter."),
    ],
)
def test_a_message_names_what_applies_to_the_caller(message: str, files: str, options: str) -> None:
    """In Python the table or a parameter, on the command line an option."""
    assert for_files(message) == files
    assert as_options(message) == as_options(files) == options


@pytest.mark.parametrize("name", ["noise=nv", "c rows=3", "it's rows=3", "a header=True", "a drop=[...]"])
def test_names_that_look_like_settings_stay(name: str) -> None:
    """A column has its own name, also in the option that drops it."""
    told = f"Column {name!r} is the table's last. Drop it: {dropping([name])}, or use rows=5."
    dropped = f"--drop {shlex.quote(name)}"
    assert as_options(told) == f"Column {name!r} is the table's last. Drop it: {dropped}, or use --rows 5."


@pytest.mark.parametrize("name", ["it's", 'a "b"', "a,b", "new\nline", "[x]", "\\"])
def test_any_name_survives(name: str) -> None:
    """A name with quotes, commas or brackets can be pasted into a shell."""
    [word, value] = shlex.split(as_options(dropping([name])))
    assert (word, next(csv.reader([value], strict=True)) if "\n" not in name else [name]) == ("--drop", [name])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["code", "it's", "a {b}: np.nan"])
def test_what_a_message_says_can_be_pasted(library: str, name: str) -> None:
    """In every library, columns are dropped or become categories, and codes become missing."""
    table = LIBRARIES[library](pd.DataFrame({name: [1, 2, -9, 0], "sex": ["f", "m", "?", "f"], "x": [0.5, 1, 2, 3]}))

    def after(code: str) -> Any:
        found = pasted(for_library(code, table), table)
        return nw.from_native(found if isinstance(found, pd.DataFrame | pl.DataFrame) else pa.table(found))

    assert after(dropping([name, "sex"])).columns == ["x"]
    kinds = after(as_categories([name, "sex"])).schema
    assert [kinds[name], kinds["sex"]] == [nw.Categorical, nw.Categorical]
    missing = after(as_missing([(name, "-9"), ("sex", "?"), (name, "0")]))
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
    kept = golem.Golem().fit(pasted(for_library(dropping(["one"]), bad), pasted(keep[1], bad)))
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
    kept = pasted(for_library(one_copy_of(copies), X), X)
    assert kept.to_dict("list") == {"a": [1.5, 2.5], "b": ["x", "y"]}


def test_arrays_have_columns_by_number() -> None:
    """Unless their names come from elsewhere, such as a fitted model."""
    X = np.ones((9, 3))
    assert for_library(dropping(["x1", "x2"]), X) == "np.delete(X, [1, 2], axis=1)"
    assert for_library(dropping(["age"]), X) == dropping(["age"])
