"""Tables as people have them: one command fits each of them, or refuses it with the correction that makes it work.

The files in tests/data/tables have the peculiarities of tables that were refused or misread. Unless a case says
otherwise, a table has the columns a, b and c and the 40 rows of array.npy.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from golem.cli import app

FOLDER = Path(__file__).parents[1] / "data" / "tables"
ROWS = np.load(FOLDER / "array.npy")
HOLES = [(3, 0), (7, 1), (7, 2), (20, 1), (39, 2)]
COMPLETE = np.delete(ROWS, sorted({row for row, _ in HOLES}), axis=0)


@dataclass(frozen=True)
class Fits:
    """The table is fitted: its columns, the rows behind its moments, and what the output says."""

    names: str = "a|b|c"
    rows: np.ndarray | None = field(default_factory=lambda: ROWS)
    says: str = ""


@dataclass(frozen=True)
class Refused:
    """The table is refused with these words; the options of the message, `with_`, make it work."""

    says: str
    with_: str = ""
    then: Fits = field(default_factory=lambda: Fits(rows=None))


DROP, EM = "--missing drop", "--missing em"
BLANKS = "blood pressure|START YEAR|V-1 (m, s)"
GAPS = Fits(rows=COMPLETE, says="5 values are missing in 4 of 40 rows")


def gaps(written: str) -> Refused:
    """Missing values: one message says how they are written and offers the choice."""
    return Refused(f"'b' (2 values{written})", DROP, GAPS)


CASES = [
    # Marks of missing values.
    ("star.txt", "", gaps(", written '*'")),
    ("question.csv", "", gaps(", written '?'")),
    ("dot.csv", "", gaps(", written '.'")),
    ("dash.csv", "", gaps(", written '-'")),
    ("na.csv", "", gaps("")),
    ("n-slash-a.csv", "", gaps("")),
    ("null.csv", "", gaps("")),
    ("several-marks.csv", "", gaps(", written '?'")),
    ("marks-between-blanks.txt", "", gaps(", written '*'")),
    ("decimal-comma.csv", "", gaps(", written '-'")),
    ("quoted.csv", "", gaps(", written '?'")),
    ("blanks-around-marks.csv", "", gaps(", written '.'")),
    ("windows.csv", "", gaps(", written '*'")),
    ("windows.csv", EM, Fits(rows=None, says="'a': '*' in 1 cell, 'b': '*' in 2 cells")),
    ("comments.txt", "", gaps(", written '*'")),
    ("trailing-separators.csv", "", gaps(", written '?'")),
    ("no-header-marks.csv", "", Refused("'x1' (3 values, written '?')", EM, Fits("x0|x1|x2", None))),
    ("switch.csv", "--numeric on", Refused("'on' (1 value, written '?')", DROP, Fits("a|b|c|on", None))),
    ("rare-marker.csv", "", Refused("If 'unknown' means a missing value", f"--na unknown {DROP}", GAPS)),
    ("rare-marker.csv", f"--na unknwon {DROP}", Refused("'b' ('unknown' in line 9")),
    ("star.txt", f"--na unknown {DROP}", Refused("No value of the columns used is 'unknown'")),
    # Codes.
    ("code.csv", "", Fits(rows=None, says="-999 in 'b' (5.0% of the rows), 'c' (5.0% of the rows)")),
    ("code.csv", f"--na -999 {DROP}", GAPS),
    ("code.csv", f"--na a=-999 --na b=-999.0 --na c=-999 {EM}", Fits(rows=None, says="5 values are missing in 4 of")),
    ("code.csv", f"--na d=-999 {DROP}", Refused("There is no column 'd'")),
    ("code-of-one-column.csv", "", Fits("a|b|c|bmi", None, "use --na bmi=0 and --missing em.")),
    ("code-of-one-column.csv", f"--na bmi=0 {DROP}", Fits("a|b|c|bmi", None, "(markers in 'bmi': '0' in 5 cells)")),
    ("zeros.csv", "", Fits("a|b|c|dose", None, "Note: Zeros are far more frequent than any other value: 0 in")),
    ("frequent-value.csv", "", Fits("a|b|c|highways", None)),
    # Text.
    ("category.csv", "--drop sex", Fits()),
    ("category.csv", "", Fits("a|b|c|sex=F|sex=I", None, "score for mixed tables (degenerate Gaussian)")),
    ("categories-and-gaps.txt", "", Refused("Missing values (NaN) in 3 of 5 columns: 'a' (1 value, written '*')")),
    ("units-below-header.csv", "", Refused("Correct line 2, or remove what is not data, such as units")),
    # Columns that cannot be used.
    ("empty-column.csv", "", Refused("Column 'notes' has no values", "--drop notes", Fits())),
    ("constant.csv", "", Refused("Column 'year' is constant", "--drop year", Fits())),
    ("copies.csv", "", Refused("Columns 'a' and 'a in cm' are copies of each other", "--drop 'a in cm'", Fits())),
    ("totals.csv", "", Refused("2 columns are linear combinations of others", "--drop total,difference", Fits())),
    (
        "many-dependent.csv",
        "",
        Refused("Constant columns: 'one', 'two'", """--drop 'one,a in cm,total,two,"half, constant"'""", Fits()),
    ),
    ("many-dependent.csv", "--drop-dependent", Fits(says="Left out: 'one'")),
    ("total-with-gaps.csv", EM, Refused("'total' is a linear combination of 'a', 'b', 'c'", "--drop total")),
    (
        "total-with-gaps.csv",
        f"--drop-dependent {EM}",
        Fits(rows=None, says="Left out: "),
    ),
    (
        "never-together.csv",
        EM,
        Refused(
            "'first survey' and 'second survey' are never observed together",
            "--drop 'second survey'",
            Fits("a|b|c|first survey", None),
        ),
    ),
    # Covariances.
    ("tetrad.cov.txt", "", Fits()),
    ("tetrad.cov.txt", "--rows 50", Refused("The file states 40 rows, but you gave --rows 50")),
    ("tetrad.cov.txt", "--bootstrap 5", Refused("A covariance matrix has no rows, so --bootstrap")),
    ("tetrad-heading.cov.txt", "", Fits("a|b|blood pressure")),
    ("covariance.csv", "--covariance --rows 40", Fits()),
    ("covariance.csv", "--covariance", Refused("The number of rows behind the", "--rows 40", Fits())),
    ("covariance.csv", "", Refused("The table is a symmetric matrix", "--covariance --rows 40", Fits())),
    ("covariance-from-r.txt", "--covariance --rows 40", Fits()),
    ("covariance-without-row-names.csv", "--covariance --rows 40", Fits()),
    ("covariance-lower.csv", "--covariance --rows 40 --drop b", Fits("a|c", ROWS[:, [0, 2]])),
    ("covariance-named-corner.csv", "--covariance --rows 40", Fits()),
    ("covariance-semicolons.csv", "--covariance --rows 40", Fits()),
    ("not-a-covariance.csv", "--covariance --rows 40", Refused("not positive semidefinite")),
    ("not-a-covariance.csv", "--covariance --rows 40 --drop c", Fits("a|b", None)),
    ("other-row-names.csv", "--covariance --rows 40", Refused("the rows are named 'a', 'c', 'b'")),
    # Arrays.
    ("array.npy", "", Fits("x0|x1|x2")),
    ("integers.npy", "--columns x2,x0", Fits("x2|x0", np.round(100 * ROWS[:, [2, 0]]))),
    (
        "gaps.npy",
        "",
        Refused("'x0' (1 value). The first is in row 4", DROP, Fits("x0|x1|x2", np.delete(ROWS, 3, axis=0))),
    ),
    ("vector.npy", "", Refused("an array of real numbers of shape (rows, columns)")),
    # Names.
    ("blanks-in-names.txt", "--forbid 'blood pressure->V-1 (m, s)'", Fits(BLANKS)),
    ("blanks-in-names.txt", """--drop '"V-1 (m, s)"'""", Fits("blood pressure|START YEAR", ROWS[:, :2])),
    ("blanks-in-quoted-names.txt", "", Fits("blood pressure|START YEAR|c")),
    ("row-names.txt", "", Fits()),
    ("saved-index.csv", "", Fits()),
    ("tetrad-variables.txt", "", Fits()),
    # Knowledge files of Tetrad.
    ("array.npy", "--knowledge tiers.knowledge.txt", Refused("'a', 'b', 'c', which are not columns. The columns are")),
    ("blanks-in-names.txt", "--knowledge names-with-blanks.knowledge.txt", Fits(BLANKS)),
    ("covariance.csv", "--covariance --rows 40 --knowledge tiers.knowledge.txt", Fits()),
    ("category.csv", "--drop sex,c --knowledge tiers.knowledge.txt", Fits("a|b", ROWS[:, :2], "Knowledge about 'c'")),
    ("windows.csv", f"{DROP} --knowledge other-names.knowledge.txt", Refused("'Len', 'Diam', which are not columns")),
    ("windows.csv", f"{DROP} --knowledge groups.knowledge.txt", Refused("'a' -> 'c' is required and forbidden")),
    ("windows.csv", f"{DROP} --knowledge half-a-group.knowledge.txt", Refused("The last group of the knowledge")),
    # Dependent rows.
    (
        "time-series.csv",
        "",
        Fits(rows=None, says="\nWarning: Neighbouring rows depend on each other in 3 of 3 numeric columns"),
    ),
    ("families.csv", "", Fits("father|mother|height", None, "\nWarning: Neighbouring rows depend on")),
    ("sorted.csv", "", Fits(rows=None)),
]
# The checks take longer than the fit.
DIAGNOSED = ("code.csv", "code-of-one-column.csv", "zeros.csv", "frequent-value.csv")
DIAGNOSED += ("time-series.csv", "families.csv", "sorted.csv")
SILENT = {"frequent-value.csv": "far more frequent", "sorted.csv": "Rows depend", "tetrad.cov.txt": "Rows depend"}


def fitted(file, options, folder, monkeypatch):
    """Run the command without drawing; return its result and the moments that it used."""
    models = []
    monkeypatch.setattr("golem.workflow.fit.write", lambda model, *_, **__: models.append(model))
    typed = ["--diagnose" if file in DIAGNOSED else "--no-diagnose"]
    typed += [str(FOLDER / word) if word.endswith("knowledge.txt") else word for word in shlex.split(options)]
    result = CliRunner().invoke(app, ["fit", "-v", "--strict", str(FOLDER / file), "-o", str(folder), *typed])
    return result, models[-1].moments_ if models else None


@pytest.mark.parametrize(("file", "options", "outcome"), CASES, ids=lambda part: part if isinstance(part, str) else "")
def test_one_command_is_enough(file, options, outcome, tmp_path, monkeypatch):
    result, moments = fitted(file, options, tmp_path, monkeypatch)
    said = result.output
    if isinstance(outcome, Refused):
        assert result.exit_code == 1, said
        assert outcome.says in said
        if not outcome.with_:
            return
        # The message has the options, except for a number that only the user knows, and a choice of two.
        offered = said.replace("drop or --missing em", "drop").replace("--missing drop or em", DROP)
        for option in outcome.with_.replace("--rows 40", "--rows N").split(" --"):
            assert option.removeprefix("--") in offered
        outcome, options = outcome.then, f"{options} {outcome.with_}"
        result, moments = fitted(file, options, tmp_path, monkeypatch)
    assert result.exit_code == 0, result.output
    assert outcome.says in result.output or outcome.says in " ".join(result.output.split())
    assert SILENT.get(file, "\0") not in result.output.partition("Completed")[2]
    assert list(moments.names) == outcome.names.split("|")
    if outcome.rows is not None:
        assert moments.n == len(outcome.rows)
        np.testing.assert_allclose(moments.covariance, np.cov(outcome.rows.T, bias=True), atol=1e-6)


def test_there_are_many_tables():
    assert len({file for file, *_ in CASES}) >= 40
    unused = {path.name for path in FOLDER.iterdir()} - {
        word for case in CASES for word in f"{case[0]} {case[1]}".split()
    }
    assert not unused
