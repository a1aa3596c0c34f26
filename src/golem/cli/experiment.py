"""golem experiment: the experiments of the paper, one command each."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from golem.cli.options import Quiet, given_options, names
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import INTERRUPTED_EXIT_CODE, user_errors
from golem.cli.terminal import err, out
from golem.runtime.files import require_writable
from golem.runtime.interrupts import holding_interrupts, terminating_softly

if TYPE_CHECKING:
    from golem.experiments import Experiment, Options, Summary
    from golem.experiments.analysis.outputs import Published

EXAMPLE = "golem experiment identifiable --sizes 10,20 --seeds 3 -o out/"
# Seconds for a task; of a quick run a method that takes longer is left out, so that it stays quick.
_FULL_LIMIT, _QUICK_LIMIT = 3600.0, 60.0
# With --plot nothing runs, and no other option has an effect.
_FREE_WHEN_PLOTTING = ("name", "output", "quick", "plot", "quiet")


class ExecutorName(StrEnum):
    """Choices of --executor."""

    local = "local"
    dask = "dask"


def experiment(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="Which one; without a name they are listed. A dotted name is a module of your own."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for the rows and the results.  [default: golem-experiments/NAME[-quick]]"
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version: two minutes on two cores, fewer steps of Adam.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Simulations of each cell.  [default: 12, as in the paper; sachs 51, theory 25; --quick fewer]", min=1
        ),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Numbers of variables, where they can be chosen: 10,20.  [default: the paper's]")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Names with commas between them.  [default: all of the experiment's]")
    ] = None,
    plot: Annotated[
        bool,
        typer.Option(
            "--plot", help="Only remake table, figure and verdict, from the rows or the table.csv of earlier runs."
        ),
    ] = False,
    executor: Annotated[
        ExecutorName, typer.Option(help="Processes of this machine, or Dask workers.")
    ] = ExecutorName.local,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A running Dask scheduler, such as tcp://10.0.0.1:8786.  [default: a cluster on this machine]",
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes here.  [default: one a core]", min=1)] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Most seconds for a task, which is then stopped.  [default: 3600; 60 with --quick]", min=0.01
        ),
    ] = None,
    batch: Annotated[
        int,
        typer.Option(
            help="Solve up to so many tasks of one shape together (the paper's recipe), which is faster.", min=1
        ),
    ] = 1,
    device: Annotated[
        str, typer.Option(help="Where the paper's recipe is solved: cpu, cuda; best with --batch.")
    ] = "cpu",
    retry: Annotated[
        bool, typer.Option("--retry", help="Run tasks again that failed or ran out of time before.")
    ] = False,
    list_all: Annotated[bool, typer.Option("--list", help="List the experiments and what they test.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment of the paper: its figure remade, with our solver beside the paper's methods.

    A result is a row in the output folder as soon as it is there. Stopped by Ctrl-C or killed, the same command goes on
    where it was; typed twice at a time, the two share the work. Writes `table.csv`, `figure.png`, `figure.svg` and
    `verdict.md`: each claim, what was measured, and whether it holds. `--plot` remakes them without running anything.
    """
    from golem.experiments import EXPERIMENTS, Grid, load, run
    from golem.experiments.analysis.outputs import publish, republish
    from golem.experiments.engine.store import Store

    if name is None or list_all:
        for known in EXPERIMENTS:
            _describe(load(known))
        return
    folder = output or Path("golem-experiments") / (f"{name}-quick" if quick else name)
    chosen = names(methods)
    grid = Grid(quick, False, seeds, _whole_numbers(sizes), None if chosen is None else tuple(chosen))
    with user_errors(), terminating_softly():
        one = load(name)
        if plot:
            if useless := given_options(context, _FREE_WHEN_PLOTTING):
                verb = "is" if len(useless) == 1 else "are"
                raise ValueError(f"{', '.join(useless)} {verb} for a run, and --plot runs nothing; leave out either")
            _tell(one, republish(one, folder), folder, quiet)
            return
        require_writable(folder)
        limit = time_limit or (_QUICK_LIMIT if quick else _FULL_LIMIT)
        options = _options(executor, scheduler, workers, limit, batch, device, retry)
        given = {
            "--seeds": seeds,
            "--sizes": sizes,
            "--methods": methods,
            "--time-limit": time_limit,
            "-o": output,
            "--batch": None if batch == 1 else batch,
            "--device": None if device == "cpu" else device,
            "--executor": None if executor is ExecutorName.local else executor.value,
            "--scheduler": scheduler,
            "--workers": workers,
            "--retry": retry or None,
        }
        summary: Summary | None = None
        try:
            with ProgressBars(not quiet).experimenting() as show:
                summary = run(one, grid, folder, options, show)
        except KeyboardInterrupt:
            err.print("Interrupted. What is there is kept; the same command goes on from here.")
        if Store(folder).keys():
            with holding_interrupts():
                # A command that found all rows there has made none.
                made = summary is None or summary.ran > 0 or not (folder / "command.txt").exists()
                published = publish(one, folder, _command(name, quick, given) if made else "")
            _tell(one, published, folder, quiet)
    if summary is None:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)
    if not quiet:
        _tell_summary(summary)


def _options(
    executor: ExecutorName,
    scheduler: str | None,
    workers: int | None,
    time_limit: float,
    batch: int,
    device: str,
    retry: bool,
) -> Options:
    from golem.experiments import Options
    from golem.experiments.engine.executors import Dask, Local

    if executor is ExecutorName.dask:
        if workers is not None and scheduler not in (None, "local"):
            raise ValueError(
                f"--workers {workers} is for a cluster on this machine; the scheduler at {scheduler} has workers of "
                "its own, so leave out either"
            )
        return Options(Dask(scheduler, workers), time_limit, batch, device, retry)
    if scheduler is not None:
        raise ValueError("--scheduler is for --executor dask")
    return Options(Local(workers), time_limit, batch, device, retry)


def _whole_numbers(text: str | None) -> tuple[int, ...] | None:
    """Read numbers with commas between them."""
    try:
        sizes = None if text is None else tuple(int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no list of whole numbers such as 10,20") from None
    if sizes is not None and min(sizes) < 2:
        raise typer.BadParameter(f"a graph needs at least two variables; got {min(sizes)}")
    return sizes


def _command(name: str, quick: bool, given: Mapping[str, object]) -> str:
    """Write the command that makes these rows."""
    parts = ["golem", "experiment", name, *(["--quick"] if quick else [])]
    for option, value in given.items():
        if value is True:
            parts.append(option)
        elif value is not None:
            parts += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(parts)


def _describe(one: Experiment) -> None:
    out.print(f"{one.name}  ({one.reproduces})", style="bold", soft_wrap=True)
    for claim in one.claims:
        out.print(f"  - {claim}", soft_wrap=True)


def _tell(one: Experiment, published: Published, folder: Path, quiet: bool) -> None:
    """Print the verdicts and where the files are."""
    if quiet:
        return
    short = "" if published.mode == "full" else f" - {published.mode} run, which shows how it looks and decides nothing"
    out.print(f"{one.name}: {one.reproduces}{short}", style="bold", soft_wrap=True)
    for verdict in published.verdicts:
        style = {True: "green", False: "red", None: "yellow"}[verdict.holds]
        out.print(f"{verdict.word.capitalize()}: {verdict.claim}", style=style, soft_wrap=True)
        out.print(f"  {verdict.measured}", soft_wrap=True)
    out.print(f"\nSaved {folder}/{', '.join(published.files)}", soft_wrap=True)


def _tell_summary(summary: Summary) -> None:
    """Print how many tasks there were, and what became of them."""
    before = f" ({summary.found_failed} of them failed or ran out of time)" if summary.found_failed else ""
    out.print(
        f"{summary.total} tasks: {summary.found} were there{before}, {summary.ran} ran, {summary.failed} of them "
        "failed or ran out of time.",
        soft_wrap=True,
    )
    unfinished = summary.found_failed + summary.failed
    if unfinished:
        out.print(f"table.csv says why; the same command with --retry runs these {unfinished} again.", soft_wrap=True)
    if summary.elsewhere or summary.held:
        out.print(
            f"Another runner ran {summary.elsewhere} in the meantime and is at work on {summary.held}.", soft_wrap=True
        )
    if summary.lost:
        out.print(f"{summary.lost} batches were lost with their workers; the same command runs them.", soft_wrap=True)
