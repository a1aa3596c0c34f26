"""What every command does around its work: errors in one sentence, Ctrl-C, folders, a fit and its files."""

from __future__ import annotations

import contextlib
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from golem.terminal import err, progress, telling_warnings

if TYPE_CHECKING:
    from golem.estimator import Golem
    from golem.moments import Moments
    from golem.selection import Selection

INTERRUPTED_EXIT_CODE = 130


def learn(
    model: Golem, moments: Moments, output: Path, *, quiet: bool, bar: bool, selection: Selection | None = None
) -> None:
    """Fit with a progress bar, and write the files and the picture; `selection` says how settings were chosen."""
    from golem import export
    from golem.plots import plot_model

    require_writable(output)
    compile_kernels(model, moments.d, bar)
    with telling_warnings(quiet), progress(model, bar):
        model.fit(moments)
    if selection is not None:
        model.selection_ = selection
    # A second Ctrl-C waits until the results are safe.
    with holding_interrupts():
        export.save(model, output)
        save_figure(lambda: plot_model(model), output / "graph.png")


def save_figure(draw: Callable[[], Any], path: Path) -> None:
    """Draw axes without a screen and write their figure."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from golem import export

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fonts that lack a letter of a name
        figure = draw().figure
        with export.replacing(path) as temporary:
            figure.savefig(temporary, dpi=150)
        plt.close(figure)


def require_writable(output: Path) -> None:
    """Raise before the work, not after it, where the results cannot be written."""
    existing = output
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir():
        raise ValueError(f"{existing} is a file; name a folder for the results with -o")
    if not os.access(existing, os.W_OK):
        raise ValueError(f"{existing} cannot be written to; name another folder for the results with -o")


def compile_kernels(model: Golem, d: int, talk: bool) -> None:
    """Compile the search before the first fit, and say so; numba cannot be interrupted half-way."""
    from golem.descent import NOISE_MODELS
    from golem.solvers.order import compile_search

    if model.solver != "order":
        return
    spinner = err.status("Loading the search (the first time it is compiled, up to half a minute)")
    with spinner if talk else contextlib.nullcontext(), holding_interrupts():
        compile_search(NOISE_MODELS[model.noise].likelihood(2), d)


@contextlib.contextmanager
def holding_interrupts() -> Iterator[None]:
    """Keep Ctrl-C waiting until the block has ended."""
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt


def exit_if_interrupted(model: Golem) -> None:
    """End with the exit code of an interrupted program where the fit was one."""
    from golem.solvers import Status

    if model.solution_.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Turn what a user can mend into one sentence and exit code 1."""
    try:
        yield
    except (ValueError, OSError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        err.print("Interrupted.")
        raise typer.Exit(INTERRUPTED_EXIT_CODE) from None


def fail(message: str) -> NoReturn:
    """End with one sentence and exit code 1."""
    err.print(f"Error: {message}", style="red", soft_wrap=True)
    raise typer.Exit(1)
