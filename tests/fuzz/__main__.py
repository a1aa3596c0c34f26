"""Try new inputs of all kinds for a number of seconds: `make fuzz SECONDS=600`.

Prints a table of the inputs tried. Every new violation is made small and stored in tests/fuzz/corpus/.
"""

from __future__ import annotations

import argparse
import contextlib
import platform
import random
import sys
import time
import warnings
from collections import Counter
from importlib.metadata import version
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky, HypothesisWarning

from fuzz import corpus
from fuzz.rules import RefusedError, ViolationError
from golem.experiments.engine.provenance import processor

# Shares of the time; those that run commands take longer per input.
SHARES = {"tables": 0.25, "graphs": 0.2, "documents": 0.2, "options": 0.25, "containers": 0.1}

MOST_ATTEMPTS = 200
DAMAGED = ", damaged"


class Run:
    """Counts of one kind of input, and the violations that were seen."""

    def __init__(self, kind: str, known: set[tuple[str, str]]) -> None:
        self.kind, self.known = kind, known
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
            corpus.KINDS[self.kind].check(case)
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
        while time.monotonic() < end:
            self.last, self.attempts = None, 0

            @seed(numbers.randrange(2**32))
            @settings(
                max_examples=200,
                database=None,
                deadline=None,
                phases=[Phase.generate, Phase.shrink],
                suppress_health_check=list(HealthCheck),
                report_multiple_bugs=False,
            )
            @given(corpus.KINDS[self.kind].CASES)
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
                _print(f"{corpus.store(self.kind, case, violation)}: {violation}")


def main() -> None:
    """Run all kinds, one after the other, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None, help="Random seed; a new one by default.")
    parser.add_argument("--kind", choices=list(corpus.KINDS), help="Only this kind of input.")
    given_options = parser.parse_args()
    number = random.SystemRandom().randrange(2**32) if given_options.seed is None else given_options.seed
    numbers, known = random.Random(number), corpus.known()
    kinds = [given_options.kind] if given_options.kind else list(corpus.KINDS)
    whole = sum(SHARES[kind] for kind in kinds)
    runs = []
    for kind in kinds:
        runs.append(Run(kind, known))
        runs[-1].until(time.monotonic() + given_options.seconds * SHARES[kind] / whole, numbers)
    _print(f"\n{_versions()}; {processor()}; seed {number}\n")
    _print("| kind | input | well-formed | damaged | refused | violations |\n|---|---|---:|---:|---:|---:|")
    for run in runs:
        for reader in dict.fromkeys(name.removesuffix(DAMAGED) for name in sorted(run.tried)):
            both = (reader, reader + DAMAGED)
            counts = [run.tried[name] for name in both]
            counts += [sum(of[name] for name in both) for of in (run.refused, run.violations)]
            _print(f"| {run.kind} | {reader} | " + " | ".join(map(str, counts)) + " |")
    violations = sum(run.violations.total() for run in runs)
    _print(f"\n{sum(run.tried.total() for run in runs)} inputs, {violations} violations")
    sys.exit(1 if violations else 0)


def _versions() -> str:
    packages = ("golem-dag", "numpy", "pandas", "pyarrow", "networkx", "msgspec", "hypothesis")
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)])


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
