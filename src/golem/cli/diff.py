"""golem diff: what changed between two fits, or which links differ between two groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from golem.cli import options
from golem.cli.running import user_errors
from golem.cli.terminal import out, showing_warnings


def diff(
    first: Annotated[Path, typer.Argument(help="The folder of `golem fit`, or its graph.json; with --by, a table.")],
    second: Annotated[Path | None, typer.Argument(help="The other folder or graph.json.")] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Column with two values: compare the two groups of rows."),
    ] = None,
    permutations: Annotated[int, typer.Option(help="Number of random exchanges of rows (--by).", min=19)] = 299,
    seed: Annotated[int, typer.Option(help="Random seed (--by).", min=0)] = 0,
    as_json: options.Json = False,
) -> None:
    """List what changed between two fits, or test which links differ between two groups.

    For example:

        golem diff before after
        golem diff data.csv --by sex

    Graphs of two halves of one table differ as well. So `--by` tests each link: it exchanges rows between the groups.
    """
    from golem.comparison.graph_difference import difference, groups_of

    with user_errors(), showing_warnings(quiet=as_json):
        if (second is None) == (by is None):
            raise ValueError("Give two results of `golem fit`, or one table and --by.")
        labels: tuple[str, ...] = ()
        given: tuple[object, object] = first, second
        if by is not None:
            labels, given = groups_of(first, by)
        found = difference(*given, permutations=permutations, random_state=seed)
    if as_json:
        print(json.dumps([link._asdict() for link in found.links]))  # noqa: T201
        return
    if labels:
        out.print(f"First: {by} = {labels[0]}; second: {by} = {labels[1]}")
    out.print(str(found), soft_wrap=True)
