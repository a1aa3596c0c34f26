"""What a row records besides its measurements: the task, how it ended, version, commit and hardware."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from golem.runtime.devices import device_name
from golem.runtime.machine import available_cores
from golem.runtime.messages import counted
from golem.runtime.threads import THREAD_VARIABLES, thread_bounds
from golem.runtime.version import __version__
from golem_experiments.experiment import Row, Task


@functools.cache
def commit() -> str:
    """Return the commit of the source, with a + if files were changed since; empty for an installed package."""
    folder = Path(__file__).parents[2]

    def git(*arguments: str) -> str | None:
        try:
            ended = subprocess.run(
                ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return ended.stdout.strip()

    # A virtual environment may be inside the repository of another project.
    if git("ls-files", "--error-unmatch", __file__) is None:
        return ""
    return f"{git('rev-parse', '--short=12', 'HEAD')}{'+' if git('status', '--porcelain', '--', '.') else ''}"


@functools.cache
def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def about(device: str, threads: int | None = None) -> dict[str, str]:
    """Return version, commit, device and hardware of this process, or of a child with a maximum number of threads."""
    variables = os.environ if threads is None else thread_bounds(threads)
    bound = variables.get(THREAD_VARIABLES[0]) or available_cores()
    hardware = f"{processor()}, {counted(available_cores(), 'core')}, threads: {bound}"
    named = device_name(device)
    return {
        "version": __version__,
        "commit": commit(),
        "device": device,
        "hardware": f"{named}; {hardware}" if named else hardware,
    }


def row_of(task: Task, status: str, reason: str, measured: Row, seconds: float, **more: Any) -> dict[str, Any]:
    """Return a row of the store, without its key."""
    ending = {"status": status, "reason": reason, "measured": measured, "seconds": seconds}
    return task.as_dict() | ending | more
