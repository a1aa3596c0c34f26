"""How commands start and end: imports that can wait, and a sentence with a true exit code for whatever goes wrong."""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import re
import sys
import time
import traceback
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, cast

import typer

from golem.cli import output_problem
from golem.cli.terminal import err
from golem.runtime import interrupts
from golem.runtime.dialects import SHELL
from golem.runtime.files import NO_SPACE
from golem.runtime.interrupts import begin_work
from golem.runtime.machine import lack_of_addresses
from golem.runtime.messages import printable
from golem.runtime.problems import told
from golem.runtime.version import __version__

# Words of scikit-learn for the shape of a table.
_SIZE = re.compile(r" \(n_\w+ = 1\)|n_samples = (\d+)")
_CRASH_EXIT_CODE = 70
_PACKAGES = ("numpy", "scipy", "numba", "pyarrow", "scikit-learn", "rich", "typer")


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Turn an error that the user can fix into a message and exit code 1."""
    begin_work()
    try:
        yield
    except (ValueError, OSError, MemoryError) as error:
        fail(_sentence(error))


def _sentence(error: Exception) -> str:
    """Return the message of an error; of one from the operating system, the file and the cause."""
    if not isinstance(error, OSError) or error.strerror is None or error.filename is None:
        return _SIZE.sub(lambda m: f"{m[1]} rows" if m[1] else "", told(error, SHELL)) or "Not enough memory."
    remedy = " Free some space, or use another disk." if error.errno in NO_SPACE else ""
    return f"{error.strerror}: {str(error.filename)!r}.{remedy}"


def fail(message: str) -> NoReturn:
    """Print an error message and end with exit code 1."""
    err.print(f"Error: {message}", style="red")
    raise typer.Exit(1)


@contextlib.contextmanager
def guarded(typed: Sequence[str], commands: Collection[str], debug: bool) -> Iterator[None]:
    """Run a command; end with one sentence if a signal, standard output or a defect of golem ends it."""
    interrupts.keep(interrupts.NOTHING_KEPT)
    try:
        yield
    except BaseException as error:  # noqa: BLE001  every error ends in a sentence
        if isinstance(error, KeyboardInterrupt) or interrupts.received():
            _end_interrupted()
        _end_failed(error, typed, commands, debug)
    if interrupts.received():
        _end_interrupted()
    _require_output()


def _end_interrupted() -> None:
    err.print(f"Interrupted. {interrupts.kept()}")
    raise typer.Exit(128 + (interrupts.received() or 2)) from None


def _require_output() -> None:
    """End with a sentence if standard output could not be written."""
    problem = output_problem()
    if problem is not None:
        saved = "" if interrupts.kept() == interrupts.NOTHING_KEPT else f" {interrupts.kept()}"
        fail(f"Standard output could not be written: {problem.strerror}.{saved}")


def _end_failed(error: BaseException, typed: Sequence[str], commands: Collection[str], debug: bool) -> None:
    """Raise errors of the command line again; report others."""
    if isinstance(error, typer.Exit) and not error.exit_code:
        _require_output()
    if hasattr(error, "format_message"):  # an option or argument is wrong
        error.message = printable(error.message).removeprefix("Value error, ")  # type: ignore[attr-defined]
    if isinstance(error, typer.Exit | typer.Abort | SystemExit) or hasattr(error, "format_message") or debug:
        raise error
    if isinstance(error, ImportError | MemoryError | SystemError) and (problem := lack_of_addresses()):
        fail(problem)
    place = _save_report(_crash_report(error, typed, commands))
    attach = "" if place is None else f" Please attach {place} to a report of this defect; it contains no data."
    err.print(
        f"Error: golem failed unexpectedly ({type(error).__name__}: {error}). {interrupts.kept()}{attach} The option "
        "--debug shows the traceback.",
        style="red",
    )
    raise typer.Exit(_CRASH_EXIT_CODE) from None


def _crash_report(error: BaseException, typed: Sequence[str], commands: Collection[str]) -> str:
    """Return versions, options and traceback; without values and messages, which could contain data."""
    from importlib.metadata import PackageNotFoundError, version

    lines = [f"golem {__version__}, Python {platform.python_version()}, {platform.platform()}"]
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            lines.append(f"{package} {version(package)}")
    lines += ["", "golem " + " ".join(_shown_option(word, commands) for word in typed), ""]
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    for one in reversed(chain):
        lines += ["".join(traceback.format_tb(one.__traceback__)).rstrip(), type(one).__qualname__, ""]
    return "\n".join(lines)


def _shown_option(word: str, commands: Collection[str]) -> str:
    """Return an option, a command or a number; hide other values, such as names of files and columns."""
    if word.startswith("-") and not word[1:2].isdigit():
        return printable(word.partition("=")[0])
    return word if word in commands or word.replace(".", "", 1).lstrip("-").isdigit() else "..."


def _save_report(text: str) -> Path | None:
    """Write the report into the current folder or the one for temporary files; return its path."""
    import tempfile

    for folder in (Path.cwd, lambda: Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            path = folder() / f"golem-crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
            return path
    return None


class _LazyModule(ModuleType):
    """Stands for a module until one of its names is used. `importlib.util.LazyLoader` loads at the next import."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def load_lazily(*names: str) -> None:
    """Let these modules load when they are first used instead of when they are imported.

    Examples
    --------
    >>> load_lazily("this")
    >>> import sys, this
    >>> type(sys.modules.pop("this")).__name__
    '_LazyModule'
    """
    for name in names:
        if name not in sys.modules:
            package, _, child = name.rpartition(".")
            sys.modules[name] = _LazyModule(name)
            if package:
                setattr(importlib.import_module(package), child, sys.modules[name])


def skip_slow_imports() -> None:
    """Import scikit-learn without what it and array-api-compat import but golem hardly uses.

    `scipy.stats` takes longer to import than scikit-learn itself. pandas is hidden during the import and not lazy,
    because PyArrow looks into it as soon as it is among the modules.
    """
    load_lazily("scipy.stats", "numpy.f2py")
    modules = cast(dict[str, ModuleType | None], sys.modules)
    modules.setdefault("pandas", None)
    import sklearn.base  # noqa: F401

    if modules["pandas"] is None:
        del modules["pandas"]
