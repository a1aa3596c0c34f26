"""What rows record about the machine."""

import pytest

from golem_experiments.engine import provenance


@pytest.mark.parametrize(("cores", "written"), [(1, ", 1 core, threads: 1"), (16, ", 16 cores, threads: 1")])
def test_cores_are_counted(cores, written, monkeypatch):
    monkeypatch.setattr(provenance, "available_cores", lambda: cores)
    assert provenance.about("cpu", threads=1)["hardware"].endswith(written)
