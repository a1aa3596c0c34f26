"""golem compare: several methods on one table."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated

import typer

from golem.cli.options import (
    Forbid,
    Json,
    KnowledgeFile,
    Missing,
    MissingValues,
    NotAvailable,
    Quiet,
    Require,
    all_names,
    names,
    read_knowledge_file,
)
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import INTERRUPTED_EXIT_CODE, fail, user_errors
from golem.cli.terminal import out, print_comparison, telling_warnings
from golem.runtime.files import require_writable
from golem.runtime.interrupts import holding_interrupts

EXAMPLE = "golem compare data.csv --truth truth.csv --methods order-ev,notears-l1,pc -o out/"


def compare(
    data: Annotated[
        Path,
        typer.Argument(help="CSV (separator and header are found) or Parquet file of numbers. `-` is standard input."),
    ],
    truth: Annotated[
        Path | None, typer.Option(help="The true graph: graph.json, a CSV, or any format of `golem export`.")
    ] = None,
    methods: Annotated[
        list[str],
        typer.Option(help="Names with commas between them.  [default: all, and those of installed packages]"),
    ] = [],  # noqa: B006
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("golem-comparison"),
    time_limit: Annotated[float, typer.Option(help="Most seconds for each method.", min=0.001)] = 120.0,
    forbid: Forbid = [],  # noqa: B006
    require: Require = [],  # noqa: B006
    knowledge: KnowledgeFile = None,
    missing: Missing = MissingValues.error,
    na: NotAvailable = [],  # noqa: B006
    columns: Annotated[
        str | None, typer.Option(help="Use these columns alone, in this order: a,b,c.  [default: all]")
    ] = None,
    drop: Annotated[list[str], typer.Option(help="Leave out these columns: a,b,c.")] = [],  # noqa: B006
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.  [default: found]")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run several methods on one table, and show what each finds and where they agree.

    Methods: golem-ev, golem-nv (the paper's recipe), order-ev, order-nv, order (its likelihoods with edges counted),
    notears, notears-l1, fgs, pc, direct-lingam, sort-regress-var, sort-regress-r2; and of other packages, where they
    are installed, dagma, gcastle-notears, lingam, causal-learn-ges, causal-learn-pc, flopsearch. A method that exceeds
    its time or fails is reported as such, and the others go on; so is one that cannot obey --forbid, --require or
    --knowledge. Writes `comparison.csv`, `agreement.csv`, `distances.csv`, `comparison.png` and `report.html`, a page
    to explore in a browser, into the output folder. Ctrl-C keeps what is there (exit code 130).
    """
    from golem.comparison.report import report_comparison
    from golem.comparison.run import compare_file, packages_not_installed
    from golem.data.files.standard_input import spooled
    from golem.data.files.table_files import TableFiles
    from golem.data.knowledge import with_edges
    from golem.workflow import title_of

    chosen = [name.strip() for part in methods for name in part.split(",") if name.strip()]
    with user_errors(), contextlib.ExitStack() as stack:
        require_writable(output)
        known = read_knowledge_file(knowledge)
        paths = stack.enter_context(spooled([str(data)]))
        with telling_warnings(quiet):
            table = TableFiles.open(paths, columns=names(columns), drop=all_names(drop), header=header, na=na)
        obeyed = with_edges(known, forbid, require, table.names)
        with ProgressBars(not (quiet or as_json)).comparing(time_limit) as show:
            result = compare_file(
                table,
                chosen or None,
                truth=truth,
                knowledge=obeyed,
                missing=missing.value,
                time_limit=time_limit,
                callback=show,
            )
        with holding_interrupts():
            result.save(output)
            if result.estimates:
                name = Path(title_of([str(data)])).stem
                report_comparison(result, output / "report.html", title=f"Methods compared on {name}")
    if as_json:
        print(json.dumps([vars(row) for row in result.rows]))  # noqa: T201
    elif not quiet:
        print_comparison(result)
        if not chosen and packages_not_installed():
            listed = ", ".join(f"{name} ({command})" for name, command in packages_not_installed().items())
            out.print(f"\nNot installed, and so left out: {listed}", soft_wrap=True)
        out.print(f"\nSaved {output}/comparison.csv, agreement.csv, distances.csv, comparison.png", soft_wrap=True)
        if result.estimates:
            out.print(f"Open the report in a browser: {output / 'report.html'}", soft_wrap=True)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)
    if not result.estimates:
        fail("no method came to an end; the table says why")
