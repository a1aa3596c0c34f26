"""Write docs/cli.md from the declarations of the commands; a test fails if it is out of date. Run with `make docs`."""

from __future__ import annotations

import inspect
import typing
from pathlib import Path
from typing import Any

import typer
from typer.models import ArgumentInfo

from golem.cli import app

TITLE = """# Command line

<!-- Generated from the program by `make docs`; do not edit. -->

To see the options in a terminal, add `--help` to a command. Exit codes: 0 success, 1 an error in the input (reported in
one sentence), 2 an error in the command, 130 interrupted (the results so far are kept). The [glossary](glossary.md)
defines the terms.
"""


def reference() -> str:
    """Return the whole page."""
    parts = [TITLE]
    for command in app.registered_commands:
        function: Any = command.callback
        hints = typing.get_type_hints(function, include_extras=True)
        declared = [p for p in inspect.signature(function).parameters.values() if hints[p.name] is not typer.Context]
        rows = [_row(p, hints[p.name]) for p in declared]
        parts += [f"## golem {command.name or function.__name__}\n", f"{inspect.getdoc(function)}\n"]
        parts += ["| option | meaning |", "|---|---|", *rows, ""]
    return "\n".join(parts)


def _row(parameter: inspect.Parameter, hint: Any) -> str:
    """Return one line of the table."""
    kind, declared = typing.get_args(hint)
    is_argument = isinstance(declared, ArgumentInfo)
    # In Annotated, Typer stores the first declaration of an option as its default.
    declarations = [name for name in (declared.default, *(declared.param_decls or ())) if isinstance(name, str)]
    names = declarations or [f"--{parameter.name.replace('_', '-')}"]
    shown = parameter.name.upper() if is_argument else ", ".join(names)
    meaning, _, stated = declared.help.partition("  [default: ")
    escaped_bar = r"\|"  # a bar ends a cell of the table
    literals = [part for part in (kind, *typing.get_args(kind)) if typing.get_origin(part) is typing.Literal]
    for literal in literals:
        meaning += f" One of {', '.join(typing.get_args(literal))}."
    default = _default(parameter, stated.removesuffix("]"))
    return f"| `{shown}` | {meaning.replace('|', escaped_bar)}{default} |"


def _default(parameter: inspect.Parameter, stated: str) -> str:
    """Return the sentence on the default; a table of two columns fits on a phone."""
    value = parameter.default
    if value is inspect.Parameter.empty:
        return " Required."
    if stated or value is True:
        return f" Default: {stated or 'on'}."
    return "" if value in (None, False, []) else f" Default: `{getattr(value, 'value', value)}`."


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(reference(), encoding="utf-8")
