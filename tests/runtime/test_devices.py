"""Devices: what is missing is said, and memory is checked before the work."""

from __future__ import annotations

import numpy as np
import pytest

from golem.runtime.devices import Placement


def test_device_without_torch_or_gpu_says_what_to_do():
    with pytest.raises(ValueError, match="device='cpu'"):
        Placement("cuda:7" if _has_torch() else "cuda").put(np.eye(2))


def test_cpu_keeps_the_array():
    A = np.eye(2)
    assert Placement().put(A) is A


def _has_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def test_memory_is_asked_for_before_the_work(monkeypatch):
    class Cuda:
        is_available = staticmethod(lambda: True)
        mem_get_info = staticmethod(lambda device: (8 * 2**30, 16 * 2**30))

    class Torch:
        cuda = Cuda
        device = staticmethod(lambda name: name)

    monkeypatch.setattr(Placement, "_torch", lambda self: Torch)
    placement = Placement("cuda")
    placement.require_memory(6, 1000, "The order")
    with pytest.raises(
        ValueError, match=r"The order of 20000 variables needs about 17\.9 GiB on cuda, of which 8\.0 GiB"
    ):
        placement.require_memory(6, 20_000, "The order")
    with pytest.raises(
        ValueError, match=r"needs about 44703\.5 GiB of memory, of which .* free\. Use fewer columns\.$"
    ):
        Placement("cpu").require_memory(6, 10**6, "The order")
