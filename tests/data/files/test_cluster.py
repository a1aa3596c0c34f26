"""The pass on a Dask cluster: the same moments as here, also where a worker is lost on the way."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from golem import Golem, Moments
from golem.cli import app
from golem.data.category_columns import read_coded
from golem.data.files import csv_files, parquet_files
from golem.readers import environments_from_file, moments_from_dask, moments_from_file, shards_from_file

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dask_array = pytest.importorskip("dask.array")
dask_frame = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.distributed


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes that are started again when they die, and are soon considered dead."""
    impatient = {"distributed.comm.timeouts.connect": "1s", "distributed.comm.retry.count": 0}
    with (
        dask.config.set(impatient),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture
def rows(rng):
    return rng.normal(size=(6000, 5)) @ rng.normal(size=(5, 5)) + 1e8


@pytest.fixture
def folder(tmp_path, rows, monkeypatch):
    """Text and Parquet that are cut into many pieces."""
    # Only where the files are cut, which happens here: workers, also those started again, know nothing of it.
    for module in (csv_files, parquet_files):
        monkeypatch.setattr(module, "piece_bytes", lambda d: 8000)
    names = [f"x{j}" for j in range(5)]
    table = tmp_path / "table"
    table.mkdir()
    pq.write_table(pa.table(rows[:3000].T.tolist(), names=names), table / "1.parquet", row_group_size=100)
    text = "\n".join(",".join(map(repr, row)) for row in rows[3000:].tolist())
    (table / "2.csv").write_text(",".join(names) + "\n" + text)
    return table


def kill_a_worker(client):
    """End a worker as the out-of-memory killer does."""
    address, pid = next(iter(client.run(os.getpid, workers=list(client.nthreads())[:1]).items()))
    os.kill(pid, signal.SIGKILL)
    return address


def assert_identical(one, other):
    assert one.n == other.n
    for attribute in ("shift", "offset", "scatter"):
        np.testing.assert_array_equal(getattr(one, attribute), getattr(other, attribute))


def assert_same(moments, expected):
    assert moments.n == expected.n
    scale = np.sqrt(np.outer(expected.variances, expected.variances))
    assert np.max(np.abs(moments.covariance - expected.covariance) / scale) < 1e-12
    np.testing.assert_allclose(moments.mean, expected.mean, rtol=1e-15)


def test_environments_are_read_on_workers(client, folder, tmp_path, rows):
    labels = np.where(np.arange(len(rows)) % 3, "control", "ko")
    pd.DataFrame(rows).assign(arm=labels).to_csv(tmp_path / "labelled.csv", index=False)
    by_label = {"targets": {"control": [], "ko": ["0"]}, "environment": "arm"}
    by_file = {"targets": {"1": [], "2": ["x0"]}}
    for path, how in ((tmp_path / "labelled.csv", by_label), (folder, by_file)):
        here, there = environments_from_file(path, **how), environments_from_file(path, scheduler=client, **how)
        assert here.named_targets == there.named_targets == how["targets"]
        for one, other in zip(here.parts, there.parts, strict=True):
            assert_identical(one.moments, other.moments)


def test_markers_of_missing_values_are_found_and_counted_on_workers(client, folder):
    text = (folder / "2.csv").read_text().splitlines()
    for line, cell in ((5, "*"), (700, "?"), (2999, "gone")):
        text[line] = f"{cell},{text[line].partition(',')[2]}"
    (folder / "2.csv").write_text("\n".join(text))
    how = {"na": ["x0=gone"], "missing": "drop"}
    here, there = moments_from_file(folder, **how), moments_from_file(folder, scheduler=client, **how)
    assert_identical(here, there)
    assert here.missing == there.missing
    assert there.missing.markers == {"x0": {"*": 1, "?": 1, "gone": 1}}
    with pytest.raises(ValueError, match="No value of the columns used is 'x1=gone'"):
        moments_from_file(folder, na=["x0=gone", "x1=gone"], missing="drop", scheduler=client)


def test_files_on_a_cluster_give_the_moments_of_this_process(client, folder, rows):
    seen = []
    moments = moments_from_file(folder, scheduler=client, progress=lambda done, total: seen.append((done, total)))
    assert_identical(moments, moments_from_file(folder))
    assert_same(moments, Moments.from_rows(rows))
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert len(seen) > 30
    assert seen[-1] == (size, size)
    for one, other in zip(shards_from_file(folder, 7, scheduler=client), shards_from_file(folder, 7), strict=True):
        assert_identical(one, other)


def test_a_worker_killed_during_the_pass_changes_nothing(client, folder):
    killed = []

    def kill_once(done, total):
        if not killed and done > total / 5:
            killed.append((kill_a_worker(client), done / total))

    moments = moments_from_file(folder, scheduler=client, progress=kill_once)
    assert killed[0][1] < 0.8  # in the middle
    assert_identical(moments, moments_from_file(folder))


def test_a_worker_killed_under_a_dask_frame_changes_nothing(client, tmp_path):
    flag = tmp_path / "begun"

    def part(number):
        return pd.DataFrame(np.random.default_rng(number).normal(size=(50, 3)) + 1e8, columns=["a", "b", "c"])

    def slow_part(number):
        if number == 2:
            flag.touch()
        time.sleep(0.05)
        return part(number)

    frame = dask_frame.from_map(slow_part, range(40), meta=part(0).iloc[:0])
    undisturbed = moments_from_dask(frame)
    flag.unlink()
    killed = []

    def kill_when_begun():
        while not flag.exists():
            time.sleep(0.005)
        killed.append(kill_a_worker(client))

    killer = threading.Thread(target=kill_when_begun)
    killer.start()
    disturbed = moments_from_dask(frame)
    killer.join(timeout=30)
    assert killed
    assert_identical(disturbed, undisturbed)
    assert_same(undisturbed, Moments.from_table(pd.concat([part(k) for k in range(40)])))


@pytest.mark.parametrize("partitions", [1, 2, 7, 60])
def test_frames_and_arrays_give_the_moments_of_the_whole(rows, partitions):
    frame = pd.DataFrame(rows, columns=list("abcde"))
    parts = dask_frame.from_pandas(frame, npartitions=partitions)
    moments = moments_from_dask(parts)
    assert moments.names == tuple("abcde")
    assert_same(moments, Moments.from_rows(rows))
    array = dask_array.from_array(rows, chunks=(-(-len(rows) // partitions), 2))
    assert_same(moments_from_dask(array), Moments.from_rows(rows))
    np.testing.assert_array_equal(frame.to_numpy(), rows)  # the rows are not overwritten
    # Partitions without rows, as a filter leaves them, count for nothing.
    some = parts.map_partitions(lambda part: part[part.index < len(rows) // 3])
    assert_same(moments_from_dask(some), Moments.from_rows(rows[: len(rows) // 3]))


def test_a_frame_may_have_categories(rows):
    frame, order = pd.DataFrame(rows, columns=list("abcde")), rows[:, 0].argsort()
    frame["site"] = np.array(["x", "y"])[order % 2]
    frame["low"] = order < 100
    frame["third"] = pd.Categorical(np.array(list("uvw"))[np.arange(len(rows)) % 3])
    expected = read_coded(frame).moments()
    found = moments_from_dask(dask_frame.from_pandas(frame, npartitions=7))
    assert found.coding == expected.coding
    assert_same(found, expected)


def test_a_cluster_finds_the_levels_of_files(client, tmp_path, rows):
    frame = pd.DataFrame(rows, columns=list("abcde")).assign(site=np.array(["x", "y"])[np.arange(len(rows)) % 2])
    frame.to_csv(tmp_path / "data.csv", index=False)
    there, here = (moments_from_file(tmp_path / "data.csv", scheduler=s) for s in (client.scheduler.address, None))
    assert there.coding == here.coding
    np.testing.assert_array_equal(there.scatter, here.scatter)


def test_rows_that_lack_values_are_left_out_on_request(rows):
    holes = np.where(np.arange(rows.size).reshape(rows.shape) % 17 == 0, np.nan, rows)
    frame = dask_frame.from_pandas(pd.DataFrame(holes, columns=list("abcde")), npartitions=5)
    moments = moments_from_dask(frame, missing="drop")
    expected = Moments.from_rows(holes, list("abcde"), missing="drop")
    assert_same(moments, expected)
    assert moments.missing == expected.missing


def test_what_is_wrong_with_a_frame_is_named():
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan, 3.0], "b": [1, 2, 3, 4]})
    with pytest.raises(ValueError, match=r"Partition 1: .*'a' \(1 value\)\. The first is in row 1"):
        moments_from_dask(dask_frame.from_pandas(frame, npartitions=2))
    with pytest.raises(
        ValueError, match="Column 'a' has 4 different values in 4 rows, which is too many for a category"
    ):
        moments_from_dask(dask_frame.from_pandas(frame.assign(a=["u", "v", "w", "x"]), npartitions=2))
    with pytest.raises(ValueError, match=r"Partition \d: 1 of 2 columns is not numeric: 'a'"):
        moments_from_dask(dask_frame.from_pandas(frame.assign(a=pd.Timestamp("2020-01-01")), npartitions=2))
    with pytest.raises(ValueError, match="got DataFrame"):
        moments_from_dask(frame)
    with pytest.raises(ValueError, match=r"lazy query without rows.*moments_from_dask"):
        Golem().fit(dask_frame.from_pandas(frame, npartitions=2))


def test_fit_on_a_cluster_writes_what_fit_here_writes(client, folder, tmp_path):
    results = []
    for options in ([], ["--scheduler", client.scheduler.address]):
        output = tmp_path / f"out{len(results)}"
        result = CliRunner().invoke(app, ["fit", str(folder), "-o", str(output), *options])
        assert result.exit_code == 0, result.output
        content = json.loads((output / "graph.json").read_text())
        results.append((content["names"], content["n"], pd.DataFrame(content["edge_table"])))
    (names, n, here), (other_names, other_n, there) = results
    assert (names, n) == (other_names, other_n)
    # A small table is summed in memory, without pieces. Here its columns are known to be normal; workers send no rows,
    # so that fewer directions are claimed.
    same = ["source", "target", "weight", "standardized_weight", "standard_error"]
    pd.testing.assert_frame_equal(here[same], there[same], rtol=1e-9)
    assert (here["directed"] | ~there["directed"]).all()


def test_errors_on_workers_are_sentences(client, tmp_path, monkeypatch):
    monkeypatch.setattr("golem.data.files.cluster._CONNECT_SECONDS", 1)
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3,x\n")
    arguments = ["fit", str(tmp_path / "bad.csv"), "-o", str(tmp_path / "out"), "--scheduler"]
    result = CliRunner().invoke(app, [*arguments, client.scheduler.address])
    assert result.exit_code == 1
    assert "bad.csv: Column 'b' is numeric except for 'x' in line 3" in result.output.replace("\n", "")
    result = CliRunner().invoke(app, [*arguments, "tcp://127.0.0.1:1"])
    assert result.exit_code == 1
    assert "No Dask scheduler answers at tcp://127.0.0.1:1" in result.output
    assert not (tmp_path / "out").exists()


def test_a_cluster_of_this_machine_can_be_started(tmp_path, rows):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(rows.T.tolist(), names=list("abcde")), path)
    assert_identical(moments_from_file(path, scheduler="local"), moments_from_file(path))
