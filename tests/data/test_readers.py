"""Files in: separators, headers, decimal commas, Parquet, graphs, and files that are none."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from golem import DataWarning
from golem.readers import moments_from_file, read_graph, read_table

VALUES = np.array([[1.5, -2.0, 3e-5], [4.0, 5.25, 6.0]])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b,c\n1.5,-2,3e-5\n4,5.25,6\n", "abc"),
        ("a;b;c\n1.5;-2;3e-5\n4;5.25;6\n", "abc"),
        ("a;b;c\n1,5;-2;0,00003\n4;5,25;6\n", "abc"),
        ("a\tb\tc\n1.5\t-2\t3e-5\n4\t5.25\t6\n", "abc"),
        ("a|b|c\n1.5|-2|3e-5\n4|5.25|6\n", "abc"),
        ("a b  c\n1.5 -2  3e-5\n4   5.25 6\n", "abc"),
        ("1.5,-2,3e-5\n4,5.25,6\n", ["x0", "x1", "x2"]),
        ('"a","b, too","c"\n1.5,-2,3e-5\n4,5.25,6\n', ["a", "b, too", "c"]),
        ("\ufeffa,b,c\r\n1.5,-2,3e-5\r\n4,5.25,6\r\n", "abc"),
        ("a, b, c\n1.5, -2, 3e-5\n4, 5.25, 6\n", "abc"),
        ("a | b | c\n1.5 | -2 | 3e-5\n4 | 5.25 | 6\n", "abc"),
        ("a\tb\tc\n1,5\t-2\t0,00003\n4\t5,25\t6\n", "abc"),
        ("1,5;-2;0,00003\n4;5,25;6\n", ["x0", "x1", "x2"]),
        ("# a,b,c\n1.5,-2,3e-5\n4,5.25,6\n", "abc"),
        ("sep=;\na;b;c\n1,5;-2;0,00003\n4;5,25;6\n", "abc"),
        ("\ufeffSEP=,\r\na,b,c\r\n1.5,-2,3e-5\r\n4,5.25,6\r\n", "abc"),
        ('"sep=|"\n1.5|-2|3e-5\n4|5.25|6\n', ["x0", "x1", "x2"]),
    ],
)
def test_text_tables_are_understood(tmp_path, text, names):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    table = read_table(path)
    assert list(table.names) == list(names)
    np.testing.assert_allclose(table.values, VALUES)


@pytest.mark.parametrize("cell", ["", " ", "   ", '" "', " NA", "NA ", '" NA "', "\u00a0", " \t"])
@pytest.mark.parametrize("separator", [",", ";"])
def test_blanks_around_nothing_are_nothing(tmp_path, cell, separator):
    lines = ["a,b,c", f"{cell},2,3", f"1,{cell},3", f"1,2,{cell}", " ", "4, 5 ,6", ""]
    (tmp_path / "data.csv").write_text("\n".join(lines).replace(",", separator), encoding="utf-8")
    nan = np.nan
    expected = [[nan, 2, 3], [1, nan, 3], [1, 2, nan], [4, 5, 6]]
    np.testing.assert_array_equal(read_table(tmp_path / "data.csv").values, expected)
    with pytest.raises(
        ValueError, match=r"'a' \(1 value\), 'b' \(1 value\), 'c' \(1 value\)\. The first is in line 2\. .*missing="
    ):
        moments_from_file(tmp_path / "data.csv")
    (tmp_path / "flags.csv").write_text(f"a,b\n1,true\n{cell},false\n 2 , true\n".replace(",", separator))
    np.testing.assert_array_equal(read_table(tmp_path / "flags.csv").values, [[1, 1], [nan, 0], [2, 1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a;b\n1,5;2\n2,5;3\n3,5;2.25\n",
            r"Column 'b' is numeric except for '2\.25' in line 4\. .* have a decimal comma: write all",
        ),
        (
            "a;b\n" + "1.5;2\n" * 60 + "3;2,25\n",
            r"Column 'b' is numeric except for '2,25' in line 62\. .* have a decimal point: write",
        ),
        ("a;b\n1,5;2\n2,5;\u0663\n", r"Column 'b' is numeric except for '\u0663' in line 3\. Correct line 3"),
    ],
)
def test_a_number_written_in_another_way_is_named_with_its_line(tmp_path, text, message):
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "data.csv")


NUMBERS = "1.5,2,3\n" * 60


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b,c\nkg,m,s\n" + NUMBERS,
            r"3 of 3 .* 'c' \('s' in line 2\)\. Correct line 2, or remove what is not data",
        ),
        (
            "a,b,c\n" + NUMBERS + "Total,120,180\n",
            r"Column 'a' is numeric except for 'Total' in line 62\. Correct or remove line 62",
        ),
        (
            "a,b,c\nkg,m,s\n" + NUMBERS + "Sum,,\n",
            r"'a' \('kg' in line 2 and text in 1 more line\), .*\. Correct lines 2, 63, or remove",
        ),
        (("a,b,c\n" + NUMBERS) * 3, r"The header is repeated: remove lines 62, 123\.$"),
        (
            "a,b,c\n" + NUMBERS + "1,2,n.a.\n",
            r"If 'n\.a\.' means a missing value, use na=\['n\.a\.'\] and missing=.* Otherwise: Correct line 62",
        ),
        (
            "a,b,c\n" + "1,2,u\n" * 60,
            r"'u' in line 2 and text in 59 more lines\)\. Encode it as numbers, or drop it: drop=\['c'\]\.",
        ),
        (
            "a,b,c\n" + "1,2,\n" * 60 + "1,2,late\n",
            r"'late' in line 62\)\. Encode it as numbers, or drop it: drop=\['c'\]\.",
        ),
    ],
)
def test_text_in_few_lines_of_numbers_is_a_fault_of_the_lines(tmp_path, text, message):
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "data.csv")


@pytest.mark.parametrize(
    ("text", "names", "count"),
    [
        ("a,b,c,\n1.5,-2,3e-5,\n4,5.25,6,\n", "abc", "1 field"),
        ("a;b;c;;\n1,5;-2;0,00003;;\n4;5,25;6; ;\n", "abc", "2 fields"),
        ("1.5,-2,3e-5,\n4,5.25,6,\n", ["x0", "x1", "x2"], "1 field"),
    ],
)
def test_separators_at_the_ends_of_lines_make_no_columns(tmp_path, text, names, count):
    (tmp_path / "data.csv").write_text(text)
    with pytest.warns(DataWarning, match=rf"data\.csv: Ignored {count} without a name or a value at the end"):
        table = read_table(tmp_path / "data.csv")
    assert list(table.names) == list(names)
    np.testing.assert_allclose(table.values, VALUES)
    assert read_table(tmp_path / "data.csv", columns=list(names[:2])).names == tuple(names[:2])


@pytest.mark.filterwarnings("ignore:.*without a name or a value:golem.DataWarning")
def test_a_value_under_no_name_is_found_however_late(tmp_path):
    (tmp_path / "data.csv").write_text("a,b,\n" + "1.5,2,\n" * 99 + "1.5,2,7\n")
    with pytest.raises(ValueError, match=r"Column 3 has no name, but the value '7' in line 101\. Name"):
        read_table(tmp_path / "data.csv")
    (tmp_path / "data.csv").write_text("a,b,\n" + "1.5,2,\n" * 99 + "1.5,2\n")
    with pytest.raises(ValueError, match="Line 101 has 2 fields instead of 3"):
        read_table(tmp_path / "data.csv")
    (tmp_path / "data.csv").write_text("a,b,\n1.5,2,3\n1.5,2,\n")
    with pytest.raises(ValueError, match=r"Column 3 has an empty name\. Name it, or choose .* \(columns=\[\.\.\.\]\)"):
        read_table(tmp_path / "data.csv")
    assert read_table(tmp_path / "data.csv", columns=["a", "b"]).values.shape == (2, 2)


def test_a_header_that_counts_is_a_header(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("2019,2020,2021\n1.5,-2.5,0.1\n4.2,5.25,6.1\n")
    table = read_table(path)
    assert table.names == ("2019", "2020", "2021")
    assert read_table(path, header=False).values.shape == (3, 3)
    path.write_text("1,2,3\n4,5,6\n7,8,9\n")
    assert read_table(path).values.shape == (3, 3)
    assert read_table(path, header=True).names == ("1", "2", "3")


def test_columns_can_be_dropped(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("id,a,b\nu,1,2\nv,3,4\n")
    assert read_table(path, drop=["id"]).names == ("a", "b")
    with pytest.raises(ValueError, match="no column 'c' to drop"):
        read_table(path, drop=["c"])


def test_long_lines_and_long_latin_1_files_are_read(tmp_path, rng):
    path = tmp_path / "wide.csv"
    X = rng.normal(size=(3, 6000))
    np.savetxt(path, X, delimiter=",", header=",".join(f"g{j}" for j in range(6000)), comments="")
    assert read_table(path).values.shape == (3, 6000)
    rows = "\n".join("1.25,2.5" for _ in range(20_000))
    path.write_bytes(f"größe,b\n{rows}\n".encode("latin-1"))
    assert read_table(path).names == ("größe", "b")


def test_latin_1_names_are_read(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes("größe,b\n1,2\n3,4\n".encode("latin-1"))
    assert read_table(path).names == ("größe", "b")


def test_parquet_is_recognized_by_content(tmp_path):
    path = tmp_path / "data.bin"
    pq.write_table(pa.table({"a": VALUES[:, 0], "b": VALUES[:, 1]}), path)
    table = read_table(path)
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(table.values, VALUES[:, :2])


def test_a_file_longer_than_the_sample_is_read_whole(tmp_path, rng):
    X = rng.normal(size=(5000, 4))
    path = tmp_path / "data.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c,d", comments="")
    np.testing.assert_allclose(read_table(path).values, X)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n\n", "no lines"),
        (b"\x00\x01\x02binary", "binary"),
        (b"PAR1 but not really", "Parquet"),
        (b"a,b\n1,2\n3\n", "different numbers of fields"),
        (b"a,,b\n0,1,2\n1,2,3\n", "Column 2 has an empty name"),
        (b"a,a\n1,2\n3,4\n", "repeated: 'a'"),
        (b"a,b\n1,x\n2,y\n", r"not numeric: 'b' \('x' in line 2 and text in 1 more line\)"),
        (b"a,b\n1,2\n3,<0.01\n", "Column 'b' is numeric except for '<0.01' in line 3"),
        (b"# made by the lab\na,b\n1,2\n", "different numbers of fields"),
        (b"made by the lab\n\na;b;c\n1,5;2;3\n2,5;3;4\n", r"line 1 has 1, line 3 has 3 \(separated by semicolons\)"),
        (b"a b\tc d\n1\t2\n3\t4\t5\n", r"line 1 has 2, line 3 has 3 \(separated by tabs\)"),
        (b"sep=|\na|b|c\n1,5;2|3\n", r"line 2 has 3, line 3 has 2 \(separated by bars\)"),
        (b"sep=;\n", "no lines of data"),
        (b"a,b\n1,2\n3,nA\n", "'nA' in line 3"),
        (b'a,b\n1,2\n3,"4\n5,6\n', "Line 3 has a quotation mark that is not closed"),
        (b"sep=;\na;b\n1;2\n3;x\n", "'x' in line 4"),
        (b"\x1f\x8b\x08rest", "compressed file is damaged or incomplete"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-20], "compressed file is damaged or incomplete"),
    ],
)
def test_files_that_are_no_tables_are_named(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_table(path)
    assert "bad.csv" in str(caught.value)


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="The folder contains no tables"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="no such file"):
        read_graph(tmp_path / "nothing.csv")


def test_graphs_in_every_format(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,2\nb,c,-1.5\n")
    (tmp_path / "plain.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "weights.csv").write_text(",a,b,c\na,0,2,0\nb,0,0,-1.5\nc,0,0,0\n")
    (tmp_path / "graph.json").write_text('{"names": ["a","b","c"], "weights": [[0,2,0],[0,0,-1.5],[0,0,0]]}')
    expected = np.array([[0, 2, 0], [0, 0, -1.5], [0, 0, 0]])
    for name in ("edges.csv", "weights.csv", "graph.json", "plain.csv"):
        graph = read_graph(tmp_path / name)
        assert graph.names == ("a", "b", "c")
        np.testing.assert_array_equal(graph.weights != 0, expected != 0)
        if name != "plain.csv":
            np.testing.assert_array_equal(graph.weights, expected)


def test_a_listed_edge_of_weight_zero_is_an_edge(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,0\n")
    graph = read_graph(tmp_path / "edges.csv")
    assert graph.adjacency[0, 1]
    assert graph.weights[0, 1] == 0
    assert graph.aligned(("a", "b"))[0, 1] == 1


def test_alignment_adds_isolated_nodes_and_refuses_strangers(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nb,a\n")
    graph = read_graph(tmp_path / "edges.csv")
    aligned = graph.aligned(("a", "b", "c"))
    assert aligned[1, 0] == 1
    assert aligned.sum() == 1
    with pytest.raises(ValueError, match="'b'"):
        graph.aligned(("a", "c"))


@pytest.mark.parametrize("content", ["hello\n", "{}", "a,b\n1,2\n", "source,target\na\n", ",a,b\na,0,1\n"])
def test_files_that_are_no_graphs_are_named(tmp_path, content):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"bad\.csv is not a graph"):
        read_graph(path)


def test_a_folder_of_data_may_hold_results_as_well(tmp_path):
    rows = "a,b\n" + "\n".join(f"{k},{(k * 7) % 5}" for k in range(10)) + "\n"
    (tmp_path / "part.csv").write_text(rows)
    (tmp_path / "graph.json").write_text("{}")
    for name in ("edges.csv", "weights.csv", "path.csv"):
        (tmp_path / name).write_text("x,y,z\n1,2,3\n")
    assert moments_from_file(tmp_path).n == 10
    (tmp_path / "part.csv").unlink()
    with pytest.raises(ValueError, match="The folder contains no tables"):
        moments_from_file(tmp_path)


@pytest.mark.parametrize(
    ("text", "names", "mean"),
    [
        # Spaces within cells are not separators if tabs give a complete table.
        ("x\ty\tfruit\n1.5\t10\t3 apples\n2.5\t30\t4 pears\n0.5\t80\t9 plums\n", ("x", "y"), [1.5, 40]),
        # A decimal comma in any column proves that commas do not separate thousands.
        ("x;y;fruit\n1,234;0,5;0\n5;2;0\n7,766;2;0\n", ("x", "y"), [14 / 3, 1.5]),
        ("x;y;fruit\n1,234;2,000;0\n2,766;4,000;0\n5,000;6,000;0\n", ("x", "y"), [3, 4]),
        (f"x,y,fruit\n1,2,{'x' * 200_000}\n3,{'0' * 200_000}4,0\n5,9,0\n", ("x", "y"), [3, 5]),
        (b"x,y,fruit\n1,2,wait\x85 ok\n3,4,b\n5,9,c\n", ("x", "y"), [3, 5]),
        ("0,1,fruit\n5,3,2\n1,4,4\n6,2,1\n", ("0", "1"), [4, 3]),
        ("# x y fruit\n1 2 0\n3 4 0\n5 9 0\n", ("x", "y"), [3, 5]),
        ('"x", "y", "fruit"\n1, 2, 0\n3, 4, 0\n5, 9, 0\n', ("x", "y"), [3, 5]),
        (",Unnamed: 0,x,fruit,y\n0,0,1,9,2\n1,1,3,9,4\n2,2,5,9,9\n", ("x", "y"), [3, 5]),
        (b"\x80,# y,fruit\n1,2,0\n3,4,0\n5,9,0\n", ("€", "# y"), [3, 5]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*saved row index")
def test_tables_are_read_as_they_are_meant(text, names, mean, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    moments = moments_from_file(path, drop=["fruit"])
    assert moments.names == names
    np.testing.assert_allclose(moments.mean, mean)


def test_pandas_numbers_of_columns_are_names(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("0,1,2\n5,3,2\n1,4,4\n6,2,3\n")
    assert moments_from_file(path).n == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"a","b"\n"1,5",10\n"2,5",30\n"0,5",80\n', "'a' .'1,5' in line 2.*numbers need a decimal point"),
        ("age\tincome\n21\t10 500\n35\t20 100\n48\t30 900\n", "'income' .'10 500' in line 2"),
        (
            "income\trent\n1,250\t980\n900\t450\n2,100\t1,050\n",
            "Column 'income' contains '1,250' and '900'. If commas separate thousands",
        ),
        (
            'income,rent\n"1,250",980\n900,450\n"2,100","1,050"\n',
            "commas separate thousands, write the numbers without commas",
        ),
        # One number with a comma is enough, with or without a header, and beyond the lines that tell the format.
        ("a;b\n1,234;2\n5;3\n7;1\n", "Column 'a' contains '1,234' and '5'. If commas separate thousands"),
        ("a\tb\n1,234\t2\n5\t3\n7\t1\n", "Column 'a' contains '1,234' and '5'. If commas separate thousands"),
        ("1,234;2\n5;3\n7;1\n", "Column 1 contains '1,234' and '5'. If commas separate thousands"),
        ("a;b\n" + "1,234;2\n" * 60 + "900;3\n", "Column 'a' contains '1,234' and '900'"),
        # PyArrow reads hexadecimal integers, but not in columns of decimal numbers.
        ("a,b\n0x10,2\n5,3\n7,1\n", r"Column 'a' is numeric except for '0x10' in line 2"),
        ("a,b\n0x10,2\n5.5,3\n7,1\n", r"Column 'a' is numeric except for '0x10' in line 2"),
        ("a,b\n0x10,true\n5,false\n7,true\n", r"Column 'a' is numeric except for '0x10' in line 2"),
        # The csv module has a limit of 131072 characters.
        (f"a,b\n1,2\n3,{'x' * 200_000}\n2,5\n", r"Column 'b' is numeric except for 'x{100}\.\.\.' in line 3"),
        (f'a,b\n1,2\n3,"{"x" * 200_000}"\n2,5\n', r"The line '3,\"x+\.\.\.' cannot be divided into fields"),
        (f"a,{'n' * 200_000}\n1,2\n3,4\n2,5\n", r"at most 1000 characters\. Shorten those of column 2 \(200000\)"),
        ("1,?\n3,2\n5,7\n4,4\n", r"'x1' \(1 value, written '\?'\)\. The first is in line 1\. Drop those rows"),
        ('"dose\n(mg)",resp\n1,2\n3,5\n4,1\n', "a line break within the quotes of line 1"),
        ("a,b\n1,n.a.\n2,3\n4,5\n", r"na=\['n\.a\.'\]"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* levels with")
def test_what_could_be_misread_is_refused(text, words, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        moments_from_file(path)
