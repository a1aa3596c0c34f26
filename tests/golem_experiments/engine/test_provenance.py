"""What rows record about the machine."""

import shutil
import subprocess

import pytest

from golem_experiments.engine import provenance


@pytest.mark.parametrize(("cores", "written"), [(1, ", 1 core, threads: 1"), (16, ", 16 cores, threads: 1")])
def test_cores_are_counted(cores, written, monkeypatch):
    monkeypatch.setattr(provenance, "available_cores", lambda: cores)
    assert provenance.about("cpu", threads=1)["hardware"].endswith(written)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_commit_of_the_source_in_a_linked_worktree_and_of_no_copy(tmp_path, monkeypatch):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        ended = subprocess.run(["git", *who, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return ended.stdout.strip()

    def found(folder):
        monkeypatch.setattr(provenance, "__file__", str(tmp_path / folder / own))
        return provenance.commit.__wrapped__()

    own = "src/golem_experiments/engine/provenance.py"
    for folder in ("source", "source/.venv"):
        (tmp_path / folder / own).parent.mkdir(parents=True)
        (tmp_path / folder / own).touch()
    git("init", "-q", "source")
    git("-C", "source", "add", "src")
    git("-C", "source", "commit", "-qm", "Begin")
    git("-C", "source", "worktree", "add", "-q", "../linked")
    head = git("-C", "source", "rev-parse", "--short=12", "HEAD")
    assert found("source") == found("linked") == head
    (tmp_path / "linked" / own).write_text("changed", encoding="utf-8")
    assert found("linked") == f"{head}+"
    assert found("source/.venv") == ""
