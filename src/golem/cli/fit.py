"""golem fit: a table in, a graph out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from golem.cli.options import (
    DATA,
    MODEL,
    TRUST,
    WORK,
    Forbid,
    Json,
    KnowledgeFile,
    Missing,
    MissingValues,
    NotAvailable,
    Quiet,
    Require,
    Seed,
    all_names,
    given_options,
    names,
    number_or_word,
    read_knowledge_file,
)
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import INTERRUPTED_EXIT_CODE, user_errors
from golem.cli.terminal import print_fit, print_fit_json, telling_warnings

EXAMPLE = "golem fit data.csv -o out/ --noise ev --lambda-sparsity bic"


class Noise(StrEnum):
    """Choices of --noise for fit."""

    auto = "auto"
    nv = "nv"
    ev = "ev"


class Solver(StrEnum):
    """Choices of --solver."""

    order = "order"
    lbfgs = "lbfgs"
    adam = "adam"


class Select(StrEnum):
    """Choices of --select."""

    bic = "bic"
    cv = "cv"
    stability = "stability"


class Effort(StrEnum):
    """Choices of --effort."""

    fast = "fast"
    default = "default"
    thorough = "thorough"


# Beside --from these may be given; everything else comes from the record.
_FREE_WHEN_REPEATING = (
    *("data", "repeat", "output", "certificate", "diagnose", "bootstrap", "scheduler", "quiet", "as_json"),
)


def fit(
    context: typer.Context,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="CSV (separator and header are found, gzip is read) or Parquet: files, folders or patterns such as "
            "'part-*.parquet', whose rows make one table. They are read once, in bounded memory. `-` is standard input."
            "  [default: those of --from]",
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("golem-output"),
    noise: Annotated[
        Noise,
        typer.Option(
            help="Noise variances: free (nv), all equal (ev), or what the data speak for.", rich_help_panel=MODEL
        ),
    ] = Noise.auto,
    solver: Annotated[
        Solver,
        typer.Option(
            help="Count edges over orders (order), or the paper's score (lbfgs, adam).", rich_help_panel=MODEL
        ),
    ] = Solver.order,
    lambda_sparsity: Annotated[
        str | None,
        typer.Option(
            help="Penalty per edge: order takes mbic, ebic, bic or a number; lbfgs and adam the weight of the l1 norm."
            "  [default: mbic; 0.02 (ev), 0.002 (others)]",
            rich_help_panel=MODEL,
        ),
    ] = None,
    lambda_dag: Annotated[
        float | None, typer.Option(help="Penalty on cycles (lbfgs, adam).  [default: 5]", min=0, rich_help_panel=MODEL)
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Drop edges with smaller |weight| (lbfgs, adam), or `lr`: edges whose likelihood ratio does not pay."
            "  [default: 0.3; with --select lr]",
            rich_help_panel=MODEL,
        ),
    ] = None,
    select: Annotated[
        Select | None,
        typer.Option(
            help="Choose the penalty per edge (the l1 penalty of lbfgs and adam) from the data: by an information "
            "criterion (bic), held-out likelihood (cv) or agreement of halves of the rows (stability).",
            rich_help_panel=MODEL,
        ),
    ] = None,
    effort: Annotated[
        Effort | None, typer.Option(help="How long to search (order).  [default: default]", rich_help_panel=WORK)
    ] = None,
    max_iter: Annotated[
        int | None,
        typer.Option(help="Most iterations.  [default: 10000 (lbfgs), 100000 (adam)]", min=1, rich_help_panel=WORK),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Most seconds for a solve.", min=0.001, rich_help_panel=WORK)
    ] = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, or auto: a GPU where it gains (adam; order with ev).", rich_help_panel=WORK)
    ] = "cpu",
    certificate: Annotated[
        bool,
        typer.Option(
            "--certificate", help="Also find a stationary point of the paper's score (ev).", rich_help_panel=TRUST
        ),
    ] = False,
    forbid: Forbid = [],  # noqa: B006
    require: Require = [],  # noqa: B006
    knowledge: KnowledgeFile = None,
    missing: Missing = MissingValues.error,
    na: NotAvailable = [],  # noqa: B006
    diagnose: Annotated[
        bool,
        typer.Option(
            "--diagnose/--no-diagnose",
            help="Check what the graph rests on: units, noise, near-copies, single rows. Up to 5 million numbers are "
            "kept for it.",
            rich_help_panel=TRUST,
        ),
    ] = True,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Learn N more graphs from resampled rows (100 is a good number; shards of files above 256 MB), and "
            "tell how often each edge and each direction comes back.",
            min=1,
            rich_help_panel=TRUST,
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Use these columns alone, in this order: a,b,c.  [default: all]", rich_help_panel=DATA),
    ] = None,
    drop: Annotated[list[str], typer.Option(help="Leave out these columns: a,b,c.", rich_help_panel=DATA)] = [],  # noqa: B006
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether the first line has names.  [default: found]", rich_help_panel=DATA
        ),
    ] = None,
    repeat: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Repeat the run of a graph.json with its settings, on its data or on DATA, and compare.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Read the files on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786, which must see them "
            "under the same paths; `local` starts one worker a core here. Needs golem-dag[distributed].",
            rich_help_panel=DATA,
        ),
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn a graph from a table, in one file or many.

    `golem fit 'parts/*.parquet' --columns a,b,c` takes three columns of many files, and with
    `--scheduler tcp://10.0.0.1:8786` the workers of a Dask cluster read them. `--forbid 'A->B' --require 'B->C'` are
    obeyed exactly; a contradiction is told before the rows are read.

    `golem fit --from out/graph.json -o again/` repeats a run with its settings on its files, and says whether the data
    and the graph are the same; files named beside it take the place of its own, which are looked for where the run was
    made, here, and beside the graph.json.

    `golem fit data.csv --select cv` chooses the penalty per edge by held-out likelihood, shows the path and adds
    `path.csv` and `path.png`.

    Writes `graph.json`, `edges.csv`, `weights.csv`, `graph.png` and `report.html`, a page to explore the graph in a
    browser, into the output folder. Ctrl-C stops the solver and keeps the best graph so far, marked as interrupted
    (exit code 130). So it does with the replicates of `--bootstrap`, which adds frequencies and intervals to
    `edges.csv` and all of them, with a consensus graph, to `graph.json`.
    """
    from golem.estimator.golem import Golem
    from golem.workflow import fit_file, repeat_fit

    if repeat is None and not data:
        raise typer.BadParameter("which table? Name a file, or a run to repeat with --from.", param_hint="DATA")
    shared: dict[str, Any] = {
        "bootstrap": bootstrap,
        "diagnose": diagnose,
        "certificate": certificate,
        "scheduler": scheduler,
        "progress": ProgressBars(bars=not (quiet or as_json), notes=not quiet),
    }
    with user_errors(), telling_warnings(quiet):
        if repeat is not None:
            refuse_other_options(context)
            result = repeat_fit(repeat, output, data, **shared)
        else:
            model = Golem(
                noise.value,
                solver.value,
                lambda_sparsity=number_or_word(lambda_sparsity),
                lambda_dag=lambda_dag,
                threshold=number_or_word(threshold),
                effort=None if effort is None else effort.value,
                max_iter=max_iter,
                time_limit=time_limit,
                knowledge=read_knowledge_file(knowledge),
                missing=missing.value,
                device=device,
                random_state=seed,
            )
            result = fit_file(
                data or [],
                output,
                model,
                columns=names(columns),
                drop=all_names(drop),
                header=header,
                na=na,
                forbid=forbid,
                require=require,
                select=None if select is None else select.value,
                random_state=seed,
                **shared,
            )
    if as_json:
        print_fit_json(result)
    elif not quiet:
        print_fit(result)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)


def refuse_other_options(context: typer.Context) -> None:
    """Raise where --from comes with an option that its record has already decided."""
    if given := given_options(context, _FREE_WHEN_REPEATING):
        raise ValueError(f"--from repeats a run with its own settings, and {', '.join(given)} would change them")
