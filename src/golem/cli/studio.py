"""golem studio: learn a graph, say what you know, and learn again, in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from golem.cli import options
from golem.cli.running import user_errors
from golem.cli.terminal import err, out
from golem.runtime.interrupts import keep


def studio(
    data: Annotated[Path | None, typer.Argument(help="The table; without it, open one on the page.")] = None,
    output: Annotated[
        Path, options.output_path(metavar="FOLDER", help="Folder of the session; the same folder continues it.")
    ] = Path("golem-studio"),
    lags: options.Lags = None,
    time: options.TimeColumn = None,
    unit: options.UnitColumn = None,
    environment: options.EnvironmentColumn = None,
    targets: options.TargetsOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on; others than 127.0.0.1 open it to the network.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port; 0 is a free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Learn a graph, say what you know, and learn again, in a browser.

    For example:

        golem studio data.csv

    Drag columns into an order of time, require and forbid edges, and see at once what changes. Everything is kept in
    the folder of the session. Needs `pip install 'golem-dag[studio]'`.
    """
    from golem.data.targets import read_targets
    from golem.studio.edits import AnyEdit, Experiments, Order
    from golem.studio.running import run_studio

    def announce(address: str) -> None:
        out.print(f"golem studio runs at {address}", soft_wrap=True, highlight=False, markup=False)
        out.print(f"The session is kept in {output}. Press Ctrl-C to end.", highlight=False, markup=False)
        keep(f"The session is kept in {output}; the same command continues it.")

    with user_errors():
        if host not in ("127.0.0.1", "localhost"):
            err.print(
                f"Warning: everybody who reaches {host} and knows the link can read the table. The connection is not "
                "encrypted.",
                style="yellow",
            )
        edits: list[AnyEdit] = []
        if lags is not None or time is not None or unit is not None:
            edits.append(Order(options.number_of_lags(lags), time, unit))
        if environment is not None:
            known = {} if targets is None else read_targets(targets)
            edits.append(Experiments(environment, {label: (*columns,) for label, columns in known.items()}))
        run_studio(data, output, host, port, browser, announce, edits)
