"""The command line: one module per command, assembled here."""

from __future__ import annotations

from typing import Annotated

import typer

from golem.cli import compare, demo, experiment, export, fit, report, score, simulate
from golem.cli.terminal import out
from golem.runtime.version import __version__

app = typer.Typer(
    name="golem",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try `golem demo`, or `golem fit data.csv -o out`.",
)
# In the order of `golem --help`.
for command in (
    fit.fit,
    demo.demo,
    simulate.simulate,
    score.score,
    compare.compare,
    report.report,
    export.export,
    experiment.experiment,
):
    app.command()(command)


def _version(value: bool) -> None:
    if value:
        out.print(f"golem {__version__}")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn linear directed acyclic graphs from data."""


def main() -> None:
    """Run the command line."""
    app(prog_name="golem")
