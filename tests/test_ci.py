"""The script that a change must pass: what it runs, what it skips, and when it fails."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "run"
pytestmark = pytest.mark.skipif(not SCRIPT.exists() or shutil.which("bash") is None, reason="needs a checkout and bash")


@pytest.fixture
def run(tmp_path):
    """Run the script with a `make` that only notes its targets, and a registry that answers or does not."""

    def script(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def go(failing, registry_answers):
        script(tmp_path / "bin" / "make", f'echo "make $1"; test "$1" != "{failing}"')
        script(tmp_path / ".venv" / "bin" / "python", f"exit {0 if registry_answers else 1}")
        (tmp_path / ".ci").mkdir()
        shutil.copy(SCRIPT, tmp_path / ".ci" / "run")
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", tmp_path / ".ci" / "run"],
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    return go


def test_everything_is_run_where_nothing_fails(run):
    result = run(failing="nothing", registry_answers=True)
    assert result.returncode == 0
    targets = ("test", "lint", "test-torch", "test-distributed", "test-export", "test-browser", "site")
    assert {f"make {target}" for target in targets} <= set(result.stdout.splitlines())
    assert "SKIPPED" not in result.stdout


@pytest.mark.parametrize("failing", ["export-environment", "browser", "site-environment"])
def test_an_environment_that_cannot_be_made_fails_where_the_registry_answers(run, failing):
    result = run(failing, registry_answers=True)
    assert result.returncode != 0
    assert f"FAILED: 'make {failing}', although the package registry answers" in result.stdout


@pytest.mark.parametrize(
    ("failing", "skipped"),
    [("export-environment", "test-export"), ("browser", "test-browser"), ("site-environment", "site")],
)
def test_an_environment_is_skipped_where_the_registry_does_not_answer(run, failing, skipped):
    result = run(failing, registry_answers=False)
    assert result.returncode == 0
    assert f"SKIPPED: {skipped}, because 'make {failing}' failed" in result.stdout
    assert f"make {skipped}" not in result.stdout.splitlines()


@pytest.mark.parametrize("failing", ["test", "lint", "test-torch", "test-distributed", "test-export", "test-browser"])
@pytest.mark.parametrize("registry_answers", [False, True])
def test_tests_that_fail_are_never_skipped(run, failing, registry_answers):
    assert run(failing, registry_answers).returncode != 0
