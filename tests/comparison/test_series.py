"""Methods compared on a series: the same windows, and rows in order for other packages."""

import numpy as np
import pytest
from typer.testing import CliRunner

import golem.comparison.registry
import golem.data.table_reading
from golem.cli import app
from golem.comparison import compare
from golem.comparison.other_packages import of_lags
from golem.comparison.registry import learn_with
from golem.data.series_reading import SeriesChoice
from golem.simulate import simulate_series


@pytest.fixture
def handed(monkeypatch):
    """Catch the rows and lags that an adapter gets."""
    caught = []

    def learn(X, lags):
        caught.append((X, lags))
        return of_lags(np.zeros((lags + 1, X.shape[1], X.shape[1]), dtype=bool))

    other = golem.comparison.registry.OTHER_PACKAGES
    monkeypatch.setitem(
        other, "var-lingam", golem.comparison.other_packages.OtherPackage("sys", "", None, None, "", learn)
    )
    return caught


def read(X, **choice):
    return golem.data.table_reading.read_table(X, series=SeriesChoice(**choice))


@pytest.mark.parametrize("lags", [1, 3])
def test_other_packages_get_the_rows_in_order(handed, lags):
    X = simulate_series(3, 50, lags=1, random_state=0).data
    learn_with("var-lingam", read(X[::-1], lags=lags, time=np.arange(50)[::-1]))
    ((rows, given),) = handed
    assert given == lags
    np.testing.assert_array_equal(rows, X)


def test_gaps_and_units_are_refused(handed):
    X = simulate_series(3, 50, lags=1, random_state=0).data
    for choice in ({"time": [*range(20), *range(30, 60)]}, {"unit": np.arange(50) // 25}):
        with pytest.raises(ValueError, match="one series without units, gaps"):
            learn_with("var-lingam", read(X, lags=1, **choice))
    with pytest.raises(ValueError, match="pc cannot use lags"):
        learn_with("pc", read(X, lags=1))


def test_a_comparison_counts_edges_at_all_lags(tmp_path):
    drawn = simulate_series(3, 500, lags=1, random_state=2)
    truth = np.zeros((6, 6), dtype=bool)
    truth[:3, :3], truth[3:, :3] = drawn.present != 0, drawn.past[0] != 0
    found = compare(drawn.data, ["order"], truth=truth, lags=1)
    (row,) = found.rows
    assert found.names == ("x0", "x1", "x2", "x0@1", "x1@1", "x2@1")
    assert (row.status, row.tpr, row.shd_c, row.sid) == ("done", 1.0, None, None)
    folder = tmp_path / "data"
    run = CliRunner().invoke
    assert run(app, ["simulate", "--lags", "1", "-d", "3", "-n", "400", "-o", str(folder)]).exit_code == 0
    compared = run(app, ["compare", f"{folder}/data.csv", "--lags", "1", "--truth", f"{folder}/truth.csv",
                         "--methods", "order", "--forbid", "x0@1->x1", "-o", str(tmp_path / "out")])  # fmt: skip
    assert compared.exit_code == 0, compared.output
    assert "order" in compared.output
