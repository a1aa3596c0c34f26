"""Methods of a comparison in this process: the imports of a child take longer than most methods."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from golem.comparison.method_process import Outcome
from golem.comparison.worker import _outcome


class _Here(contextlib.nullcontext["_Here"]):
    """Stands for `MethodProcess`, without its time limit."""

    def __init__(self, *data: Any) -> None:
        super().__init__(self)
        self.data = data

    def run(self, name: str, time_limit: float | None, tick: Callable[[float], None] | None = None) -> Outcome:
        if tick is not None:
            tick(0.0)
        return _outcome(name, *self.data)


@contextlib.contextmanager
def methods_here() -> Iterator[None]:
    """Run the methods of comparisons in this process."""
    with mock.patch("golem.comparison.run.MethodProcess", _Here):
        yield
