"""CUDA graphs, which replay a step of small GPU operations, and copies of numbers that do not stop the GPU."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from golem.runtime.arrays import is_tensor
from golem.runtime.types import Array

# CUDA records for one thread at a time; each thread records in its own stream.
_recording = threading.Lock()
_streams = threading.local()


def can_replay(array: Array) -> bool:
    """Return whether steps on an array can be recorded, which needs an NVIDIA GPU."""
    return is_tensor(array) and array.device.type == "cuda"


class ReplayedStep:
    """A step on fixed arrays of a GPU that is repeated many times.

    Starting a small operation on a GPU takes longer than running it. The first call runs the step; the second records
    its operations as a CUDA graph; later calls replay them all with one start. So the step must work in place on the
    same arrays and must not depend on numbers on the host: every replay repeats the recorded operations.

    Parameters
    ----------
    step : callable
        The step. Exceptions during the recording reach the caller.
    device : torch.device
        The device of the arrays.
    """

    def __init__(self, step: Callable[[], None], device: Any) -> None:
        self._step, self._device, self._calls = step, device, 0
        self._graph: Any = None

    def __call__(self) -> None:
        """Run the step."""
        import torch

        self._calls += 1
        with torch.cuda.device(self._device):
            if self._calls == 1:
                self._step()  # allocates workspaces of libraries, which cannot be recorded
                return
            if self._graph is None:
                with _recording:
                    self._graph = self._record(torch.cuda)
            self._graph.replay()

    def _record(self, cuda: Any) -> Any:
        """Record the step without running it."""
        graph, stream = cuda.CUDAGraph(), self._stream(cuda)
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                self._step()
            except BaseException:
                with contextlib.suppress(RuntimeError):  # the recording is invalid anyway
                    graph.capture_end()
                raise
            graph.capture_end()
        cuda.current_stream().wait_stream(stream)
        return graph

    def _stream(self, cuda: Any) -> Any:
        """Return the stream in which this thread records; reused, because libraries keep a workspace per stream."""
        known = _streams.__dict__.setdefault("of", {})
        if self._device not in known:
            known[self._device] = cuda.Stream(device=self._device)
        return known[self._device]


class HostCopy:
    """A few numbers that are copied from a GPU to the host while the GPU continues to work.

    The usual way to read a number waits for all earlier operations and leaves the GPU idle until the next one: 0.1 ms
    each time.
    """

    def __init__(self, numbers: Array) -> None:
        self._numbers, self._sent = numbers, None
        if is_tensor(numbers) and numbers.device.type == "cuda":
            import torch

            self._numbers = numbers.to("cpu", non_blocking=True)
            self._sent = torch.cuda.current_stream(numbers.device).record_event()

    def read(self) -> Any:
        """Wait for the numbers and return them as a float or a list of floats."""
        if self._sent is not None:
            self._sent.synchronize()
        return self._numbers.tolist()
