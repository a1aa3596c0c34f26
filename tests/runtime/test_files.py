"""Files: whole or not at all, and CSV text that reads back."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from golem.runtime.files import csv_text, replacing, require_writable, write_text


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


def test_csv_text_reads_back_to_the_last_digit(rng):
    rows = [["a,b", 'say "x"', "line\nbreak"], [*rng.normal(size=2).tolist(), "lone\rreturn"]]
    read = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert read[0] == rows[0]
    np.testing.assert_array_equal([float(x) for x in read[1][:2]], rows[1][:2])
    assert read[1][2] == rows[1][2]


def test_results_need_a_folder(tmp_path):
    require_writable(tmp_path / "new" / "deep")
    write_text(tmp_path / "file", "text")
    with pytest.raises(ValueError, match="is a file; give a folder"):
        require_writable(tmp_path / "file" / "out")
