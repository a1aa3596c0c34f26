"""The machine: cores and memory that this process may use."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Cores this process may use, which in a container or a batch job are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def physical_memory() -> int:
    """Bytes of memory of this machine; where the system does not tell, what most have at least."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 33
