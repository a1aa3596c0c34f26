"""The commands, assembled."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from golem.cli import compare, demo, diff, effects, export, fit, report, score, simulate, studio
from golem.cli.options import EVERYDAY
from golem.cli.running import fail, guarded
from golem.cli.terminal import out
from golem.runtime.version import __version__

_DEBUG, _HELP_ALL = "--debug", "--help-all"
_MANY_OPTIONS = 20


def _name_values(command: Any, ctx: Any) -> None:
    """Name the values of options in the help; flags have none."""
    for one in command.get_params(ctx):
        if one.param_type_name == "argument":
            one.display_type_rich = lambda ctx: None
        elif one.metavar is None and getattr(one, "is_flag", False):
            one.metavar = ""
        elif one.metavar is None and getattr(one, "min", None) is not None:
            one.metavar = "NUMBER"


class _Command(TyperCommand):
    """A command whose help is readable: of many options it has those that people need, and with --help-all the rest."""

    shows_all = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options."""
        self.shows_all = _HELP_ALL in args
        return super().parse_args(ctx, ["--help"] if self.shows_all else args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage, with arguments in capitals."""
        for one in self.params:
            if one.param_type_name == "argument":
                one.metavar = str(one.name).upper()
        super().format_usage(ctx, formatter)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _name_values(self, ctx)
        few = [one for one in self.params if one.name in EVERYDAY or one.param_type_name == "argument"]
        rest = (
            [] if self.shows_all or len(self.params) < _MANY_OPTIONS else [one for one in self.params if one not in few]
        )
        shown = [one for one in rest if not getattr(one, "hidden", False)]
        self.epilog = f"{len(shown)} more options: `{ctx.command_path} {_HELP_ALL}`" if shown else None
        for one in shown:
            one.hidden = True  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)
        for one in shown:
            one.hidden = False  # type: ignore[attr-defined]


class _Commands(TyperGroup):
    """The commands, each with the guard; `--debug` can stand anywhere."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Move `--debug` to the front."""
        self.typed = list(args)
        if _DEBUG in args:
            args = [_DEBUG, *(word for word in args if word != _DEBUG)]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _name_values(self, ctx)
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with guarded(self.typed, set(self.commands), debug=_DEBUG in self.typed):
            return super().invoke(ctx)


def _experiment() -> Callable[..., None]:
    """Return the command of the package with the experiments, which the library does not import."""
    try:
        command: Callable[..., None] = importlib.import_module("golem_experiments.command").experiment
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("golem_experiments"):
            raise

        def experiment(name: str = typer.Argument("", help="Name of an experiment.")) -> None:
            """Run an experiment of the paper and check its claims. The experiments are not installed here."""
            fail("The package golem_experiments is not installed. Install golem again with pip install golem-dag.")

        return experiment
    return command


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
    studio.studio,
    demo.demo,
    simulate.simulate,
    score.score,
    compare.compare,
    effects.effects,
    diff.diff,
    report.report,
    export.export,
    _experiment(),
):
    app.command(cls=_Command)(command)


def _version(value: bool) -> None:
    if value:
        out.print(f"golem {__version__}")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option(_DEBUG, help="Show the traceback of an unexpected error instead of a crash report.")
    ] = False,
) -> None:
    """Learn linear directed acyclic graphs from data."""
