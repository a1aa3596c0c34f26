"""The commands, assembled."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from golem.cli import compare, demo, experiment, export, fit, report, score, simulate
from golem.cli.guard import guarded
from golem.cli.terminal import out
from golem.runtime.version import __version__


class _Commands(TyperGroup):
    """The commands, each with the guard."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with guarded():
            return super().invoke(ctx)


app = typer.Typer(
    name="golem",
    cls=_Commands,
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
