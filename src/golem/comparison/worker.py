"""The child process of `method_process.py`: receives names of methods and writes their outcomes to files."""

from __future__ import annotations

import pickle
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from golem.comparison.method_process import Outcome
from golem.comparison.registry import Tables, learn, prepare
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.runtime.child_process import serve
from golem.runtime.problems import message_of
from golem.runtime.types import Matrix


def main(folder: Path) -> None:
    """Run methods, one after the other, on the data in a folder."""
    with (folder / "data").open("rb") as file:
        rows, moments, knowledge, tables = pickle.load(file)

    def answer(name: str, start_clock: Callable[[], None]) -> None:
        prepare(name, by_local_scores=tables is not None or not moments.coding.is_numeric)
        start_clock()
        outcome = _outcome(name, rows, moments, knowledge, tables)
        (folder / name).write_bytes(pickle.dumps(outcome))

    serve(answer)


def _outcome(name: str, rows: Matrix | None, moments: Moments, knowledge: Knowledge, tables: Tables | None) -> Outcome:
    """Run a method and return how it ended."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            estimate = learn(name, rows, moments, knowledge, tables)
        except ValueError as error:
            outcome = Outcome("error", message_of(error))
        except Exception as error:  # noqa: BLE001  other packages may raise anything; it becomes a row of the table
            outcome = Outcome("error", f"{type(error).__name__}: {error}")
        else:
            outcome = Outcome("done", "", estimate, time.perf_counter() - began)
    # Deprecations inside libraries do not concern the user.
    shown = tuple(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    return replace(outcome, warnings=shown)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
