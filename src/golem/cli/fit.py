"""golem fit: a table in, a graph out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from golem.cli.options import Json, Quiet, Seed, names, number_or_word
from golem.cli.running import exit_if_interrupted, learn, require_writable, user_errors
from golem.cli.selecting import choose, shards_for
from golem.terminal import err, out, print_json, print_path, print_saved, print_summary, reading, telling_warnings

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


def fit(
    data: Annotated[
        list[str],
        typer.Argument(
            help="CSV (separator and header are found, gzip is read) or Parquet: files, folders or patterns such as "
            "'part-*.parquet', whose rows make one table. They are read once, in bounded memory.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("golem-output"),
    noise: Annotated[
        Noise, typer.Option(help="Noise variances: free (nv), all equal (ev), or what the data speak for.")
    ] = Noise.auto,
    solver: Annotated[
        Solver, typer.Option(help="Count edges over orders (order), or the paper's score (lbfgs, adam).")
    ] = Solver.order,
    lambda_sparsity: Annotated[
        str | None,
        typer.Option(
            help="Price of edges: order takes mbic, ebic, bic or a number; lbfgs and adam the weight of the l1 norm."
            "  [default: mbic; 0.02 (ev), 0.002 (others)]"
        ),
    ] = None,
    lambda_dag: Annotated[
        float | None, typer.Option(help="Penalty on cycles (lbfgs, adam).  [default: 5]", min=0)
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Drop edges with smaller |weight| (lbfgs, adam), or `lr`: edges whose likelihood ratio does not pay."
            "  [default: 0.3; with --select lr]"
        ),
    ] = None,
    select: Annotated[
        Select | None,
        typer.Option(
            help="Choose the price of edges (the l1 penalty of lbfgs and adam) from the data: by an information "
            "criterion (bic), held-out likelihood (cv) or agreement of halves of the rows (stability)."
        ),
    ] = None,
    effort: Annotated[Effort | None, typer.Option(help="How long to search (order).  [default: default]")] = None,
    max_iter: Annotated[
        int | None, typer.Option(help="Most iterations.  [default: 10000 (lbfgs), 100000 (adam)]", min=1)
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Most seconds for a solve.", min=0.001)] = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, or auto: a GPU where it gains (adam; order with ev).")
    ] = "cpu",
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Also polish the paper's score to a stationary point (ev).")
    ] = False,
    columns: Annotated[
        str | None, typer.Option(help="Use these columns alone, in this order: a,b,c.  [default: all]")
    ] = None,
    drop: Annotated[list[str], typer.Option(help="Leave out a column; repeat for more.")] = [],  # noqa: B006
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.  [default: found]")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Read the files on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786, which must see them "
            "under the same paths; `local` starts one worker a core here. Needs golem-dag[distributed].",
        ),
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn a graph from a table, in one file or many.

    `golem fit 'parts/*.parquet' --columns a,b,c` takes three columns of many files, and with
    `--scheduler tcp://10.0.0.1:8786` the workers of a Dask cluster read them.

    `golem fit data.csv --select cv` chooses the price of edges by held-out likelihood, shows the path and adds
    `path.csv` and `path.png`.

    Writes `graph.json`, `edges.csv`, `weights.csv` and `graph.png` into the output folder. Ctrl-C stops the solver
    and keeps the best graph so far, marked as interrupted (exit code 130).
    """
    from golem.estimator import Golem
    from golem.readers import Table, TableFiles, read_table, shards_of
    from golem.selection import GolemCV
    from golem.selection.partition import merged

    bar = not (quiet or as_json)
    with user_errors():
        model = Golem(
            noise.value,
            solver.value,
            lambda_sparsity=number_or_word(lambda_sparsity),
            lambda_dag=lambda_dag,
            threshold=number_or_word(threshold),
            effort=None if effort is None else effort.value,
            max_iter=max_iter,
            time_limit=time_limit,
            device=device,
            random_state=seed,
        )
        if certificate and noise is not Noise.ev:
            raise ValueError("--certificate is for --noise ev: the paper's score with equal noise variances")
        # Whatever can be known to be wrong without the rows is told before they are read.
        model.check_settings()
        search = None if select is None else GolemCV(model, select.value, random_state=seed)
        if search is not None:
            search.check_settings()
        require_writable(output)
        with telling_warnings(quiet):
            table = TableFiles.open(data, columns=names(columns), drop=drop, header=header)
            if table.made_up_names and not quiet:
                err.print(f"No header line found: the columns are named {', '.join(table.names[:2])}, ...")
            with reading(table.size, bar) as show:
                parts = shards_of(table, shards_for(search, table, scheduler), progress=show, scheduler=scheduler)
        with naming_data(data):
            selection = None
            if search is not None:

                def rows() -> Table:
                    return read_table(data, columns=names(columns), drop=drop, header=header)

                selection = choose(search, model, parts, rows, output, quiet=quiet, bar=bar)
                model.set_params(**selection.chosen)
            learn(model, merged(parts), output, quiet=quiet, bar=bar, selection=selection)
        proof = model.certify() if certificate else None
    if as_json:
        numbers = ("score", "stationarity", "start_score")
        print_json(model, {"certificate": {name: getattr(proof, name) for name in numbers}} if proof else None)
    elif not quiet:
        if selection is not None:
            print_path(selection)
        print_summary(model)
        if proof is not None:
            out.print(
                f"Certificate: from here the paper's score (l1 and DAG penalties) descends to {proof.score:.6g}, where "
                f"its optimality conditions hold to {proof.stationarity:.1e}.",
                soft_wrap=True,
            )
        print_saved(output, () if selection is None else ("path.csv", "path.png"))
    exit_if_interrupted(model)


@contextlib.contextmanager
def naming_data(data: list[str]) -> Iterator[None]:
    """Put the files before what is wrong with their rows."""
    try:
        yield
    except ValueError as error:
        more = f" and {len(data) - 1} more" if len(data) > 1 else ""
        raise ValueError(f"{data[0]}{more}: {error}") from None
