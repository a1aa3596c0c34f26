"""Progress bars: one mechanism for all commands, on terminals and elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from golem.cli import terminal
from golem.cli.progress_bars import ProgressBars
from golem.comparison.result import Step
from golem.experiments.engine.runner import RunProgress
from golem.solvers import Progress


@pytest.fixture
def screen(monkeypatch):
    """Return a function that makes standard error a terminal, or something else, and returns what is written there."""

    def make(is_terminal):
        console = Console(file=io.StringIO(), force_terminal=is_terminal, width=120)
        monkeypatch.setattr(terminal, "err", console)
        return console.file

    return make


STAGES = {
    "counting": (lambda bars: bars.counting("Bootstrap"), [(3, 7)], ["Bootstrap", "3/7"]),
    "reading": (lambda bars: bars.reading(2000), [(1000, 2000)], ["Reading", "1.0/2.0 kB"]),
    "solving": (lambda bars: bars.solving(), [(Progress("ev", 1, 2, 0.1, 1.5, 0.25),)], ["ev", "score 1.5000"]),
    "comparing": (
        lambda bars: bars.comparing(60),
        [(Step("pc", 1, 4, 0.0),), (Step("fgs", 2, 4, 12.0),)],
        ["2/4", "fgs  12 s of at most 60"],
    ),
    "experimenting": (
        lambda bars: bars.experimenting(),
        [(RunProgress(0, 9, 0, None, ""),), (RunProgress(5, 9, 2, 61.0, "pc  ER1"),)],
        ["5/9", "0:01:01 left  2 failed  pc  ER1"],
    ),
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_bar_shows_what_is_done(stage, screen):
    written = screen(True)
    begin, calls, expected = STAGES[stage]
    with begin(ProgressBars()) as show:
        for call in calls:
            show(*call)
    text = written.getvalue()
    assert all(part in text for part in expected), text


@pytest.mark.parametrize("stage", STAGES)
def test_where_none_is_wanted_there_is_nothing_to_call(stage, screen):
    written = screen(True)
    with STAGES[stage][0](ProgressBars(bars=False)) as show:
        assert show is None
    assert not written.getvalue()


def test_a_long_run_tells_of_itself_in_files(screen, monkeypatch):
    written, clock = screen(False), [0.0]
    monkeypatch.setattr("golem.cli.progress_bars.time.monotonic", lambda: clock[0])
    with ProgressBars().experimenting() as show:
        for seconds, *state in ((0, 0, ""), (1, 1, "pc"), (62, 2, "pc"), (63, 3, "pc"), (64, 4, "pc")):
            clock[0] = float(seconds)
            show(RunProgress(state[0], 4, 0, None, state[1]))
    told = [line.split(" tasks")[0] for line in written.getvalue().splitlines()]
    assert told == ["0 of 4", "2 of 4", "4 of 4"]
    with ProgressBars().counting("Bootstrap") as show:
        assert show is None
