"""Progress bars: what a terminal shows, and silence elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from golem.cli import terminal
from golem.cli.progress_bars import ProgressBars
from golem.comparison.result import Step
from golem.solvers import Progress


@pytest.fixture
def screen(monkeypatch):
    """Let standard error be a terminal that is kept."""
    kept = io.StringIO()
    monkeypatch.setattr(terminal, "err", Console(file=kept, force_terminal=True, width=120))
    return kept


def test_every_kind_of_work_has_a_bar(screen):
    bars = ProgressBars()
    with bars.counting("folds {of} rows") as count:
        count(3, 10)
    with bars.reading(2_000_000) as count:
        count(1_000_000, 2_000_000)
    with bars.solving() as show:
        show(Progress("golem-ev", 5, 10, 0.1, -1.25, 1e-3))
    with bars.comparing(60.0) as show:
        show(Step("notears", 1, 4, 2.0))
    with bars.waiting("Checking"):
        pass
    for text in (
        "folds {of} rows",
        "3/10",
        "Reading",
        "golem-ev",
        "score -1.25",
        "notears",
        "of at most 60",
        "Checking",
    ):
        assert text in screen.getvalue()


def test_without_a_terminal_there_are_notes_and_no_bars(monkeypatch):
    kept = io.StringIO()
    monkeypatch.setattr(terminal, "err", Console(file=kept, width=120))
    bars = ProgressBars()
    with bars.counting("folds") as count, bars.reading(10) as read, bars.solving() as show:
        assert (count, read, show) == (None, None, None)
    bars.note("No header line found.")
    assert kept.getvalue() == "No header line found.\n"


def test_what_is_not_wanted_is_not_shown(screen):
    bars = ProgressBars(bars=False, notes=False)
    with bars.counting("folds") as count, bars.waiting("Checking"):
        assert count is None
    bars.note("quiet")
    assert screen.getvalue() == ""
