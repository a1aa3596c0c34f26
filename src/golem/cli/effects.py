"""golem effects: what drives a variable of a learned graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from golem.cli import options
from golem.cli.running import user_errors
from golem.cli.terminal import out

if TYPE_CHECKING:
    from golem.output.effects import Effect
    from golem.output.saved_model import SavedModel

# A bound that is so small compared with the other is zero.
_NOTHING = 1e-9
_PLAIN = ("known", "range")  # the numbers say so


def effects(
    model: Annotated[Path, typer.Argument(help="The folder of `golem fit`, or its graph.json.")],
    on: Annotated[str, typer.Option("--on", metavar="VARIABLE", help="The variable to explain.")],
    horizon: Annotated[
        int | None,
        typer.Option(help="Steps that effects may take, of a graph with lags.  [default: 4]", min=0),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Rank what drives a variable: the total effects on it.

    For example:

        golem effects golem-output --on income

    An effect along edges with open directions is a range over all graphs that agree with the directions that are known.
    The intervals are those of `golem fit --bootstrap`. In a graph with lags, effects are listed by the steps that they
    take (--horizon); one along edges with open directions is unknown.
    """
    from golem.output.effects import effects_on
    from golem.output.saved_model import load

    with user_errors():
        saved = load(model)
        if saved.document.lags:
            _over_time(saved, on, 4 if horizon is None else horizon, as_json)
            return
        if horizon is not None:
            raise ValueError("--horizon needs a graph with lags (golem fit --lags).")
        found = effects_on(saved, on)
    if as_json:
        print(json.dumps([effect._asdict() for effect in found]))  # noqa: T201
    elif found:
        _print(found, on)
    else:
        out.print(f"Nothing in the graph leads to {on!r}.")


def _over_time(saved: SavedModel, on: str, horizon: int, as_json: bool) -> None:
    """Print the effects on a variable, step by step."""
    from rich.table import Table

    from golem.output.impulse_responses import impulse_responses
    from golem.runtime.messages import suggestion

    responses = impulse_responses(saved, horizon)
    if on not in responses.names:
        raise ValueError(f"There is no variable {on!r}. {suggestion(on, responses.names, 'variables')}")
    found = [one for one in responses.records() if one.target == on]
    if as_json:
        print(json.dumps([one._asdict() | {"effect": _known(one.effect)} for one in found]))  # noqa: T201
        return
    out.print(f"Total effects on {on!r} of a cause that is one unit higher for one step, by steps later")
    table = Table(box=None, pad_edge=False)
    table.add_column("cause")
    for step in range(horizon + 1):
        table.add_column(str(step), justify="right")
    for source in dict.fromkeys(one.source for one in found):
        own = [_known(one.effect) for one in found if one.source == source]
        table.add_row(source, *("?" if one is None else f"{one:+.3g}" if one else "0" for one in own))
    out.print(table)
    if any(_known(one.effect) is None for one in found):
        out.print("?: unknown, because directions are open")


def _known(effect: float) -> float | None:
    """Return an effect; None if it is NaN."""
    return None if effect != effect else effect


def _print(found: list[Effect], target: str) -> None:
    """Print a table of effects."""
    from rich.table import Table

    has_intervals = any(effect.interval_low is not None for effect in found)
    out.print(f"Total effects on {target!r}, by the smallest size that is possible")
    table = Table(box=None, pad_edge=False)
    table.add_column("cause")
    table.add_column("standardized", justify="right")
    table.add_column("per unit", justify="right")
    if has_intervals:
        table.add_column("interval", justify="right")
    table.add_column("")
    for effect in found:
        cells = [effect.source, _span(effect.standardized_low, effect.standardized_high, "+.2f")]
        cells.append(_span(effect.low, effect.high, "+.3g"))
        if has_intervals:
            low, high = effect.interval_low, effect.interval_high
            cells.append("" if low is None or high is None else _span(low, high, "+.3g"))
        table.add_row(*cells, "" if effect.says in _PLAIN else effect.says)
    out.print(table)
    if any(effect.says != "known" for effect in found):
        out.print("A range covers all graphs that agree with the directions that are known.")


def _span(low: float, high: float, form: str) -> str:
    """Return a number, or a range of numbers that differ as they are written."""
    size = _NOTHING * max(abs(low), abs(high))
    ends = tuple(format(0.0 if abs(end) <= size else end, form) for end in (low, high))
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
