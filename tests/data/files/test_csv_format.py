"""Whether the first line of a text table is a header."""

import warnings

import pytest

from golem.data.checks import DataWarning
from golem.data.files.table_files import TableFiles

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


@pytest.mark.parametrize("header", ["country,2001,2002", "country,2001,gdp", "country,gdp,growth"])
def test_a_header_with_years_is_one_without_a_warning(tmp_path, header):
    (tmp_path / "data.csv").write_text(f"{header}\nFrance,1.5,2\nSpain,1.8,3\nFrance,2.5,1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TableFiles.open(tmp_path / "data.csv").names == tuple(header.split(","))
