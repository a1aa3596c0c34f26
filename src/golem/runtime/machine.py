"""The machine: cores and memory that this process may use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from golem.runtime.problems import ProblemError

# Smaller allocations are left to the operating system.
_SMALL = 1 << 28
# Addresses that Python, the libraries and the threads of two cores take.
_LIBRARIES = 5 << 28
_CONTROL_GROUPS, _OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
# Files of a control group: the limit and the use of memory, and the name of the cache of files in memory.stat.
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")


class NotEnoughMemoryError(ProblemError):
    """An allocation does not fit the free memory; the message has the need, the free memory and a remedy."""


def available_cores() -> int:
    """Return the number of cores that this process may use, which a container or batch job can restrict."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def address_space() -> int | None:
    """Return the bytes of addresses that this process may use (`ulimit -v`), or None if they are not limited."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def lack_of_addresses() -> str | None:
    """Say that `ulimit -v` leaves no room for libraries; None if it does.

    Libraries that do not fit fail in many ways: other errors, and endless attempts.
    """
    limit = address_space()
    if limit is None or (limit >= _LIBRARIES and min(_left_by_limits(), default=limit) >= _SMALL):
        return None
    return (
        f"The limit of memory (ulimit -v) is {limit / 2**30:.1f} GiB, which is too little. The libraries that golem "
        f"loads need about {_LIBRARIES / 2**30:.1f} GiB, and more on machines with many cores. Raise the limit."
    )


def free_memory() -> int:
    """Return the bytes that this process can still allocate; without a report, all memory of the machine or 8 GiB."""
    try:
        report = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free = sum(1024 * int(report[key].split()[0]) for key in ("MemAvailable", "SwapFree"))
    except (OSError, KeyError, ValueError):
        try:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            free = 1 << 33
    return min([free, *_left_by_limits()])


def _left_by_limits() -> Iterator[int]:
    """Yield the bytes left by `ulimit -v`, and by each memory limit of the control groups, as in containers."""
    if (limit := address_space()) is not None:
        with contextlib.suppress(OSError, ValueError):
            used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            yield max(0, limit - used)
    with contextlib.suppress(OSError):
        for line in _OWN_GROUPS.read_text().splitlines():
            number, controllers, own = line.split(":", 2)
            if number == "0":
                yield from _left_by_groups(_CONTROL_GROUPS, own, *_VERSION_2)
            elif "memory" in controllers.split(","):
                yield from _left_by_groups(_CONTROL_GROUPS / "memory", own, *_VERSION_1)


def _left_by_groups(root: Path, own: str, limit: str, used: str, cache: str) -> Iterator[int]:
    """Yield the bytes left by the limits of a control group and of all groups around it."""
    group = root / own.lstrip("/")
    for folder in (group, *group.parents):
        with contextlib.suppress(OSError, KeyError, ValueError):  # no file or "max": no limit
            left = int((folder / limit).read_text()) - int((folder / used).read_text())
            counts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            yield max(0, left + int(counts[cache]))  # the cache of files makes room when needed


def require_memory(what: str, need: float, remedy: str, *, free: float | None = None, place: str = "of memory") -> None:
    """Raise an error, before an allocation, if it does not fit the free memory of this machine or of a device.

    Parameters
    ----------
    what : str
        What needs the memory; the subject of the message.
    need, free : float
        Bytes; `free` is by default the free memory of this machine.
    remedy : str
        What to do, as a sentence.
    place : str
        Which memory, such as "on cuda".
    """
    if need <= _SMALL:
        return
    free = free_memory() if free is None else free
    if need > free:
        free_of = f"{need / 2**30:.1f} GiB {place}, of which {free / 2**30:.1f} GiB are free. "
        raise NotEnoughMemoryError(f"{what} needs about {free_of}", remedy)
