"""Files: whole or not at all, and CSV text that reads back."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from golem.runtime.files import csv_text, replacing, require_writable, write_text
from golem.runtime.result_folder import result_folder


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail_half_way():
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        fail_half_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(path := tmp_path / "pipe")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_text(path, "a,b")
    assert os.read(reader, 9) == b"a,b"
    assert path.is_fifo()
    os.close(reader)


def test_csv_text_reads_back_to_the_last_digit(rng):
    rows = [["a,b", 'say "x"', "line\nbreak"], [*rng.normal(size=2).tolist(), "lone\rreturn"]]
    read = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert read[0] == rows[0]
    np.testing.assert_array_equal([float(x) for x in read[1][:2]], rows[1][:2])
    assert read[1][2] == rows[1][2]


def test_results_need_a_folder(tmp_path):
    require_writable(tmp_path / "new" / "deep")
    write_text(tmp_path / "file", "text")
    with pytest.raises(ValueError, match="is a file, not a folder"):
        require_writable(tmp_path / "file" / "out")


def test_the_files_of_a_folder_are_replaced_together_or_not_at_all(tmp_path):
    out, names = tmp_path / "out", ("a", "b", "c")
    with result_folder(out, names) as folder:
        write_text(folder / "a", "1")
        write_text(folder / "b", "1")
        assert [path.name for path in out.iterdir() if path != folder] == []
    (out / "mine").write_text("kept")

    def fail_half_way():
        with result_folder(out, names) as folder:
            write_text(folder / "a", "2")
            (folder / "no such folder" / "b").write_text("2")

    with pytest.raises(FileNotFoundError) as failure:
        fail_half_way()
    assert failure.value.filename == str(out / "no such folder" / "b")
    assert {path.name: path.read_text() for path in out.iterdir()} == {"a": "1", "b": "1", "mine": "kept"}
    with result_folder(out, names) as folder:
        write_text(folder / "a", "3")
    assert {path.name: path.read_text() for path in out.iterdir()} == {"a": "3", "mine": "kept"}  # b was of another run


_KILLED = """
import os, signal, sys
from pathlib import Path
from golem.runtime.result_folder import result_folder
with result_folder(Path(sys.argv[1]), ("a",)) as folder:
    (folder / "a").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_run_removes_what_a_killed_one_left_and_nothing_else(tmp_path):
    (tmp_path / ".golem-mine").mkdir()
    killed = subprocess.run([sys.executable, "-c", _KILLED, tmp_path], env={"PYTHONPATH": ":".join(sys.path)})
    assert killed.returncode == -signal.SIGKILL
    left = [path for path in tmp_path.iterdir() if (path / "a").exists()]
    assert len(left) == 1
    with result_folder(tmp_path, ("a",)) as first:
        assert not left[0].exists()
        with result_folder(tmp_path, ("a",)) as second:
            assert first.exists()  # it is in use
            write_text(second / "a", "2")
        write_text(first / "a", "1")
    assert {path.name for path in tmp_path.iterdir()} == {"a", ".golem-mine"}
    assert (tmp_path / "a").read_text() == "1"
