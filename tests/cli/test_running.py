"""The guard around every command: unexpected errors become a sentence and a report, lost signals an exit code."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import golem
from golem.cli import app

run = CliRunner()
MESSAGE = "secret cell"


@pytest.fixture
def broken(tmp_path, monkeypatch):
    def learn(*arguments):
        raise RuntimeError(MESSAGE)

    monkeypatch.setattr("golem.workflow.fit.learn", learn)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("v1,v2,v3\n" + "".join(f"{k},{k * k % 7},{k % 3}\n" for k in range(30)))
    return tmp_path


def test_an_unexpected_error_is_one_sentence_and_a_report_without_data(broken):
    options = ["fit", "data.csv", "-o", "private-name", "--bootstrap", "7", "--drop=v3", "-q"]
    result = run.invoke(app, options)
    assert result.exit_code == 70
    assert result.output.count("\n") == 1
    assert result.output.startswith(
        "Error: golem failed unexpectedly (RuntimeError: secret cell). Nothing was written."
    )
    (report,) = broken.glob("golem-crash-*.txt")
    assert str(report) in result.output
    text = report.read_text()
    assert f"golem {golem.__version__}, Python" in text
    assert "golem fit ... -o ... --bootstrap 7 --drop -q" in text
    assert "in fit_file" in text
    assert "RuntimeError" in text
    assert not any(word in text for word in ("secret cell", "private-name", "v3", "data.csv"))


def test_debug_shows_the_traceback_wherever_it_stands(broken):
    for options in (["--debug", "fit", "data.csv"], ["fit", "data.csv", "--debug"]):
        result = run.invoke(app, options)
        assert isinstance(result.exception, RuntimeError)
    assert not list(broken.glob("golem-crash-*.txt"))


def test_a_swallowed_signal_still_gives_a_true_exit_code(broken, monkeypatch):
    monkeypatch.setattr("golem.runtime.interrupts._ending.number", 15)
    result = run.invoke(app, ["simulate", "-o", "out", "-q"])
    assert result.exit_code == 143
    assert result.output == "Interrupted. The results are saved in out.\n"
