"""Small steps on a GPU: recorded once, and replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Replay:
    """A step on fixed arrays of a GPU, taken many times.

    To start an operation on a GPU takes longer than a small one runs. The first call takes the step as it is; the
    second records its operations as a CUDA graph; from then on one start replays them all. So the step works in place
    on arrays that stay where they are, and never looks at a number on the host: what it was asked to do while it was
    recorded is what it does for ever.

    Parameters
    ----------
    step : callable
        The step. Exceptions that it raises while it is recorded reach the caller.
    """

    def __init__(self, step: Callable[[], None]) -> None:
        self._step, self._calls = step, 0
        self._graph: Any = None

    def __call__(self) -> None:
        """Take the step."""
        self._calls += 1
        if self._calls == 1:
            self._step()  # libraries make their work space ready in a first call, which cannot be recorded
            return
        if self._graph is None:
            self._graph = self._record()
        self._graph.replay()

    def _record(self) -> Any:
        import torch

        cuda: Any = torch.cuda
        graph, stream = cuda.CUDAGraph(), cuda.Stream()
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            graph.capture_begin()
            try:
                self._step()
            finally:
                graph.capture_end()
        cuda.current_stream().wait_stream(stream)
        return graph
