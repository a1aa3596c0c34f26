"""golem experiment: run the experiments of the paper. `golem.cli.application` finds this command by its name."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from golem.cli import options, terminal
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import skip_slow_imports, user_errors
from golem.cli.terminal import out
from golem.runtime.files import require_writable
from golem.runtime.interrupts import holding_interrupts, keep
from golem.runtime.messages import counted

if TYPE_CHECKING:
    from golem_experiments import Experiment, Summary
    from golem_experiments.analysis.outputs import Published
    from golem_experiments.engine.runner import RunProgress

# Seconds per task. In a quick run, slower methods are left out so that it stays quick.
_FULL_LIMIT, _QUICK_LIMIT = 3600.0, 60.0
# Options that have an effect with --plot, which runs nothing.
_WITH_PLOT = ("name", "output", "quick", "plot", "quiet")
# Options that do not belong to the recorded command.
_NOT_RECORDED = ("name", "plot", "list_all", "quiet")
# Seconds between lines about the progress where there is no terminal.
_LOG_EVERY = 60.0
_COMPILING = "compiling (only once, up to half a minute)"

task_option = partial(typer.Option, rich_help_panel="Tasks")
worker_option = partial(typer.Option, rich_help_panel="Workers")


def experiment(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="Name of an experiment (default: list all), or your own module, e.g. mine.doubling."),
    ] = None,
    quick: Annotated[
        bool, task_option("--quick", help="Run a small version: two minutes on two cores, fewer Adam steps.")
    ] = False,
    seeds: Annotated[
        int | None,
        task_option(
            help="Simulations per setting.  [default: 12, as in the paper; sachs 51, theory 25; fewer with --quick]",
            min=1,
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        task_option(metavar="NUMBERS", help="Numbers of variables, e.g. 10,20.  [default: those of the paper]"),
    ] = None,
    methods: Annotated[
        str | None,
        task_option(
            "--methods", metavar="METHODS", help="Methods, e.g. order,notears-l1.  [default: all of the experiment]"
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        task_option(help="Time limit per task, in seconds.  [default: 3600; 60 with --quick]", min=0.01),
    ] = None,
    output: Annotated[
        Path | None,
        options.output_path(
            metavar="FOLDER",
            help="Folder for the results.  [default: golem-experiments/NAME, or NAME-quick]",
        ),
    ] = None,
    batch: Annotated[
        int,
        worker_option(help="Tasks of the paper's recipe to solve together; more is faster.", min=1),
    ] = 1,
    device: Annotated[
        str | None,
        worker_option(
            "--device",
            metavar="DEVICE",
            help="Device for the paper's recipe: cpu or cuda. Use cuda with --batch.  [default: cpu; cuda with "
            "--accelerate]",
        ),
    ] = None,
    accelerate: Annotated[
        bool,
        task_option(
            "--accelerate",
            help="Run golem-ev of `scalability` with accelerated steps on an NVIDIA GPU; its rows name it "
            "golem-ev-accelerated.",
        ),
    ] = False,
    executor: Annotated[
        Literal["local", "dask"], worker_option(help="Run on processes of this machine or on Dask workers.")
    ] = "local",
    scheduler: Annotated[
        str | None,
        worker_option(
            metavar="ADDRESS", help="Dask scheduler, e.g. tcp://10.0.0.1:8786.  [default: a cluster on this machine]"
        ),
    ] = None,
    workers: Annotated[
        int | None, worker_option(help="Processes on this machine.  [default: one per core]", min=1, max=1000)
    ] = None,
    retry: Annotated[
        bool, task_option("--retry", help="Run failed and timed-out tasks of earlier runs again.")
    ] = False,
    plot: Annotated[
        bool, options.output("--plot", help="Only write table, figure and verdict again; run nothing.")
    ] = False,
    list_all: Annotated[bool, options.output("--list", help="List the experiments and their claims.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Run an experiment of the paper and check its claims.

    For example:

        golem experiment
        golem experiment identifiable --quick
        golem experiment identifiable --sizes 10,20 --seeds 3 -o out

    Writes `table.csv`, `figure.png` and `verdict.md` into the output folder. `verdict.md` lists each
    claim, the measured numbers, and whether the claim holds.

    Each finished task is saved at once. After Ctrl-C or a crash, the same command resumes, even in the middle of a long
    run of the paper's recipe or after its time limit. Concurrent runs share the work.
    """
    skip_slow_imports()
    from golem_experiments import EXPERIMENTS, Grid, Options, load, run
    from golem_experiments.analysis.outputs import publish, republish
    from golem_experiments.analysis.tables import restore_store
    from golem_experiments.engine.store import Store

    if name is None or list_all:
        for known in EXPERIMENTS:
            listed = load(known)
            out.print(f"{listed.name}  ({listed.reproduces})", style="bold")
            for claim in listed.claims if list_all else ():
                out.print(f"  - {claim}")
        return
    folder = output or Path("golem-experiments") / (f"{name}-quick" if quick else name)
    chosen = options.names(methods)
    grid = Grid(quick, False, seeds, _whole_numbers(sizes), None if chosen is None else tuple(chosen), accelerate)
    with user_errors():
        one = load(name)
        if plot:
            if useless := options.given_options(context, _WITH_PLOT):
                raise ValueError(f"--plot runs nothing and cannot be combined with {', '.join(useless)}.")
            _print_verdicts(one, republish(one, folder), folder, quiet)
            return
        require_writable(folder)
        restore_store(folder)
        limit = time_limit or (_QUICK_LIMIT if quick else _FULL_LIMIT)
        cluster = _scheduler(executor, scheduler, workers)
        where = _device(device, accelerate, batch)
        how = Options(workers, scheduler=cluster, time_limit=limit, batch=batch, device=where, retry=retry)
        summary: Summary | None = None
        keep(f"Finished tasks are kept in {folder}; the same command continues.")
        with contextlib.suppress(KeyboardInterrupt), _showing_progress(not quiet) as show:
            summary = run(one, grid, folder, how, show)
        if Store(folder).keys():
            with holding_interrupts():
                # A run that found all rows has made none.
                made = summary is None or summary.ran > 0 or not (folder / "command.txt").exists()
                published = publish(
                    one, folder, _command(name, options.given_options(context, _NOT_RECORDED)) if made else ""
                )
            _print_verdicts(one, published, folder, quiet)
    if summary is None:
        raise KeyboardInterrupt
    if not quiet:
        _print_summary(summary)


def _device(device: str | None, accelerate: bool, batch: int) -> str:
    """Return the device that the options describe."""
    if accelerate and (batch > 1 or (device or "cuda").split(":")[0] != "cuda"):
        raise ValueError("--accelerate solves one task at a time on an NVIDIA GPU. Leave out --batch and --device cpu.")
    return device or ("cuda" if accelerate else "cpu")


def _scheduler(executor: str, scheduler: str | None, workers: int | None) -> str | None:
    """Return the Dask scheduler that the options describe; None for processes of this machine."""
    if executor == "local":
        if scheduler is not None:
            raise ValueError("--scheduler needs --executor dask.")
        return None
    if workers is not None and scheduler not in (None, "local"):
        raise ValueError(
            f"--workers {workers} starts workers on this machine, but the scheduler at {scheduler} has its own. Leave "
            "one of the two out."
        )
    return scheduler or "local"


def _whole_numbers(text: str | None) -> tuple[int, ...] | None:
    """Read numbers of variables, separated by commas."""
    try:
        sizes = None if text is None else tuple(int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a list of whole numbers, e.g. 10,20.", param_hint="--sizes"
        ) from None
    if sizes is not None and min(sizes) < 2:
        raise typer.BadParameter(f"A graph needs at least 2 variables; got {min(sizes)}.", param_hint="--sizes")
    return sizes


def _command(name: str, given: dict[str, Any]) -> str:
    """Return the command that makes these rows."""
    parts = ["golem", "experiment", name]
    for option, value in given.items():
        parts += [option] if value is True else [option, f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(parts)


@contextlib.contextmanager
def _showing_progress(wanted: bool) -> Iterator[Callable[[RunProgress], None] | None]:
    """Show a bar with the finished tasks and the time left; without a terminal, one line per minute."""
    with ProgressBars(wanted).steps() as show:

        def update(run: RunProgress) -> None:
            failed = f"  {run.failed} failed" if run.failed else ""
            show(run.ended, run.total, f"{_left(run)}{failed}  {run.latest}" if run.latest else _COMPILING)

        yield update if show is not None else _line_per_minute() if wanted else None


def _line_per_minute() -> Callable[[RunProgress], None]:
    """Return a function that prints the progress: at first, every minute and at the end."""
    printed = time.monotonic()

    def log(run: RunProgress) -> None:
        nonlocal printed
        if not run.latest:
            terminal.err.print(f"{run.ended} of {run.total} tasks, {_COMPILING}")
        elif time.monotonic() - printed > _LOG_EVERY or run.ended == run.total:
            printed = time.monotonic()
            terminal.err.print(f"{run.ended} of {run.total} tasks, {run.failed} failed, {_left(run)}")

    return log


def _left(run: RunProgress) -> str:
    """Return a text with the time left."""
    if run.seconds_left is None:
        return "time left unknown"
    return f"{timedelta(seconds=round(run.seconds_left))} left"


def _print_verdicts(one: Experiment, published: Published, folder: Path, quiet: bool) -> None:
    """Print the verdicts and the names of the files."""
    if quiet:
        return
    short = "" if published.mode == "full" else f" - {published.mode} run, too small to decide the claims"
    out.print(f"{one.name}: {one.reproduces}{short}", style="bold")
    for verdict in published.verdicts:
        style = {True: "green", False: "red", None: "yellow"}[verdict.holds]
        out.print(f"{verdict.word.capitalize()}: {verdict.claim}", style=style)
    out.print(f"\nSaved {folder}/{', '.join(published.files)}; verdict.md has the numbers behind each line.")


def _print_summary(summary: Summary) -> None:
    """Print how many tasks there were and how they ended."""
    unfinished = summary.found_failed + summary.failed
    lines = [
        f"{counted(summary.total, 'task')}: {summary.found} done before, {summary.ran} run now. {unfinished} of these "
        "failed or ran out of time."
    ]
    if summary.resumable:
        lines.append(f"The same command continues {counted(summary.resumable, 'task')} that reached the time limit.")
    if unfinished > summary.resumable:
        lines.append(f"table.csv shows why. Add --retry to run {'it' if unfinished == 1 else 'them'} again.")
    if summary.elsewhere or summary.held:
        lines.append(f"A concurrent run has finished {summary.elsewhere} tasks and is working on {summary.held}.")
    if summary.lost:
        lines.append(f"Batches lost with their workers: {summary.lost}. Run the same command again.")
    for line in lines:
        out.print(line)
