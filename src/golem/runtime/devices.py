"""Devices: where arrays live while a solver works on them."""

from __future__ import annotations

import importlib.util
import math
import os
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from golem.runtime.arrays import to_numpy
from golem.runtime.machine import free_memory, require_memory
from golem.runtime.problems import ProblemError, Set, Text
from golem.runtime.types import Array

# Listed here because torch may not be installed.
_DEVICES = re.compile(r"(cpu|cuda|mps|xpu|hpu|npu|xla)(:\d+)?")


def require_device(device: Any) -> None:
    """Raise a ValueError for a name that no device has."""
    if not (isinstance(device, str) and _DEVICES.fullmatch(device)):
        raise ValueError(f"Unknown device {device!r}. Use 'cpu', 'cuda', 'cuda:1' for the second GPU, or 'auto'.")


@dataclass(frozen=True)
class Placement:
    """The device and number type of the arrays of a solver.

    Parameters
    ----------
    device : str
        "cpu" for NumPy arrays, or the name of a torch device, such as "cuda" or "cuda:1".
    dtype : {"float64", "float32"}
        Type of the numbers.
    """

    device: str = "cpu"
    dtype: Literal["float64", "float32"] = "float64"

    def __post_init__(self) -> None:
        require_device(self.device)

    def put(self, array: Any) -> Array:
        """Copy an array to the device; raise a ValueError if torch is not installed or cannot use the device."""
        if self.device == "cpu":
            return np.asarray(to_numpy(array), dtype=self.dtype)
        torch = self._torch()
        try:
            return torch.asarray(array, dtype=getattr(torch, self.dtype), device=torch.device(self.device))
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise ProblemError.of(
                "PyTorch cannot use {device=} here ({reason}). Use {device='cpu'}.", device=self.device, reason=reason
            ) from None

    @property
    def free_memory(self) -> float:
        """Free bytes of the device, as far as they are known."""
        if self.device == "cpu":
            return free_memory()
        if not self.device.startswith("cuda") or not (torch := self._torch()).cuda.is_available():
            return math.inf  # without a GPU, `put` raises the error
        return float(torch.cuda.mem_get_info(torch.device(self.device))[0])

    def require_memory(self, matrices: float, d: int, task: str, stack: int = 1) -> None:
        """Raise a ValueError if `stack` problems of so many (d, d) matrices do not fit into the free memory."""
        need = matrices * d * d * stack * np.dtype(self.dtype).itemsize
        what, remedy = f"{task} of {d} variables", "Solve fewer problems at once" if stack > 1 else "Use fewer columns"
        if self.device == "cpu":
            require_memory(what, need, f"{remedy}.")
        else:
            half = "" if self.dtype == "float32" else ", dtype='float32' (half)"
            fewer = Text(f"{remedy}{half}, or ", Set("device", "cpu"), ".")
            require_memory(what, need, fewer, free=self.free_memory, place=f"on {self.device}")

    def _torch(self) -> Any:
        try:
            return imported_torch()
        except ImportError:
            raise ProblemError.of(
                "{device=} needs PyTorch. Install it with pip install 'golem-dag[gpu]', or use {device='cpu'}.",
                device=self.device,
            ) from None


def gpu_is_there() -> bool:
    """Return whether PyTorch is installed and sees an NVIDIA GPU."""
    if importlib.util.find_spec("torch") is None:
        return False
    return bool(imported_torch().cuda.is_available())


def device_name(device: str) -> str:
    """Return the name of the hardware of a torch device; empty for the CPU."""
    if device == "cpu":
        return ""
    try:
        return str(imported_torch().cuda.get_device_name(device))
    except (ModuleNotFoundError, RuntimeError, ValueError, AssertionError):
        return device  # the method that uses it raises the error


def imported_torch() -> Any:
    """Import PyTorch with cuSOLVER selected; selecting it later prints a warning that this is experimental."""
    os.environ.setdefault("TORCH_LINALG_PREFER_CUSOLVER", "1")
    import torch

    return torch
