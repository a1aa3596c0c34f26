"""What every command does around its work: errors in one sentence, Ctrl-C, folders, a fit and its files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from golem.cli.terminal import err, progress, resampling, telling_warnings
from golem.runtime.interrupts import holding_interrupts

if TYPE_CHECKING:
    from golem.assessment.bootstrap import Bootstrap
    from golem.assessment.diagnostics import Diagnosis
    from golem.data.moments import Moments
    from golem.estimator.golem import Golem
    from golem.output.document import Supplement
    from golem.runtime.types import Matrix

INTERRUPTED_EXIT_CODE = 130


def learn(model: Golem, moments: Moments, output: Path, *, quiet: bool, bar: bool) -> None:
    """Fit with a progress bar."""
    require_writable(output)
    compile_kernels(model, moments.d, bar)
    with telling_warnings(quiet), progress(model, bar):
        model.fit(moments)


def write(model: Golem, output: Path, supplement: Supplement, **report_options: Any) -> None:
    """Write the result files, the picture and the page."""
    from golem.output.figures import plot_model
    from golem.output.report import report_model
    from golem.output.result_files import save, save_figure

    # A second Ctrl-C waits until the results are safe.
    with holding_interrupts():
        if getattr(model, "selection_", None) is None:
            for of_another_run in ("path.csv", "path.png"):
                (output / of_another_run).unlink(missing_ok=True)
        save(model, output, supplement)
        report_model(model, output / "report.html", supplement, **report_options)
        save_figure(lambda: plot_model(model), output / "graph.png")


def check(model: Golem, rows: Callable[[], Matrix | None], talk: bool) -> Diagnosis | None:
    """Check what the graph rests on, unless the user has had enough.

    `rows` reads the rows for the checks that need them, where they fit into memory.
    """
    from golem.assessment.diagnostics import diagnose

    if not hasattr(model, "sem_"):
        return None
    try:
        with err.status("Checking what the graph rests on") if talk else contextlib.nullcontext():
            return diagnose(model, rows())
    except KeyboardInterrupt:
        err.print("The checks were interrupted and are left out; the graph is complete.")
        return None


def assess(model: Golem, data: Any, replicates: int, seed: int, *, quiet: bool, bar: bool) -> Bootstrap | None:
    """Bootstrap with a progress bar; None where Ctrl-C left nothing to keep."""
    from golem.assessment.bootstrap import bootstrap

    try:
        with telling_warnings(quiet), resampling(bar) as show:
            return bootstrap(model, data, replicates, random_state=seed, callback=show)
    except KeyboardInterrupt:
        return None


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
    from golem.solvers.order.solver import compile_search
    from golem.solvers.paper_recipe import NOISE_MODELS

    if model.solver != "order":
        return
    spinner = err.status("Loading the search (the first time it is compiled, up to half a minute)")
    with spinner if talk else contextlib.nullcontext(), holding_interrupts():
        compile_search(NOISE_MODELS[model.noise].likelihood(2), d)


def was_interrupted(model: Golem) -> bool:
    """Tell whether Ctrl-C ended the fit."""
    from golem.solvers import Status

    return model.solution_.status is Status.INTERRUPTED


def exit_if_interrupted(model: Golem) -> None:
    """End with the exit code of an interrupted program where the fit was one."""
    if was_interrupted(model):
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
