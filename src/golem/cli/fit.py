"""golem fit: a table in, a graph out."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    with_edges,
)
from golem.cli.running import (
    INTERRUPTED_EXIT_CODE,
    assess,
    check,
    learn,
    require_writable,
    user_errors,
    was_interrupted,
    write,
)
from golem.cli.selecting import choose
from golem.cli.sources import spooled, title_of, way_back
from golem.cli.terminal import err, out, print_json, print_path, print_saved, print_summary, reading, telling_warnings

if TYPE_CHECKING:
    from golem.data.moments import Moments

# Up to this size of the files their rows are resampled or divided; of larger ones, which need not fit into memory,
# shards of consecutive rows.
ROWS_UP_TO = 2**28
SHARDS = 100
EXAMPLE = "golem fit data.csv -o out/ --noise ev --lambda-sparsity bic"
# More are not read a second time for the checks that need rows.
MOST_NUMBERS = 5_000_000


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
            help="Price of edges: order takes mbic, ebic, bic or a number; lbfgs and adam the weight of the l1 norm."
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
            help="Choose the price of edges (the l1 penalty of lbfgs and adam) from the data: by an information "
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
            "--certificate", help="Also polish the paper's score to a stationary point (ev).", rich_help_panel=TRUST
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
            "read again for it.",
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

    `golem fit data.csv --select cv` chooses the price of edges by held-out likelihood, shows the path and adds
    `path.csv` and `path.png`.

    Writes `graph.json`, `edges.csv`, `weights.csv`, `graph.png` and `report.html`, a page to explore the graph in a
    browser, into the output folder. Ctrl-C stops the solver and keeps the best graph so far, marked as interrupted
    (exit code 130). So it does with the replicates of `--bootstrap`, which adds frequencies and intervals to
    `edges.csv` and all of them, with a consensus graph, to `graph.json`.
    """
    from golem.assessment.selection import GolemCV
    from golem.data.inputs import read_knowledge
    from golem.data.readers import TableFiles, rows_of, shards_of
    from golem.data.resampling import Source, merged, rows_of_moments
    from golem.estimator.golem import Golem
    from golem.output.document import Supplement
    from golem.output.repeat import Run

    if repeat is None and not data:
        raise typer.BadParameter("which table? Name a file, or a run to repeat with --from.", param_hint="DATA")
    with user_errors(), contextlib.ExitStack() as stack:
        run = None
        reading_options: dict[str, Any] = {"columns": names(columns), "drop": all_names(drop), "header": header}
        reading_options["na"] = na
        if repeat is None:
            model = Golem(
                noise.value,
                solver.value,
                lambda_sparsity=number_or_word(lambda_sparsity),
                lambda_dag=lambda_dag,
                threshold=number_or_word(threshold),
                effort=None if effort is None else effort.value,
                max_iter=max_iter,
                time_limit=time_limit,
                missing=missing.value,
                device=device,
                random_state=seed,
            )
        else:
            refuse_other_options(context)
            run = Run.read(repeat)
            model = run.model()
            reading_options = {key: run.data[key] for key in reading_options}
            bootstrap, seed = bootstrap or run.bootstrap["requested"], run.bootstrap["seed"]
            data = data or run.paths()
        if certificate and model.noise != "ev":
            raise ValueError("--certificate is for --noise ev: the paper's score with equal noise variances")
        # Whatever can be known to be wrong without the rows is told before they are read.
        model.check_settings()
        search = None if select is None else GolemCV(model, select.value, random_state=seed)
        if search is not None:
            search.check_settings()
        known = read_knowledge_file(knowledge)
        require_writable(output)
        with telling_warnings(quiet):
            table = TableFiles.open(stack.enter_context(spooled(data or [])), **reading_options)
            if table.made_up_names and not quiet:
                err.print(f"No header line found: the columns are named {', '.join(table.names[:2])}, ...")
            if run is None:
                model.set_params(knowledge=with_edges(known, forbid, require, table.names))
            read_knowledge(model.knowledge, table.names)
            by_rows = table.size <= ROWS_UP_TO and scheduler is None
            with reading(table.size, not (quiet or as_json)) as show:
                divided = bootstrap or select in (Select.cv, Select.stability)
                count = SHARDS if divided and not by_rows else 1
                shards = shards_of(table, count, missing=model.missing, progress=show, scheduler=scheduler)
        bar = not (quiet or as_json)
        with naming_data(data or []):
            moments, title = merged(shards), title_of(data or [])
            selection = None
            if search is not None:
                selection = choose(search, model, shards, lambda: rows_of(table), output, quiet=quiet, bar=bar)
                model.set_params(**selection.chosen)
            learn(model, moments, output, quiet=quiet, bar=bar)
            if selection is not None:
                model.selection_ = selection
            interrupted, confidence, diagnosis = was_interrupted(model), None, None
            supplement = Supplement({"paths": data, "folder": way_back(output)} | reading_options)
            if bootstrap and not interrupted:
                write(model, output, supplement, title=title)  # whatever becomes of the resampling
                source: Source | list[Moments] = rows_of_moments(moments, rows_of(table).values) if by_rows else shards
                try:
                    confidence = assess(model, source, bootstrap, seed, quiet=quiet, bar=bar)
                except ValueError as error:
                    raise ValueError(f"{error}. The graph of all rows is in {output}, without a bootstrap") from None
                interrupted = confidence is None or confidence.interrupted
            if diagnose and not was_interrupted(model):
                in_memory = scheduler is None and moments.n * moments.d <= MOST_NUMBERS
                diagnosis = check(model, lambda: rows_of(table).values if in_memory else None, bar)
            supplement = dataclasses.replace(supplement, bootstrap=confidence, diagnosis=diagnosis)
            write(model, output, supplement, title=title)
        proof = model.certify() if certificate else None
        verdict = None if run is None else run.compare(model)
    if as_json:
        numbers = ("score", "stationarity", "start_score")
        more: dict[str, Any] = {}
        if proof is not None:
            more["certificate"] = {name: getattr(proof, name) for name in numbers}
        if verdict is not None:
            more["repeat"] = vars(verdict)
        print_json(model, supplement, more)
    elif not quiet:
        if selection is not None:
            print_path(selection)
        print_summary(model, supplement)
        if proof is not None:
            out.print(
                f"Certificate: from here the paper's score (l1 and DAG penalties) descends to {proof.score:.6g}, where "
                f"its optimality conditions hold to {proof.stationarity:.1e}.",
                soft_wrap=True,
            )
        if verdict is not None:
            out.print(verdict.sentence, soft_wrap=True)
        print_saved(output, () if selection is None else ("path.csv", "path.png"))
    if interrupted:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)


def refuse_other_options(context: typer.Context) -> None:
    """Raise where --from comes with an option that its record has already decided."""
    if given := given_options(context, _FREE_WHEN_REPEATING):
        raise ValueError(f"--from repeats a run with its own settings, and {', '.join(given)} would change them")


@contextlib.contextmanager
def naming_data(data: list[str]) -> Iterator[None]:
    """Put the files before what is wrong with their rows."""
    try:
        yield
    except ValueError as error:
        more = f" and {len(data) - 1} more" if len(data) > 1 else ""
        raise ValueError(f"{data[0]}{more}: {error}") from None
