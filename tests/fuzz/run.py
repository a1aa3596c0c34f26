"""Count inputs of one kind, and store each new violation in its smallest form."""

from __future__ import annotations

import contextlib
import random
import sys
import time
import warnings
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky, HypothesisWarning

from fuzz import corpus
from fuzz.rules import RefusedError, ViolationError

# Shares of the time; those that run commands take longer per input.
SHARES = {"tables": 0.12, "graphs": 0.15, "documents": 0.27, "options": 0.18, "containers": 0.08}
SHARES |= {"categories": 0.12, "environments": 0.08, "checkpoints": 0.04, "spreadsheets": 0.01, "sessions": 0.01}

MOST_ATTEMPTS = 200
DAMAGED = ", damaged"


class Run:
    """Counts of one kind of input, and the violations that were seen.

    The readers of the kind take turns, and share the time equally. One that has read `enough` damaged inputs, or
    inputs if it gets no damaged ones, leaves its time to the others.
    """

    def __init__(self, kind: str, readers: list[str], known: set[tuple[str, str]], enough: float) -> None:
        self.kind, self.known, self.enough = kind, known, enough
        self.seconds = dict.fromkeys(readers, 0.0)
        self.tried: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.violations: Counter[str] = Counter()
        self.last: tuple[dict[str, Any], ViolationError] | None = None
        self.attempts = 0

    def check(self, case: dict[str, Any]) -> None:
        """Check a case; a violation that was seen before is counted but not raised."""
        reader = case["reader"]
        if self.last is not None:  # Hypothesis makes the violation smaller
            self.attempts += 1
            if self.attempts <= MOST_ATTEMPTS:
                self._again(case)
            return
        self.tried[reader] += 1
        try:
            corpus.check(self.kind, case)
        except RefusedError:
            self.refused[reader] += 1
        except ViolationError as violation:
            if violation.signature not in self.known:
                self.last = case, violation
                raise
            self.violations[reader] += 1

    def _again(self, case: dict[str, Any]) -> None:
        """Raise where a smaller case has a new violation, too."""
        violation = corpus.violation_of(self.kind, case)
        if violation is not None and violation.signature not in self.known:
            self.last = case, violation
            raise violation

    def until(self, end: float, numbers: random.Random) -> None:
        """Try new cases until a time; store each new violation in its smallest form."""
        while time.monotonic() < end and (reader := self._next()):
            begin = time.monotonic()
            self.last, self.attempts = None, 0

            @seed(numbers.randrange(2**32))
            @settings(
                max_examples=50,
                database=None,
                deadline=None,
                phases=[Phase.generate, Phase.shrink],
                suppress_health_check=list(HealthCheck),
                report_multiple_bugs=False,
            )
            @given(corpus.KINDS[self.kind].cases(reader))
            def holds(case: dict[str, Any]) -> None:
                if time.monotonic() < end:
                    self.check(case)

            # Beside the violation, Hypothesis reports a case that passes once the time is over.
            with contextlib.suppress(ViolationError, Flaky), warnings.catch_warnings():
                warnings.simplefilter("ignore", HypothesisWarning)
                holds()
            if self.last is not None:
                case, violation = self.last
                self.known.add(violation.signature)
                self.violations[case["reader"]] += 1
                say(f"{corpus.store(self.kind, case, violation)}: {violation}")
            self.seconds[reader] += time.monotonic() - begin

    def _next(self) -> str | None:
        """Return the reader that had the least time, among those without enough inputs."""
        readers = [reader for reader in self.seconds if self._count(reader) < self.enough]
        return min(readers, key=self.seconds.__getitem__, default=None)

    def _count(self, reader: str) -> int:
        """Return the number of damaged inputs of a reader, or of all its inputs if none is damaged."""
        return self.tried[reader + DAMAGED] or self.tried[reader]


def run_kinds(
    readers: dict[str, list[str]], seconds: float, number: int, enough: float
) -> dict[str, tuple[Counter[str], ...]]:
    """Try the readers of each kind for its share of the time; return the counts of inputs tried, refused and wrong."""
    numbers, known, end = random.Random(number), corpus.known(), time.monotonic() + seconds
    found, kinds = {}, list(readers)
    for k, kind in enumerate(kinds):
        run, begin = Run(kind, readers[kind], known, enough), time.monotonic()
        share = SHARES[kind] / sum(SHARES[other] for other in kinds[k:])  # what a kind leaves goes to the next ones
        run.until(begin + (end - begin) * share, numbers)
        found[kind] = run.tried, run.refused, run.violations
    return found


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
