"""Missing values as they are typed: --missing of golem fit and golem compare, in CSV and Parquet files."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import golem
from golem import Golem, GolemCV, Moments, bootstrap
from golem.readers import moments_from_file, read_graph, shards_from_file
from golem.simulate import simulate

NAMES = tuple("abcde")
WORDS = ("", "NA", "NaN", "null", "n/a")


@pytest.fixture
def rows(rng):
    X = simulate(5, 800, "ER1", random_state=2).data
    X[rng.random(X.shape) < 0.06] = np.nan
    return X


@pytest.fixture
def files(tmp_path, rows):
    """Write the same table as CSV, where nothing has many names, and as Parquet with nulls."""
    words = iter(WORDS * 1000)
    lines = [",".join(next(words) if v != v else repr(float(v)) for v in row) for row in rows]
    (tmp_path / "data.csv").write_text("\n".join([",".join(NAMES), *lines]) + "\n")
    table = pa.table({name: pa.array(column, from_pandas=True) for name, column in zip(NAMES, rows.T, strict=True)})
    assert table["a"].null_count
    pq.write_table(table, tmp_path / "data.parquet", row_group_size=100)
    return [tmp_path / "data.csv", tmp_path / "data.parquet"]


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_fit_and_compare_name_the_same_line(tmp_path, rows, kind):
    lines = [f"{'ab'[k % 2] if kind == 'categories' else k * k % 7},{row[0]}" for k, row in enumerate(rows)]
    first = next(k for k, line in enumerate(lines) if line.endswith("nan"))
    (tmp_path / "data.csv").write_text("\n".join(["kind,size", *lines]) + "\n")
    for command in (["fit", "--strict"], ["compare"]):
        said = golem(*command, tmp_path / "data.csv", "-o", tmp_path / "out", expect=1).output
        assert f"The first is in line {first + 2}." in said


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_files_give_the_moments_of_the_rows(missing, files, rows):
    expected = Moments.from_rows(rows, NAMES, missing=missing)
    for path in files:
        found = moments_from_file(path, missing=missing)
        assert found.n == expected.n
        assert found.missing == expected.missing
        np.testing.assert_allclose(found.mean, expected.mean)
        np.testing.assert_allclose(found.covariance, expected.covariance)


def test_dropping_happens_in_the_stream_shard_by_shard(files, rows):
    complete = ~np.isnan(rows).any(axis=1)
    for path in files:
        shards = shards_from_file(path, 4, missing="drop")
        assert sum(shard.n for shard in shards) == complete.sum()
        assert sum(shard.missing.rows for shard in shards) == (~complete).sum()
        with pytest.raises(ValueError, match="neither shards nor clusters"):
            shards_from_file(path, 4, missing="em")


def test_em_reads_no_more_rows_than_memory_is_meant_for(files, monkeypatch):
    monkeypatch.setattr("golem.runtime.machine._SMALL", 0)
    monkeypatch.setattr("golem.data.files.streaming.free_memory", lambda: 1000)
    with pytest.raises(ValueError, match=r"Keeping all rows in memory needs about .* are free"):
        moments_from_file(files[0], missing="em")


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_fit_says_what_it_did(missing, files, rows, tmp_path):
    result = golem("fit", "-v", files[0], "-o", tmp_path / "out", "--missing", missing)
    lack = f"{np.isnan(rows).sum()} values are missing in {np.isnan(rows).any(axis=1).sum()} of 800 rows"
    assert lack in result.output
    complete = 800 if missing == "em" else int((~np.isnan(rows).any(axis=1)).sum())
    assert ("these rows were dropped" in result.output) == (complete < 800)
    content = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert content["missing"]["sentence"].startswith(lack)
    assert content["missing"]["method"] == content["settings"]["missing"] == missing
    model = Golem(missing=missing, random_state=0).fit(rows)
    np.testing.assert_allclose(read_graph(tmp_path / "out" / "graph.json").weights, model.weights_, atol=1e-6)
    assert content["n"] == model.moments_.n


def test_without_a_choice_the_columns_and_the_choices_are_named(files, tmp_path):
    result = golem("fit", files[1], "-o", tmp_path / "out", "--strict", expect=1)
    assert "Missing values (NaN) in 5 of 5 columns: 'a' (" in result.output
    assert "Drop those rows (--missing drop), use Gaussian EM (--missing em)" in result.output
    golem("fit", files[1], "--missing", "mean", expect=2)


def test_a_table_without_a_complete_row_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,\n,2\n" * 50)
    result = golem("fit", path, "--missing", "drop", "-o", tmp_path / "out", expect=1)
    assert "after dropping 100 rows with missing values" in result.output
    result = golem("fit", path, "--missing", "em", "-o", tmp_path / "out", expect=1)
    assert "data.csv: 100 of 100 rows have missing values. Constant columns: 'a', 'b'." in result.output


def test_an_infinite_value_is_found_in_its_line_among_missing_ones(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n,3\n4,inf\n5,6\n")
    assert "The first is in line 4" in golem("fit", path, "--missing", "drop", "-o", tmp_path / "out", expect=1).output


@pytest.mark.usefixtures("methods_here")
def test_compare_chooses_once_for_all_methods(files, tmp_path):
    for missing, error in (("drop", ""), ("em", "needs the rows of the data")):
        out = tmp_path / missing
        result = golem("compare", files[0], "--methods", "fgs,direct-lingam", "--missing", missing, "-o", out)
        assert "missing in" in result.output
        rows = (out / "comparison.csv").read_text().splitlines()
        assert ",done," in rows[1]
        assert (error in rows[2]) if error else (",done," in rows[2])
    golem("compare", files[0], "--methods", "fgs", "-o", tmp_path / "none", expect=1)


def test_bootstrap_and_selection_go_together_with_em(files, rows, tmp_path):
    out = tmp_path / "out"
    result = golem("fit", "-v", files[0], "-o", out, "--missing", "em", "--bootstrap", 6, "--select", "cv", "--seed", 2)
    assert "with EM on each resample" in " ".join(result.output.split())
    content = json.loads((out / "graph.json").read_text())
    assert content["bootstrap"]["em"]
    model = GolemCV(Golem(missing="em", random_state=2), "cv", random_state=2).fit(rows)
    assert content["selection"]["chosen"] == pytest.approx(model.best_params_)
    frequency = np.zeros((5, 5))
    for edge in content["bootstrap"]["edges"]:
        frequency[NAMES.index(edge["source"]), NAMES.index(edge["target"])] = edge["direction_frequency"]
    expected = bootstrap(model, rows, 6, random_state=2)
    np.testing.assert_allclose(frequency, expected.direction_frequency)


@pytest.mark.parametrize("options", [["--bootstrap", 5], ["--select", "cv"], ["--select", "stability"]])
def test_shards_have_no_em(options, files, tmp_path, monkeypatch):
    monkeypatch.setattr("golem.data.source.ROWS_UP_TO", 0)
    result = golem("fit", files[0], "-o", tmp_path / "out", "--missing", "em", *options, expect=1)
    assert "supports neither shards nor clusters" in result.output
