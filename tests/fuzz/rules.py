"""The rule that all inputs are held to, and how a violation is reported."""

from __future__ import annotations

import contextlib
import functools
import linecache
import re
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer
from typer import testing
from typer.testing import CliRunner, Result

import golem
from golem.cli import app

# Building all commands from their functions takes longer than most answers.
testing._get_command = functools.cache(testing._get_command)
# Only a hang takes longer than this, even on a busy machine.
MOST_SECONDS = 120
EXIT_CODES = (0, 1, 2, 130)
_OURS = str(Path(golem.__file__).parent)
# Their messages about arrays are good enough, and users of scikit-learn know them.
_TRUSTED = (_OURS, str(Path("sklearn", "utils")), str(Path("sklearn", "base.py")))

# Words of Python that no user should have to read.
_INTERNAL = re.compile(
    r"PosixPath\(|<class |object at 0x|NoneType|dtype\(|BaseEstimator|\bNone of\b|unexpected keyword"
)
# NumPy's own words for this are plain.
_READABLE = "could not convert string to float"


class ViolationError(AssertionError):
    """An input for which the rule does not hold; two with the same `signature` have the same cause."""

    def __init__(self, what: str, place: str = "", details: str = "") -> None:
        super().__init__(f"{what} ({place})" if place else what, *filter(None, [details]))
        self.signature = (what, place)


class RefusedError(Exception):
    """An input was refused in one sentence, as it may be."""


class Hang(BaseException):
    """The time is over; not an `Exception`, so that the code under test cannot catch it."""


@contextlib.contextmanager
def bounded(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Turn a hang into a violation."""

    def stop(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except Hang:
        raise ViolationError(f"no answer within {seconds:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answer(action: Callable[[], Any]) -> Any:
    """Return what a call returns; raise a RefusedError for a sentence, and a ViolationError for any other error."""
    with bounded(), warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        try:
            found = action()
        except (ValueError, TypeError) as error:
            _require_sentence(str(error), _place(error), error if not _is_deliberate(error) else None)
            raise RefusedError(str(error)) from None
        except Exception as error:  # noqa: BLE001  any other kind is a violation
            raise ViolationError(type(error).__name__, _place(error), _last_lines(error)) from None
    for warning in noted:
        if not issubclass(warning.category, UserWarning):
            raise ViolationError(f"{warning.category.__name__}: {warning.message}", Path(warning.filename).name)
    return found


def command(*arguments: object) -> Result:
    """Run `golem` in this process; raise a ViolationError unless it ends with an answer or one sentence."""
    with bounded(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    place = str(arguments[0]) if arguments else ""
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        raise ViolationError(type(error).__name__, _place(error), _last_lines(error))
    if result.exit_code not in EXIT_CODES:
        while isinstance(error, SystemExit | typer.Exit):
            error = error.__context__
        where = f"{place}, {_place(error)}" if error else place
        raise ViolationError(f"exit code {result.exit_code}", where, result.stderr)
    if result.exit_code == 1:
        sentences = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
        if len(sentences) != 1:
            raise ViolationError(f"exit code 1 with {len(sentences)} lines of errors", place, result.stderr)
        cause = _cause(error)
        _require_sentence(sentences[0], place, None if cause is None or _is_deliberate(cause) else cause)
    if "Traceback" in result.output or "\x1b" in result.output:
        raise ViolationError("a traceback or a terminal escape is printed", place, result.output[-500:])
    return result


def _require_sentence(message: str, place: str, obscure: BaseException | None) -> None:
    """Raise a ViolationError unless a message was written for users and has a readable length."""
    if obscure is not None:
        raise ViolationError(f"obscure {type(obscure).__name__}", place, _last_lines(obscure))
    if not message.strip() or len(message) > 2000 or "Traceback" in message:
        raise ViolationError("the message is empty or too long", place, message[:300])
    if _INTERNAL.search(message):
        raise ViolationError("the message has words of Python", place, message[:300])


def _is_deliberate(error: BaseException) -> bool:
    """Tell whether an error comes from a `raise` of golem or scikit-learn, not from an operation that failed."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    is_raised = any(part in last.filename for part in _TRUSTED) and line.startswith("raise")
    return is_raised or str(error).startswith(_READABLE)


def _cause(error: BaseException | None) -> Exception | None:
    """Return the error that a command turned into a sentence; those of the operating system have words of their own.

    An error that only names the file of another one has it as its cause.
    """
    while error is not None and not isinstance(error, ValueError):
        error = error.__context__
    while error is not None and error.__context__ is not None and str(error).endswith(f": {error.__context__}"):
        error = error.__context__
    return error if isinstance(error, Exception) else None


def _place(error: BaseException) -> str:
    """Return the last function of golem on the way to an error."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(_OURS)]
    return f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "outside"


def _last_lines(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-1500:]
