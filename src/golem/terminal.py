"""What the command line shows: the progress bar while a model is fitted, and the summary afterwards."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

if TYPE_CHECKING:
    from golem.estimator import Golem
    from golem.metrics import GraphScores

# No markup: column names are other people's text, and "[red]" is a name like any other.
out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)


@contextlib.contextmanager
def progress(model: Golem, wanted: bool) -> Iterator[None]:
    """Show a bar with the score, h and the time left while the model is fitted."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    if not wanted or not err.is_terminal:
        yield
        return
    columns = [
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("score {task.fields[score]:.4f}  h {task.fields[h]:.1e}"),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=err, transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(state: Any) -> None:
            if state.stage not in tasks:
                tasks[state.stage] = bar.add_task(state.stage, total=state.max_iter, score=0.0, h=0.0)
            bar.update(
                tasks[state.stage],
                completed=state.iteration,
                total=state.max_iter,
                score=state.score,
                h=state.h,
            )

        model.set_params(callback=show)
        try:
            yield
        finally:
            model.set_params(callback=None)


@contextlib.contextmanager
def reading(total: int, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar of the bytes read; yields what is to be told of them."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    if not wanted or not err.is_terminal:
        yield None
        return
    columns = [
        TextColumn("Reading"),
        BarColumn(bar_width=30),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextlib.contextmanager
def telling_warnings(quiet: bool) -> Iterator[None]:
    """Print warnings as sentences when they come, or nothing."""

    def tell(message: Warning | str, *about: Any) -> None:
        if not quiet:
            err.print(f"Warning: {message}", style="yellow", soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = tell  # type: ignore[assignment]
        yield


def print_summary(model: Golem) -> None:
    """Print the edges, what is undecided, and how the solve went."""
    from rich.table import Table
    from rich.text import Text

    from golem import export

    about = export.summary(model)
    found = export.edges(model)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("edge", "", ""):
        table.add_column(heading, overflow="fold")
    table.add_column("weight", justify="right")
    table.add_column("standardized", justify="right")
    table.add_column("")
    listed = found[:50]
    for edge in listed:
        note = "direction undecided" if edge.undecided else ""
        numbers = (f"{edge.weight:+.3g}", f"{edge.standardized_weight:+.2f}")
        table.add_row(Text(edge.source), "->", Text(edge.target), *numbers, note)
    out.print(f"{about['edges']} edges among {about['d']} variables, from {about['n']} rows")
    if listed:
        out.print(table)
    if len(found) > len(listed):
        out.print(f"... and {len(found) - len(listed)} more in edges.csv")
    out.print()
    if about["undecided"]:
        tie_break = " The arrows shown are a tie-break: equal noise variances would prefer them."
        out.print(
            f"The data cannot decide the direction of {about['undecided']} of {len(found)} edges: graphs with some of "
            f"these reversed fit as well.{tie_break if model.solver == 'order' else ''}",
            soft_wrap=True,
        )
    if about["cut_edges"]:
        out.print(f"{about['cut_edges']} edges were removed because they closed cycles.")
    terms = about["objective"]
    out.print(
        f"Score {shown(terms['score'])} = likelihood {shown(terms['likelihood'])} + sparsity "
        f"{shown(terms['sparsity'])} + dag {shown(terms['dag'])}; h {shown(terms['h'])}; BIC {shown(about['bic'])}",
        soft_wrap=True,
    )
    steps = "perturbations" if model.solver == "order" else "iterations"
    counted = f" {about['iterations']} {steps}," if about["iterations"] else ""
    out.print(f"{about['status']['message']}{counted} {about['seconds']:.1f} s", soft_wrap=True)


def print_consensus(scores: GraphScores, truth: Any, model: Golem) -> None:
    """Print how the demo's graph compares with the reference."""
    found = model.adjacency_
    adjacent = int((found & (truth | truth.T)).sum())
    decided = found & ~model.undecided_
    right, turned = int((truth & decided).sum()), int((truth.T & decided).sum())
    out.print(
        f"\nAgainst the consensus of {int(truth.sum())} edges: {adjacent} of the {scores.edges} edges found join pairs "
        f"that it joins ({right} directed alike, {turned} opposite, {adjacent - right - turned} undecided), "
        f"{scores.edges - adjacent} do not, and {int(truth.sum()) - adjacent} are missing. Taken as drawn: SHD "
        f"{scores.shd:.0f}, SHD-C {scores.shd_c:.0f}, SID {scores.sid:.0f} (the empty graph: SHD {int(truth.sum())}).",
        soft_wrap=True,
    )


def print_saved(output: Path) -> None:
    """Print where the results are."""
    out.print(f"\nSaved {output}/graph.json, edges.csv, weights.csv, graph.png", soft_wrap=True)


def print_json(model: Golem, more: dict[str, Any] | None = None) -> None:
    """Print the summary and the edges as one line of JSON."""
    from golem import export

    found = [vars(edge) for edge in export.edges(model)]
    print(json.dumps(export.summary(model) | {"edge_list": found} | (more or {}), allow_nan=False))  # noqa: T201


def shown(value: float | None) -> str:
    """Write a number, or that there is none."""
    return "undefined" if value is None else f"{value:.5g}"
