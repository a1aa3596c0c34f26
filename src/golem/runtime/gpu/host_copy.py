"""Copies of a few numbers from a GPU to the host without stopping the GPU."""

from __future__ import annotations

from typing import Any

from golem.runtime.arrays import is_tensor
from golem.runtime.types import Array


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
