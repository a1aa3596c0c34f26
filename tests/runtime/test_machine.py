"""The machine: free memory within the limits of containers, and refusals before large allocations."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from golem import Golem, Moments
from golem.data.source import Purpose, TableSource
from golem.readers import TableFiles, read_table, shards_from_file
from golem.runtime import machine
from golem.runtime.progress import ProgressDisplay

# Paths of the control groups (v2) of this process: one, or none on other systems.
CONTROL_GROUPS = (
    re.findall(r"^0::/(.*)$", GROUPS.read_text(), re.M) if (GROUPS := Path("/proc/self/cgroup")).exists() else []
)


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(machine, "_SMALL", 0)
    for module in ("runtime.machine", "runtime.devices", "data.files.streaming"):
        monkeypatch.setattr(f"golem.{module}.free_memory", lambda: 1000)


@pytest.mark.skipif(not CONTROL_GROUPS, reason="needs control groups")
def test_free_memory_is_within_the_machine_and_the_limit_of_the_container(tmp_path, monkeypatch):
    free = machine.free_memory()
    assert 0 < free < 1 << 50
    own = tmp_path / CONTROL_GROUPS[0]
    own.mkdir(parents=True, exist_ok=True)
    for name, content in (("max", "5000"), ("current", "2000"), ("stat", "anon 10\ninactive_file 500\n")):
        (own / f"memory.{name}").write_text(content)
    monkeypatch.setattr(machine, "_CONTROL_GROUPS", tmp_path)
    assert machine.free_memory() == 3500
    (own / "memory.max").write_text("max")
    assert machine.free_memory() > 3500


def test_large_tables_are_refused_before_they_are_copied(little_memory, rng):
    X = rng.normal(size=(50, 4))
    sentence = r"needs about 0\.0 GiB of memory, of which 0\.0 GiB are free\. Use fewer"
    with pytest.raises(ValueError, match=f"A table of 50 rows and 4 columns {sentence}"):
        Moments.from_rows(X)
    with pytest.raises(ValueError, match=f"A dense copy of the sparse data {sentence}"):
        Golem().fit(scipy.sparse.csr_array(X))
    with pytest.raises(ValueError, match=f"The order of 12 variables {sentence} columns"):
        Golem().fit(Moments.from_covariance(np.eye(12), 50))


def test_a_sparse_matrix_that_is_too_large_as_a_dense_one_is_refused():
    rows = np.arange(10**6)
    sparse = scipy.sparse.coo_array((np.ones(10**6), (rows, rows)), shape=(10**7, 10**6))
    with pytest.raises(ValueError, match=r"A dense copy of the sparse data needs about 74505\.8 GiB of memory"):
        Golem().fit(sparse)


def test_rows_and_shards_of_files_are_refused_while_they_are_read(little_memory, rng, tmp_path):
    path = tmp_path / "data.csv"
    np.savetxt(path, rng.normal(size=(50, 12)), delimiter=",", header=",".join("abcdefghijkl"), comments="")
    with pytest.raises(ValueError, match=r"data\.csv: Keeping all rows in memory needs about"):
        read_table(path)
    with pytest.raises(ValueError, match="The covariance of 12 columns, in 5 shards of the rows, needs about"):
        shards_from_file(path, 5)
    source = TableSource(TableFiles.open(path, columns=["a", "b"]), Purpose(divided=True))
    with pytest.raises(ValueError, match=r"data\.csv: Keeping all rows in memory needs about"):
        source.read("error", ProgressDisplay())


_UNDER_A_LIMIT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from golem.runtime.machine import address_space, free_memory
assert address_space() == int(sys.argv[1])
print(free_memory())
import golem.cli
sys.argv = ["golem", "--version"]
golem.cli.main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits on addresses")
def test_free_memory_is_within_the_limit_on_addresses_and_a_small_one_is_refused():
    command = [sys.executable, "-c", _UNDER_A_LIMIT]
    small = subprocess.run([*command, str(1 << 29)], capture_output=True, text=True)
    assert (small.returncode, int(small.stdout) < 1 << 29) == (1, True)
    assert small.stderr.startswith("Error: The limit of memory (ulimit -v) is 0.5 GiB, which is too little.")
    large = subprocess.run([*command, str(1 << 34)], capture_output=True, text=True)
    assert (large.returncode, large.stderr) == (0, "")
    assert int(large.stdout.splitlines()[0]) < 1 << 34


@pytest.mark.parametrize(
    ("line", "folder", "files"),
    [
        ("0::/job/step", "job", ("memory.max", "memory.current", "inactive_file")),
        (
            "7:cpu:/\n9:memory:/job/step",
            "memory/job",
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ),
    ],
)
def test_limits_of_both_versions_of_control_groups_count(line, folder, files, tmp_path, monkeypatch):
    """The group around the own one has the limit: 300 MB, of which 200 are used, 50 of them by the cache of files."""
    (tmp_path / folder / "step").mkdir(parents=True)
    (tmp_path / folder / files[0]).write_text("300000000\n")
    (tmp_path / folder / files[1]).write_text("200000000\n")
    (tmp_path / folder / "memory.stat").write_text(f"other 1\n{files[2]} 50000000\n")
    (tmp_path / "own").write_text(line + "\n")
    monkeypatch.setattr(machine, "_CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(machine, "_OWN_GROUPS", tmp_path / "own")
    assert machine.free_memory() == 150_000_000
