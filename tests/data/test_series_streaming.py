"""Series and panels that are streamed from files have the moments of those in memory."""

import subprocess

import numpy as np
import pandas as pd
import pytest

import golem.data.files.batches
import golem.data.source
from golem import Golem, fit_file
from golem.data.checks import DataWarning
from golem.data.reading import Reading
from golem.data.series_reading import SeriesChoice
from golem.data.source import Purpose, open_source
from golem.simulate import simulate_series
from golem.workflow.steps import SILENT


@pytest.fixture
def small_batches(monkeypatch):
    """Make batches of a few rows, and stream all files."""
    monkeypatch.setattr(golem.data.source, "ROWS_UP_TO", 0)
    monkeypatch.setattr("golem.data.files.parquet_files.batch_rows", lambda d: 37)
    monkeypatch.setattr("golem.data.files.csv_files.block_bytes", lambda d: 1000)
    monkeypatch.setattr("golem.data.files.csv_files.piece_bytes", lambda d: 4000)


def panel(seed=0, units=40):
    """Draw a panel with units of 1 to 60 rows, gaps in time, and large intercepts."""
    rng = np.random.default_rng(seed)
    drawn = simulate_series(3, 60 * units, lags=2, units=units, random_state=seed)
    frame = pd.DataFrame(drawn.data + 20 * rng.normal(size=(units, 3))[drawn.unit], columns=list("abc"))
    frame = frame.assign(who=[f"u{k:03d}" for k in drawn.unit], t=np.tile(np.arange(60), units))
    frame = frame[frame.t < rng.integers(1, 61, units)[drawn.unit]]
    return frame[rng.random(len(frame)) > 0.02]


def read(path, choice, missing="error", **how):
    return open_source([str(path)], Reading(), Purpose(**how), series=choice).read(missing, SILENT)


def same(one, other):
    mine, others = one.parts[0].moments, other.parts[0].moments
    assert (mine.n, mine.names) == (others.n, others.names)
    np.testing.assert_allclose(mine.covariance, others.covariance, rtol=1e-10, atol=1e-10)
    assert (one.series.stretches, one.series.units, one.series.periods) == (
        other.series.stretches, other.series.units, other.series.periods
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("choice", [{"time": "t"}, {"lags": 0}, {"lags": 8}, {"time": "t", "lags": "auto"}])
def test_a_streamed_panel_has_the_moments_of_one_in_memory(tmp_path, small_batches, monkeypatch, ending, choice):
    frame, path = panel(), tmp_path / f"panel.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path, index=False)
    choice = SeriesChoice(**{"lags": 2, "unit": "who"} | choice)
    streamed = read(path, choice, divided=True)
    assert len(streamed.parts[0].shards) > 5
    monkeypatch.setattr(golem.data.source, "ROWS_UP_TO", 1 << 40)
    whole = read(path, choice)
    same(streamed, whole)
    assert sorted(streamed.series.notes) == sorted(whole.series.notes)
    kept = streamed.parts[0].read_rows()
    assert len(kept) >= whole.parts[0].moments.rows  # units with one window are kept as zeros


@pytest.mark.parametrize("lags", [1, 3, "auto"])
def test_a_streamed_series_with_gaps_and_missing_values(tmp_path, small_batches, monkeypatch, lags):
    drawn = simulate_series(3, 900, lags=2, random_state=1)
    frame = pd.DataFrame(drawn.data + 1e4, columns=list("abc"))
    frame = frame.assign(day=pd.date_range("2020-01-01", periods=900).astype(str))
    frame.loc[[50, 300, 301], "b"] = np.nan
    frame = frame.drop(index=range(400, 410))
    path, choice = tmp_path / "series.csv", SeriesChoice(lags, "day")
    frame.to_csv(path, index=False)
    streamed = read(path, choice, "drop", halved=True)
    monkeypatch.setattr(golem.data.source, "ROWS_UP_TO", 1 << 40)
    whole = read(path, choice, "drop")
    same(streamed, whole)
    assert sorted(streamed.series.notes) == sorted(whole.series.notes)
    np.testing.assert_allclose(streamed.parts[0].read_rows(), whole.parts[0].read_rows())


def test_short_units_are_corrected_alike(tmp_path, small_batches, monkeypatch):
    frame, path = panel(), tmp_path / "panel.parquet"
    frame[frame.t < 6].to_parquet(path, index=False)
    choice = SeriesChoice(1, None, "who")
    with pytest.warns(DataWarning, match="Nickell"):
        streamed = read(path, choice)
    monkeypatch.setattr(golem.data.source, "ROWS_UP_TO", 1 << 40)
    with pytest.warns(DataWarning, match="Nickell"):
        same(streamed, read(path, choice))


@pytest.mark.parametrize("written", ["first", "dates last", "no time", "numbers"])
def test_files_that_are_not_sorted_are_refused_with_the_command_that_sorts_them(tmp_path, small_batches, written):
    frame, path = panel(), tmp_path / "panel.csv"
    choice = SeriesChoice(2, None if written == "no time" else "t", "who")
    if written == "dates last":
        frame["t"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(frame.t, unit="D")
    if written == "numbers":
        frame["who"] = frame.who.str[1:].astype(int)
    if written == "first":
        frame = frame[["who", "t", "a", "b", "c"]]
    mixed = frame.sample(frac=1, random_state=0)
    mixed.to_csv(path, index=False)
    with pytest.raises(ValueError, match="Sort them first") as refused:
        read(path, choice)
    command = str(refused.value).partition("Sort them first: ")[2]
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    sorted_path = tmp_path / "sorted.csv"
    found = pd.read_csv(sorted_path)
    columns = list("abc")
    if written == "no time":  # the order of the rows of a unit is the time
        expected = mixed.sort_values("who", kind="stable")
    else:
        expected = frame if written != "numbers" else frame.loc[frame.who.astype(str).sort_values(kind="stable").index]
    np.testing.assert_array_equal(found[columns], expected[columns])
    read(sorted_path, choice)
    frame.to_csv(path, index=False)
    read(path, choice)  # numbers of units in order


def test_times_that_occur_twice_are_refused(tmp_path, small_batches):
    frame, choice = panel(), SeriesChoice(2, "t", "who")
    twice = tmp_path / "twice.parquet"
    pd.concat([frame[:70], frame[69:]]).to_parquet(twice, index=False)
    with pytest.raises(ValueError, match="row 71 is that of the row before it"):
        read(twice, choice)


def test_a_streamed_panel_is_fitted_checked_and_resampled(tmp_path, small_batches):
    frame, path = panel(units=120), tmp_path / "panel.csv"
    frame.loc[frame.index[100], "a"] = np.nan
    frame.to_csv(path, index=False)
    found = fit_file(path, tmp_path / "out", Golem(lags=2, unit="who", time="t"), missing="auto", bootstrap=20)
    assert found.bootstrap.unit == "shards"
    assert {edge.direction_from for edge in found.model.edges_ if edge.lag} == {"time"}
    assert {one.name for one in found.diagnosis.findings} >= {"more-lags", "windows"}
