"""Copies of a few numbers from a GPU to the host that do not make the GPU wait."""

from __future__ import annotations

from typing import Any

from golem.runtime.arrays import is_tensor
from golem.runtime.types import Array


class HostCopy:
    """A few numbers on their way from a GPU to the host, while the GPU goes on with what it is given meanwhile.

    To read a number in the usual way waits for all that was asked for before, and leaves the GPU idle until it is
    asked for more: a tenth of a millisecond each time.
    """

    def __init__(self, numbers: Array) -> None:
        self._numbers, self._sent = numbers, None
        if is_tensor(numbers) and numbers.device.type == "cuda":
            import torch

            self._numbers = numbers.to("cpu", non_blocking=True)
            self._sent = torch.cuda.current_stream(numbers.device).record_event()

    def read(self) -> Any:
        """Wait for the numbers, and return them as Python's: a float, or a list of floats."""
        if self._sent is not None:
            self._sent.synchronize()
        return self._numbers.tolist()
