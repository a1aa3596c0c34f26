"""What the child of `test_child_process.py` runs: requests name what is to happen to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from golem.runtime.child_process import StoppedError, serve, tell

HOLDER = "import sys, time; file = open(sys.argv[1], 'w'); file.write('x'); file.flush(); time.sleep(600)"
held: list[Any] = []


def hold(path: str) -> None:
    """Keep a named pipe open, and say so to whoever reads it, for as long as this process lives."""
    held.append(open(path, "w"))  # noqa: SIM115
    held[-1].write("x")
    held[-1].flush()


def answer(request: list[Any], start_clock: Callable[[], None]) -> Any:
    kind, value = request
    if kind == "prepare":
        time.sleep(value)
    start_clock()
    if kind == "exit":
        print("farewell", flush=True)  # noqa: T201
        os._exit(value)
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "raise":
        raise ValueError(value)
    if kind == "fork and die" and os.fork():
        os._exit(3)
    if kind == "hold":
        hold(value)
    if kind == "start another":
        held.append(subprocess.Popen([sys.executable, "-c", HOLDER, value]))
    if kind in ("hang", "hold", "fork and die"):
        time.sleep(600)
    if kind == "work until stopped":
        try:
            while True:
                tell("working")
                time.sleep(0.01)
        except StoppedError:
            return "stopped"
    if kind == "talk":
        print("a library that prints", flush=True)  # noqa: T201
        os.write(1, b"and one that writes\n")
    if kind == "hear signals":
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
    if kind == "return a module":
        return sys
    about = {"pid": os.getpid(), "session": os.getsid(0), "arguments": sys.argv[1:], "environment": dict(os.environ)}
    return about[value] if kind == "about" else value


if __name__ == "__main__":
    os.write(1, b"a library that writes while it is imported,\nwithout ending its line")
    serve(answer)
