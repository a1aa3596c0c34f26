"""Child processes: answers, time limits and crashes, and nothing left behind whoever goes first."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from concurrent import futures
from pathlib import Path

import pytest

from golem.runtime.child_process import ChildProcess, CrashError, TimeLimitError
from golem.runtime.threads import THREAD_VARIABLES, thread_bounds

HERE = Path(__file__).parent
MODULE = "toys.child_worker"


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    """Let children find the toy module."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])))


@pytest.fixture
def child():
    with contextlib.closing(ChildProcess(MODULE)) as child:
        yield child


@pytest.fixture
def pipe(tmp_path):
    """Make a named pipe."""
    os.mkfifo(tmp_path / "pipe")
    return str(tmp_path / "pipe")


@contextlib.contextmanager
def held(pipe):
    """Wait until a process holds a named pipe; afterwards, require that it has let it go, as only its end makes it."""
    file = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with contextlib.closing(os.fdopen(file, "rb", buffering=0)):
        for expected in (b"x", b""):
            assert select.select([file], [], [], 60)[0]
            assert os.read(file, 1) == expected
            if expected:
                yield


def is_there(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def test_one_child_answers_request_after_request(child):
    pid = child.ask(["about", "pid"])
    for value in (1.5, None, [{"a": "ä\n"}], "started", (1, 2), "", "x" * 1_000_000):
        assert child.ask(["echo", value]) == value
    assert child.ask(["about", "pid"]) == pid != os.getpid()


def test_what_a_child_prints_is_no_answer(child):
    assert child.ask(["talk", 1]) == 1
    assert child.ask(["echo", 2]) == 2


def test_a_time_limit_ends_the_child_and_all_that_it_started(child, pipe):
    pid = child.ask(["about", "pid"])
    child.ask(["start another", pipe])
    with held(pipe):
        with pytest.raises(TimeLimitError, match=r"^stopped after 0.3 s$"):
            child.ask(["hang", 0], time_limit=0.3)
        assert not is_there(pid)
    assert child.ask(["about", "pid"]) != pid


def test_preparations_do_not_count_towards_the_time_limit(child):
    assert child.ask(["prepare", 1.5], time_limit=1) == 1.5


@pytest.mark.parametrize(
    ("request_", "ending"),
    [
        (["exit", 7], "its process ended with exit code 7: farewell"),
        (["kill", 0], "its process ended with signal SIGKILL"),
        (["raise", "no such thing"], "its process ended with exit code 1: ValueError: no such thing"),
        (["return a module", 0], "its process ended with exit code 1: TypeError: cannot pickle 'module' object"),
        # The pipe of the answers stays open in the fork, so its end does not show that the process ended.
        (["fork and die", 0], "its process ended with exit code 3"),
    ],
)
def test_a_crash_says_how_and_the_next_request_gets_a_new_child(request_, ending, child):
    pid = child.ask(["about", "pid"])
    with pytest.raises(CrashError, match=f"^{ending}$") as crash:
        child.ask(request_, time_limit=60)
    assert 0 <= crash.value.seconds < 60
    assert child.ask(["about", "pid"]) != pid


def test_a_child_that_ended_between_requests_is_replaced(child):
    pid = child.ask(["about", "pid"])
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert child.ask(["about", "pid"]) != pid


def test_a_module_that_cannot_be_imported_is_a_crash():
    with contextlib.closing(ChildProcess("toys.nothing")) as child, pytest.raises(CrashError, match="No module named"):
        child.ask(1)


def test_a_child_is_stopped_where_it_tells_something_and_serves_on(child):
    heard = []
    first = child.ask(("about", "pid"))

    def tick(seconds):
        if len(heard) > 2:
            child.stop()

    assert child.ask(("work until stopped", None), None, tick, heard.append) == "stopped"
    assert child.ask(("echo", 5)) == 5
    assert child.ask(("about", "pid")) == first


def test_ticks_tell_the_seconds_since_the_clock_started(child):
    ticks = []
    child.ask(["prepare", 0.5], tick=ticks.append)
    assert len(ticks) > 1
    ticks.clear()
    with pytest.raises(TimeLimitError):
        child.ask(["hang", 0], 1, ticks.append)
    assert ticks[0] == 0
    assert ticks == sorted(ticks)
    assert len(set(ticks)) > 2


def test_an_exception_while_waiting_ends_the_child(child):
    pid = child.ask(["about", "pid"])

    def interrupt(seconds):
        if seconds:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        child.ask(["hang", 0], tick=interrupt)
    assert not is_there(pid)
    assert child.ask(["echo", 1]) == 1


def test_neither_ctrl_c_nor_sigterm_ends_a_child(child):
    assert child.ask(["about", "session"]) == child.ask(["about", "pid"])  # the terminal's Ctrl-C does not reach it
    assert child.ask(["hear signals", 1]) == 1


def test_arguments_and_environment_reach_the_child(monkeypatch):
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.setenv("TOY_INHERITED", "here")
    process = ChildProcess(MODULE, "one", "two words", environment=thread_bounds(3) | {"TOY_GIVEN": "too"})
    with contextlib.closing(process) as child:
        assert child.ask(["about", "arguments"]) == ["one", "two words"]
        environment = child.ask(["about", "environment"])
    assert [environment[name] for name in THREAD_VARIABLES] == ["2", "3", "3", "3", "3"]
    assert (environment["TOY_INHERITED"], environment["TOY_GIVEN"]) == ("here", "too")


def test_a_child_that_is_closed_starts_no_more(child, pipe):
    with futures.ThreadPoolExecutor(1) as thread:
        asking = thread.submit(child.ask, ["hold", pipe])
        with held(pipe):
            child.close()
        with pytest.raises(RuntimeError, match="was closed"):
            asking.result()
    with pytest.raises(RuntimeError, match="was closed"):
        child.ask(["echo", 1])


def test_a_child_at_work_ends_when_its_parent_is_killed(pipe):
    code = f"import sys; from golem.runtime.child_process import ChildProcess as C; C({MODULE!r}).ask(sys.argv[1:])"
    parent = subprocess.Popen([sys.executable, "-c", code, "hold", pipe])
    with held(pipe):
        parent.kill()
        parent.wait()
