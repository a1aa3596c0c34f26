"""One pass over files: any cut of the rows gives the same moments, and what is wrong is named with its place."""

from __future__ import annotations

import decimal
import errno
import gzip
import io
import os
import pathlib
import re
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem import DataWarning, Moments
from golem.data.files import batches, csv_files, streaming
from golem.data.files.streaming import KeptRows, merged_shards, plan, read_here, tree_sum
from golem.data.files.table_files import TableFiles, find_files
from golem.data.readers import shards_by_label
from golem.readers import environments_from_file, moments_from_dask, moments_from_file, read_table, shards_from_file


@pytest.fixture
def small_pieces(monkeypatch):
    """Cut files as if they were a thousand times larger."""
    monkeypatch.setattr(batches, "_BYTES", 4000)
    monkeypatch.setattr(batches, "_LARGEST_BLOCK", 16000)


def table_of(X, names="abcd"):
    return pa.table({name: X[:, j] for j, name in enumerate(names)})


def write_csv(path, X, names="abcd", separator=","):
    lines = [separator.join(names), *(separator.join(map(repr, row)) for row in X.tolist())]
    path.write_text("\n".join(lines) + "\n")
    return path


def assert_same(moments, expected, tolerance=1e-12):
    assert moments.n == expected.n
    assert moments.names == expected.names
    scale = np.sqrt(np.outer(expected.variances, expected.variances))
    assert np.max(np.abs(moments.covariance - expected.covariance) / scale) < tolerance
    np.testing.assert_allclose(moments.mean, expected.mean, rtol=1e-15, atol=1e-13)
    np.testing.assert_array_equal(moments.scatter, moments.scatter.T)


def rows_with_mean(rng, mean, n=1000):
    return rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + mean


@pytest.mark.parametrize("mean", [0.0, 1e8])
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "white space", "files", "pattern"])
def test_files_give_the_moments_of_the_whole_array(tmp_path, rng, small_pieces, mean, kind):
    X = rows_with_mean(rng, mean)
    path = tmp_path / f"data.{kind}"
    if kind == "csv":
        write_csv(path, X)
    elif kind == "white space":
        write_csv(path, X, separator="  ")
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(write_csv(tmp_path / "plain", X).read_bytes()))
    elif kind == "parquet":
        pq.write_table(table_of(X), path, row_group_size=70)
    else:
        for k in range(0, 1000, 250):
            pq.write_table(table_of(X[k : k + 250]), tmp_path / f"part-{k:03}.parquet", row_group_size=100)
        path = tmp_path if kind == "files" else tmp_path / "part-*.parquet"
    if kind not in ("csv.gz", "white space"):
        assert len(plan(TableFiles.open(path))) > 3
    assert_same(moments_from_file(path), Moments.from_rows(X, "abcd"))
    np.testing.assert_array_equal(read_table(path).values, X)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(20, 900), st.sampled_from([0.0, 1e8]))
def test_any_size_of_pieces_gives_every_row_once(tmp_path_factory, seed, n, size, mean):
    X = rows_with_mean(np.random.default_rng(seed), mean, n)
    path = write_csv(tmp_path_factory.mktemp("cut") / "data.csv", X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_BYTES", size)
        moments = moments_from_file(path)
        np.testing.assert_array_equal(read_table(path).values, X)
    assert_same(moments, Moments.from_rows(X, "abcd"), 1e-11)


@pytest.mark.parametrize("size", [200, 900, 1 << 25])
@pytest.mark.parametrize("kind", ["csv", "npy"])
def test_markers_do_not_depend_on_how_a_file_is_cut(size, kind, tmp_path, monkeypatch):
    X = rows_with_mean(np.random.default_rng(1), 0, 200)
    X[[3, 150], [0, 1]], X[190, 3] = -999, np.nan
    path, na = tmp_path / f"data.{kind}", ["-999"] if kind == "npy" else ["b=-999", "gone"]
    if kind == "npy":
        np.save(path, X)
    else:
        text = write_csv(path, X).read_text()
        path.write_text(text.replace("-999.0", "gone", 1).replace("nan", "?"))
    names = "abcd" if kind == "csv" else ["x0", "x1", "x2", "x3"]
    first, second, fourth = names[0], names[1], names[3]
    monkeypatch.setattr(batches, "_BYTES", size)
    table = TableFiles.open(path, na=na)
    assert (len(plan(table)) > 3) == (size < 1000)
    expected = np.where(X == -999, np.nan, X)
    np.testing.assert_array_equal(read_table(path, na=na).values, expected)
    moments = moments_from_file(path, na=na, missing="drop")
    marks = {first: {"gone": 1}, second: {"-999": 1}, fourth: {"?": 1}}
    assert moments.missing.markers == (marks if kind == "csv" else {first: {"-999": 1}, second: {"-999": 1}})
    assert_same(moments, Moments.from_rows(expected[~np.isnan(expected).any(axis=1)], names))
    # In threads, in whatever order they finish, and one after the other: the same bits.
    parts = tree_sum(streaming.part_moments(task) for task in plan(table, missing="drop"))
    assert parts[0].scatter.tobytes() == moments.scatter.tobytes()
    assert parts[0].missing == moments.missing


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.sampled_from(["csv", "csv.gz", "parquet"]))
def test_shards_add_up_and_are_blocks_of_rows(tmp_path_factory, seed, shards, kind):
    rng = np.random.default_rng(seed)
    X = rows_with_mean(rng, 1e8, 300)
    X[:, 0] = np.arange(300)
    path = tmp_path_factory.mktemp("shards") / f"data.{kind}"
    if kind == "parquet":
        pq.write_table(table_of(X), path, row_group_size=47)
    else:
        text = write_csv(path, X).read_bytes()
        path.write_bytes(gzip.compress(text) if kind == "csv.gz" else text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_BYTES", 3000)
        parts = shards_from_file(path, shards)
    assert len(parts) == shards
    position = 0
    for part in parts:
        if part.n > 1:
            assert_same(part, Moments.from_rows(X[position : position + part.n], "abcd"), 1e-11)
        assert part.mean[0] == pytest.approx(position + (part.n - 1) / 2)
        position += part.n
    assert position == 300
    if kind != "csv.gz":
        assert max(part.n for part in parts) <= 300 / shards * 1.2 + 2


def test_impossible_shards_are_refused(tmp_path, rng):
    path = write_csv(tmp_path / "data.csv", rows_with_mean(rng, 0, 3))
    with pytest.raises(ValueError, match="shards have no rows, because there are only 3 rows"):
        shards_from_file(path, 10)
    with pytest.raises(ValueError, match="must be positive; got 0"):
        shards_from_file(path, 0)


@pytest.mark.parametrize("count", range(1, 20))
def test_the_tree_of_merges_is_the_one_of_pairs(count):
    class Expression(str):
        def __add__(self, other):
            return Expression(f"({self}{other})")

    level = [Expression(chr(97 + k)) for k in range(count)]
    arrived = tree_sum(iter([{0: leaf} for leaf in level]))[0]
    while len(level) > 1:
        pairs = [a + b for a, b in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[2 * len(pairs) :]
    assert arrived == level[0]


def test_the_answer_does_not_depend_on_threads(tmp_path, rng, small_pieces, monkeypatch):
    path = write_csv(tmp_path / "data.csv", rows_with_mean(rng, 1e8))
    results = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(streaming, "_threads", lambda tasks, threads=threads: threads)
        results += [moments_from_file(path) for _ in range(3)]
    for result in results:
        np.testing.assert_array_equal(result.scatter, results[0].scatter)
        np.testing.assert_array_equal(result.mean, results[0].mean)


def test_progress_counts_every_byte(tmp_path, rng, small_pieces):
    write_csv(tmp_path / "a.csv", rows_with_mean(rng, 0))
    pq.write_table(table_of(rows_with_mean(rng, 0)), tmp_path / "b.parquet", row_group_size=100)
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    seen = []
    moments_from_file(tmp_path, progress=lambda done, total: seen.append((done, total)))
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (size, size)
    assert len(seen) > 10


@pytest.mark.parametrize("missing", ["error", "drop", "em"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_are_kept_in_their_order_while_there_is_room(kind, missing, tmp_path, rng, small_pieces):
    X = rows_with_mean(rng, 1e8)
    if missing != "error":
        X[3, 1] = X[700, 0] = np.nan
    path = tmp_path / f"data.{kind}"
    write_csv(path, X) if kind == "csv" else pq.write_table(table_of(X), path, row_group_size=70)
    table = TableFiles.open(path)
    (expected,) = shards_by_label(table, 1, missing=missing)[""]
    for room, is_kept in ((X.size, True), (X.size - 1, False)):
        kept = KeptRows(room)
        (moments,) = shards_by_label(table, 1, missing=missing, keep=kept)[""]
        np.testing.assert_array_equal(moments.scatter, expected.scatter)
        assert (kept.values is not None) == is_kept
        if is_kept:
            np.testing.assert_array_equal(kept.values, X)


def test_an_interrupt_ends_the_threads(tmp_path, rng, small_pieces):
    path = write_csv(tmp_path / "data.csv", rows_with_mean(rng, 0))
    tasks, calls = plan(TableFiles.open(path)), []

    def interrupt(done, total):
        calls.append(done)
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        read_here(tasks, interrupt)
    assert threading.active_count() == before
    assert len(calls) < len(tasks)


def test_columns_are_selected_and_ordered(tmp_path, rng):
    X = rows_with_mean(rng, 0, 20)
    write_csv(tmp_path / "data.csv", X)
    pq.write_table(table_of(X), tmp_path / "data.parquet")
    for path in tmp_path.iterdir():
        chosen = moments_from_file(path, columns=["c", "a"])
        assert_same(chosen, Moments.from_rows(X[:, [2, 0]], "ca"))
        assert moments_from_file(path, drop=["b"]).names == ("a", "c", "d")
        with pytest.raises(ValueError, match=r"no column 'z'\. The columns are 'a', 'b', 'c', 'd'"):
            moments_from_file(path, columns=["a", "z"])
        with pytest.raises(ValueError, match="All columns are dropped"):
            moments_from_file(path, drop=list("abcd"))
        with pytest.raises(ValueError, match="repeated: 'a'"):
            moments_from_file(path, columns=["a", "a"])


def test_lists_are_neither_categories_nor_labels(tmp_path):
    table = pa.table({"a": np.arange(9.0), "b": np.arange(9.0) ** 2, "c": [[1.0]] * 9})
    pq.write_table(table, path := tmp_path / "data.parquet")
    said = r"Column 'c' has values of type list<element: double>, which are not categories"
    with pytest.raises(ValueError, match=said):
        moments_from_file(path, categorical=["c"])
    with pytest.raises(ValueError, match=said):
        environments_from_file(path, {"x": []}, environment="c")
    pq.write_table(pa.table({}), path)
    with pytest.raises(ValueError, match="The table has no columns"):
        moments_from_file(path)


def test_columns_in_another_order_are_matched_by_name(tmp_path, rng):
    X = rows_with_mean(rng, 0, 20)
    write_csv(tmp_path / "1.csv", X[:10])
    write_csv(tmp_path / "2.csv", X[10:, ::-1], "dcba")
    assert_same(moments_from_file(tmp_path), Moments.from_rows(X, "abcd"))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_disagree_are_named_with_their_files(tmp_path, rng, kind):
    X = rows_with_mean(rng, 0, 20)
    for name, columns in (("one", "abcd"), ("two", "abce")):
        path = tmp_path / f"{name}.{kind}"
        write_csv(path, X, columns) if kind == "csv" else pq.write_table(table_of(X, columns), path)
    with pytest.raises(
        ValueError, match=rf"two\.{kind}: Column 'd' of .*one\.{kind} is not in .* Column 'e' is not in .*one\.{kind}\."
    ):
        moments_from_file(tmp_path)
    assert moments_from_file(tmp_path, columns=["a", "b"]).n == 40


def test_a_file_without_a_header_among_others_is_named(tmp_path, rng):
    X = rows_with_mean(rng, 0, 20)
    write_csv(tmp_path / "1.csv", X)
    (tmp_path / "2.csv").write_text("1.5,2.5,3.5,4.5\n4.1,3.1,2.1,1.1\n")
    with pytest.raises(ValueError, match=r"2\.csv: .*1\.csv seems to have a header line, .*2\.csv does not"):
        moments_from_file(tmp_path)
    with pytest.raises(ValueError, match=r"2\.csv: Columns 'a', .* of .*1\.csv are not in this file"):
        moments_from_file(tmp_path, header=True)


def test_numbers_of_all_kinds_are_read(tmp_path):
    columns = {
        "i": pa.array([1, 2, 4]),
        "b": pa.array([True, False, True]),
        "d": pa.array([decimal.Decimal("0.5"), decimal.Decimal("1.5"), decimal.Decimal("4.0")]),
        "k": pa.array([3, 3, 6]).dictionary_encode(),
        "a.b": pa.array([0.5, 0.25, 1.0], pa.float32()),
    }
    pq.write_table(pa.table(columns), tmp_path / "data.parquet")
    expected = [7 / 3, 2 / 3, 2, 4, 1.75 / 3]
    np.testing.assert_allclose(moments_from_file(tmp_path / "data.parquet", numeric=["b", "k"]).mean, expected)
    (tmp_path / "data.csv").write_text("x,flag\n1,true\n2,false\n3,true\n")
    np.testing.assert_allclose(moments_from_file(tmp_path / "data.csv", numeric=["flag"]).mean, [2, 2 / 3])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_saved_row_index_is_left_out_and_told(tmp_path, rng, kind):
    path = tmp_path / f"data.{kind}"
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"], index=range(5, 65, 2))
    if kind == "csv":
        frame.to_csv(path)
        name = "Unnamed: 0"
    else:
        frame.set_axis(np.arange(30) * 1.5).to_parquet(path)
        name = "__index_level_0__"
    with pytest.warns(DataWarning, match=rf"data\.{kind}: Column '{name}' looks like a saved row index"):
        assert moments_from_file(path).names == ("a", "b")
    assert moments_from_file(path, drop=[name]).names == ("a", "b")
    assert moments_from_file(path, columns=[name, "b"]).names == (name, "b")


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";"])
def test_names_of_rows_as_r_writes_them_are_left_out_and_told(tmp_path, rng, small_pieces, separator):
    # write.table(X, "data.txt", sep = separator), with the names of the rows of mtcars and with numbers
    X = rows_with_mean(rng, 0)
    lines = [separator.join(['"a"', '"b c"', '"c"', '"d"'])]
    for k, row in enumerate(X.tolist()):
        name = f'"{k + 1}"' if k % 2 else f'"Mazda RX{k}"'
        lines.append(separator.join([name, *(repr(value) for value in row)]))
    path = tmp_path / "data.txt"
    path.write_text("\n".join(lines) + "\n")
    with pytest.warns(DataWarning, match="Column 'Unnamed: 0' looks like a saved row index and is ignored"):
        moments = moments_from_file(path)
    assert_same(moments, Moments.from_rows(X, ("a", "b c", "c", "d")))
    lines[800] = lines[800].rpartition(separator)[0]
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match="Line 801 has 4 fields instead of 5"):
        moments_from_file(path, columns=["a", "c"])


def test_lines_that_end_with_a_separator_have_no_names_of_rows(tmp_path, rng):
    X = rows_with_mean(rng, 0, 20)
    path = write_csv(tmp_path / "data.csv", X)
    header, *body = path.read_text().splitlines()
    path.write_text("\n".join([header, *(line + "," for line in body)]))
    with pytest.warns(DataWarning, match="Ignored 1 field without a name or a value at the end of every line"):
        assert_same(moments_from_file(path), Moments.from_rows(X, "abcd"))


@pytest.mark.parametrize(
    "text",
    [
        "made by, the lab\na,b,c\n1,2,3\n",  # a title above the names
        "weights, 2020\n1,2,3\n4,5,6\n",  # a title above numbers
        "2,3\n1,2,3\n4,5,6\n",  # a first line of numbers that is cut off
        "a,b\n1,5,2\n1,7,3\n",  # decimal commas without quotes
    ],
)
def test_a_short_first_line_is_no_header_of_r(tmp_path, text):
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(ValueError, match="The lines have different numbers of fields"):
        moments_from_file(tmp_path / "data.csv")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,2,x,4", "Column 'c' is numeric except for 'x' in line 801"),
        ("1,2,1_000,4", "Column 'c' is numeric except for '1_000' in line 801"),
        ("1,2,3", "Line 801 has 3 fields instead of 4"),
        ("1,2,,4", r"Missing values \(NaN\) in 1 of 4 columns: 'c' \(1 value\)\. The first is in line 801"),
        ("1,2,None,inf", r"Infinite values \(inf\) in 1 of 4 columns: 'd' \(1 value\)\. The first is in line 801"),
        ("1,2,1e200,4", "beyond 1e150"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_what_is_wrong_with_text_is_named_with_its_line(tmp_path, rng, small_pieces, line, message, ending):
    path = write_csv(tmp_path / "plain", rows_with_mean(rng, 0))
    lines = path.read_text().splitlines()
    lines[799] = ""  # blank lines are skipped, and counted
    lines[800] = line
    content = "\n".join(lines).encode()
    path = tmp_path / f"bad.{ending}"
    path.write_bytes(gzip.compress(content) if ending == "csv.gz" else content)
    with pytest.raises(ValueError, match=rf"bad\.{ending}: .*{message}"):
        moments_from_file(path)


def test_a_missing_value_in_parquet_is_named_with_its_row_group(tmp_path, rng, small_pieces):
    X = rows_with_mean(rng, 0)
    X[730, 2] = np.nan
    X[750, 2] = np.inf
    path = tmp_path / "bad.parquet"
    pq.write_table(table_of(X), path, row_group_size=100)
    with pytest.raises(
        ValueError,
        match=r"bad\.parquet: Infinite values .*'c' \(1 value\)\. The first is in row 751 \(row group 8 of 10\)",
    ):
        moments_from_file(path)


def test_other_types_in_parquet_are_named_with_an_example(tmp_path):
    columns = {"a": [1.0, 2.0], "b": [[1], [2]], "t": pa.array([0, 1], pa.date32())}
    pq.write_table(pa.table(columns), tmp_path / "x.pq")
    message = r"x\.pq: 2 of 3 columns are not numeric: 'b' \(type list.*, such as \[1\]\), 't' \(type date32"
    with pytest.raises(ValueError, match=message):
        moments_from_file(tmp_path / "x.pq")
    with pytest.raises(ValueError, match=r"'t' contains dates .*such as '1970-01-01'.*drop=\['t'\].*to numbers"):
        moments_from_file(tmp_path / "x.pq", drop=["b"])


def test_a_damaged_row_group_is_named(tmp_path, rng, small_pieces):
    path = tmp_path / "bad.parquet"
    pq.write_table(
        table_of(rows_with_mean(rng, 0)), path, row_group_size=100, write_page_checksum=True, use_dictionary=False
    )
    where = pq.ParquetFile(path).metadata.row_group(4).column(1).data_page_offset
    content = bytearray(path.read_bytes())
    content[where + 100 : where + 200] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.parquet: Row group 5 of 10 cannot be read"):
        moments_from_file(path)


def archive(**arrays):
    """Return the bytes of an .npz file."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("b.csv", b"", "The file is empty"),
        ("b.parquet", b"", "The file is empty"),
        ("b.parquet", b"a,b,c,d\n1,2,3,4\n", "not Parquet, although its name"),
        ("b.parquet", None, "Parquet file cannot be read .*truncated"),
        ("b.csv", b"a,b,c,d\n1,2,3,4\n5,6,7", "different numbers of fields.*truncated"),
        ("b.csv", b"\0\1\2", "The file is binary"),
        ("b.npy", b"PK\3\4" + bytes(30), "npy file cannot be read"),
        ("b.npy", archive(a=np.zeros((9, 2))), "npy file cannot be read"),
    ],
)
def test_a_bad_file_among_good_ones_is_named(tmp_path, rng, name, content, message):
    write_csv(tmp_path / "a.csv", rows_with_mean(rng, 0, 20))
    if content is None:
        pq.write_table(table_of(rows_with_mean(rng, 0, 20)), tmp_path / "good")
        content = (tmp_path / "good").read_bytes()[:-30]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        moments_from_file(tmp_path)
    assert f"{tmp_path / name}: " in str(caught.value)


def test_files_that_cannot_be_opened_are_named(tmp_path):
    (tmp_path / "lost.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"lost\.csv: There is no such file"):
        moments_from_file(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match=r"folder\.csv: The folder contains no tables \(files that end in \.csv"):
        moments_from_file(tmp_path / "folder.csv")
    with pytest.raises(ValueError, match=r"none-\*\.csv: No file matches"):
        moments_from_file(tmp_path / "none-*.csv")
    with pytest.raises(ValueError, match="No files were given"):
        moments_from_file([])


def test_a_file_without_permission_is_named(tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,2\n")

    def refuse(path, mode):  # the administrator may read everything, so the mode of the file decides nothing
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(pathlib.Path, "open", refuse)
    with pytest.raises(ValueError, match=r"secret\.csv: The file cannot be read \(Permission denied\)"):
        moments_from_file(path)


def test_folders_are_searched_in_order_and_without_hidden_files(tmp_path):
    for name in (
        "b/2.csv",
        "a/1.parquet",
        "a/_SUCCESS",
        "_temporary/3.csv",
        "b/.4.csv",
        "notes.md",
        "c.TSV",
        "d.csv.gz",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert [path.relative_to(tmp_path).as_posix() for path in find_files(tmp_path)] == [
        "a/1.parquet", "b/2.csv", "c.TSV", "d.csv.gz",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"given twice.*2\.csv"):
        find_files([tmp_path, tmp_path / "b" / "2.csv"])
    assert find_files([tmp_path / "c.TSV", tmp_path / "b"]) == [tmp_path / "c.TSV", tmp_path / "b" / "2.csv"]


def test_files_without_rows_count_for_nothing(tmp_path, rng):
    X = rows_with_mean(rng, 0, 20)
    pq.write_table(table_of(X), tmp_path / "1.parquet")
    pq.write_table(table_of(X[:0]), tmp_path / "2.parquet")
    (tmp_path / "3.csv").write_text("a,b,c,d\n")
    assert_same(moments_from_file(tmp_path), Moments.from_rows(X, "abcd"))
    for name in ("2.parquet", "3.csv"):
        with pytest.raises(ValueError, match="at least 3 rows"):
            moments_from_file(tmp_path / name)


def test_a_cluster_without_dask_is_a_sentence(tmp_path, rng, monkeypatch):
    path = write_csv(tmp_path / "data.csv", rows_with_mean(rng, 0, 20))
    for package in ("dask", "distributed"):
        monkeypatch.setitem(sys.modules, package, None)
    for call in (lambda: moments_from_file(path, scheduler="tcp://10.0.0.1:8786"), lambda: moments_from_dask(None)):
        with pytest.raises(ValueError, match=r"pip install 'golem-dag\[distributed\]'"):
            call()


def test_the_example_of_the_documentation_runs(tmp_path, rng, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    names = ["temperature", "pressure", "flow"]
    write_csv(tmp_path / "parts" / "1.csv", rows_with_mean(rng, 0)[:, :3], names)
    page = pathlib.Path(__file__).parents[3] / "docs" / "large.md"
    example = re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)[1]
    found = {}
    exec(example, found)
    assert found["fitted"].model.table_.names == tuple(names)
    assert found["held_out"].n + found["rest"].n == 1000


def test_parts_of_one_row_merge(rng):
    X = rows_with_mean(rng, 1e8, 30)
    parts = [{0: Moments.from_columns(list(row[:, None]), tuple("abcd"))} for row in X]
    assert_same(tree_sum(iter(parts))[0], Moments.from_rows(X, "abcd"))
    assert merged_shards({}, parts[0]) == parts[0]


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "_LARGEST_SAMPLE", 1 << 17)
    for content in (b'a,b\n1,"2' + b"0" * (1 << 20), b"a,b\n" + b"1,2\n" * 20_000 + b"0" * (1 << 20)):
        (tmp_path / "a.csv").write_bytes(content)
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
        monkeypatch.setattr(batches, "_BYTES", 1 << 17)
        for name in ("a.csv", "a.csv.gz"):
            with pytest.raises(ValueError, match=r"A line is longer than|has 1 field instead of 2"):
                moments_from_file(tmp_path / name)


def test_thousands_of_levels_are_not_a_category(tmp_path):
    lines = [f"{k % 7},l{k % 1001}" for k in range(4004)]
    (tmp_path / "a.csv").write_text("\n".join(["x,c", *lines]))
    with pytest.raises(ValueError, match="'c' has 1001 different values in 4004 rows, which is too many"):
        moments_from_file(tmp_path / "a.csv")
