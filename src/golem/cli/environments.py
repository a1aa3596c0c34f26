"""Environments in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from golem.cli.terminal import out
from golem.graphs.graph_document import EnvironmentRecord
from golem.runtime.messages import counted, quoted

_MOST_ENVIRONMENTS = 12


def print_environments(environments: Sequence[EnvironmentRecord]) -> None:
    """Print the rows and targets of each environment."""
    out.print(f"{counted(len(environments), 'environment')}:")
    shown = environments[: out.most(_MOST_ENVIRONMENTS)]
    for one in shown:
        targets = f"changes {quoted(one.targets)}" if one.targets else "observational"
        out.print(f"  {one.label!r}: {counted(one.rows, 'row')}, {targets}", soft_wrap=True)
    if len(environments) > len(shown):
        out.print(f"  ... and {len(environments) - len(shown)} more in graph.json")
