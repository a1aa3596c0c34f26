"""Small steps on a GPU: recorded once, and replayed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from golem.runtime.arrays import is_tensor
from golem.runtime.types import Array

# CUDA records for one thread at a time; each thread has a stream of its own to record in.
_recording = threading.Lock()
_streams = threading.local()


def can_replay(array: Array) -> bool:
    """Tell whether steps on an array can be recorded: on NVIDIA's GPUs."""
    return is_tensor(array) and array.device.type == "cuda"


class ReplayedStep:
    """A step on fixed arrays of a GPU, taken many times.

    To start an operation on a GPU takes longer than a small one runs. The first call takes the step as it is; the
    second records its operations as a CUDA graph; from then on one start replays them all. So the step works in place
    on arrays that stay where they are, and never looks at a number on the host: what it was asked to do while it was
    recorded is what it does for ever.

    Parameters
    ----------
    step : callable
        The step. Exceptions that it raises while it is recorded reach the caller.
    device : torch.device
        Where the arrays are.
    """

    def __init__(self, step: Callable[[], None], device: Any) -> None:
        self._step, self._device, self._calls = step, device, 0
        self._graph: Any = None

    def __call__(self) -> None:
        """Take the step."""
        import torch

        self._calls += 1
        with torch.cuda.device(self._device):
            if self._calls == 1:
                self._step()  # libraries make their work space ready in a first call, which cannot be recorded
                return
            if self._graph is None:
                with _recording:
                    self._graph = self._record(torch.cuda)
            self._graph.replay()

    def _record(self, cuda: Any) -> Any:
        """Record the step, without taking it."""
        graph, stream = cuda.CUDAGraph(), self._stream(cuda)
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                self._step()
            except BaseException:
                with contextlib.suppress(RuntimeError):  # of a recording that is void anyway
                    graph.capture_end()
                raise
            graph.capture_end()
        cuda.current_stream().wait_stream(stream)
        return graph

    def _stream(self, cuda: Any) -> Any:
        """Return this thread's stream for recordings: libraries keep a work space for every stream they have seen."""
        known = _streams.__dict__.setdefault("of", {})
        if self._device not in known:
            known[self._device] = cuda.Stream(device=self._device)
        return known[self._device]
