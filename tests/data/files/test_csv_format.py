"""Whether the first line of a text table is a header, and how lines are divided into fields."""

import math
import warnings

import pytest

from golem.data.checks import DataWarning
from golem.data.files.table_files import TableFiles
from golem.readers import moments_from_file, read_table

_NAMES = ("x0", "x1", "x2")
_BODY = "47.3,male,no\n61,female,yes\n33.8,male,yes\n"


@pytest.mark.parametrize("first", ["59.1,female,yes", "1,male,maybe", "58,female,unknown"])
def test_a_first_line_of_numbers_and_a_text_that_occurs_below_is_data(tmp_path, first):
    (tmp_path / "data.csv").write_text(f"{first}\n{_BODY}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TableFiles.open(tmp_path / "data.csv").names == _NAMES


@pytest.mark.parametrize("header", ["2001,sex,smokes", "59.1,F,Y"])
def test_a_first_line_that_may_be_data_is_told(tmp_path, header):
    path = tmp_path / "data.csv"
    path.write_text(f"{header}\n{_BODY}")
    with pytest.warns(DataWarning, match=f"contains the number '{header.split(',')[0]}'. If .* use header=False"):
        assert TableFiles.open(path).names == tuple(header.split(","))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TableFiles.open(path, header=True).names == tuple(header.split(","))
        assert TableFiles.open(path, header=False).names == _NAMES


@pytest.mark.parametrize("header", ["country,2001,2002", "country,2001,gdp", "country,gdp,growth", "1990,1995,2000"])
def test_a_header_with_years_is_one_without_a_warning(tmp_path, header):
    (tmp_path / "data.csv").write_text(f"{header}\nFrance,1.5,2\nSpain,1.8,3\nFrance,2.5,1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TableFiles.open(tmp_path / "data.csv").names == tuple(header.split(","))


def test_a_header_of_numbers_that_may_be_measurements_is_told(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("3,17,40\n1.5,2.5,1.2\n0.5,1.5,2.1\n")
    with pytest.warns(DataWarning, match="contains the numbers '3', '17', '40'. If it is a row of data"):
        assert TableFiles.open(path).names == ("3", "17", "40")


@pytest.mark.parametrize("first", [",2.7,2.8,3.3", ",-1,2,3", ",2.7,NA,3.3"])
def test_a_first_line_of_numbers_without_the_first_is_data(tmp_path, first):
    (tmp_path / "data.csv").write_text(f"{first}\n" + "1.5,2.5,3.1,4.2\n0.5,1.5,2.5,3.5\n" * 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_table(tmp_path / "data.csv")
    assert (table.names, table.values.shape) == (("x0", "x1", "x2", "x3"), (201, 4))
    assert math.isnan(table.values[0, 0])
    assert table.values[0, 1] == float(first.split(",")[1])


@pytest.mark.parametrize("header", [",0,1,2", ",2001,2002,2003", ",a,b,c"])
def test_a_blank_above_a_row_index_and_names_or_counts_is_a_header(tmp_path, header):
    (tmp_path / "data.csv").write_text(f"{header}\n0,2.5,3.1,4.2\n1,1.5,2.5,3.5\n2,1,5,9\n")
    with pytest.warns(DataWarning, match="looks like a saved row index"):
        assert TableFiles.open(tmp_path / "data.csv").names == tuple(header.split(",")[1:])


@pytest.mark.parametrize(
    ("begin", "what"), [('[{"a": 1}', "JSON"), ('{"a": 1}', "JSON"), ("<?xml ?>", "XML"), ("%PDF-1", "a PDF")]
)
def test_a_file_that_is_not_a_table_is_named(tmp_path, begin, what):
    (tmp_path / "data.csv").write_text(f"{begin}\n" * 9)
    with pytest.raises(ValueError, match=f"The file is {what}, not a table"):
        read_table(tmp_path / "data.csv")


def test_a_quote_within_quotes_is_written_twice(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text('"q""q"\n1\n3\n')
    assert read_table(path).names == ('q"q',)
    path.write_text('"q""q" "b c"\n' + '1 "q""q"\n3 "a b"\n2 "a b"\n' * 5)
    moments = moments_from_file(path)
    assert moments.coding.names == ('q"q', "b c")
    assert set(moments.coding.variables[1].levels) == {'q"q', "a b"}


def test_a_control_character_is_not_a_blank(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n\x1e0.634,2\n3,4\n5,7\n")
    with pytest.raises(ValueError, match=r"'a' is numeric except for '\\x1e0.634' in line 2"):
        read_table(tmp_path / "data.csv")


def test_an_empty_field_too_many_between_tabs_is_not_a_blank(tmp_path):
    (tmp_path / "data.tsv").write_text("a\tb\n1\t2\n4\t5\t\n3\t3\n")
    with pytest.raises(ValueError, match="line 1 has 2, line 3 has 3 \\(separated by tabs\\)"):
        read_table(tmp_path / "data.tsv")
