"""A task, the unit of work: one method on one data set; and the grid, which chooses the tasks to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from golem.runtime.messages import suggestion

Value = str | int | float | bool | None
Row = dict[str, Value]
PAPER_SEEDS = 12


@dataclass(frozen=True)
class Grid:
    """The part of an experiment to run; None leaves the choice to the experiment.

    Parameters
    ----------
    quick : bool
        A small version that takes about two minutes on two cores.
    tiny : bool
        A smaller version that only shows that the experiment runs; takes precedence over `quick`.
    seeds : int, optional
        Number of simulations per cell.
    sizes : tuple of int, optional
        Numbers of variables.
    methods : tuple of str, optional
        Names of methods.

    Examples
    --------
    >>> from golem_experiments import Grid, load
    >>> len(load("sachs").tasks(Grid(seeds=1, methods=("order",))))
    5
    """

    quick: bool = False
    tiny: bool = False
    seeds: int | None = None
    sizes: tuple[int, ...] | None = None
    methods: tuple[str, ...] | None = None

    @property
    def mode(self) -> str:
        """Name of the version: "full", "quick" or "tiny"."""
        return "tiny" if self.tiny else "quick" if self.quick else "full"

    def pick(self, full: Any, quick: Any, tiny: Any) -> Any:
        """Return the value for the version."""
        return {"full": full, "quick": quick, "tiny": tiny}[self.mode]

    def choose_seeds(self, full: int = PAPER_SEEDS, quick: int = 3, tiny: int = 1) -> range:
        """Return the seeds 0, 1, ... of the simulations."""
        return range(self.pick(full, quick, tiny) if self.seeds is None else self.seeds)

    def choose_sizes(self, full: Sequence[int], quick: Sequence[int], tiny: Sequence[int]) -> tuple[int, ...]:
        """Return the requested numbers of variables, or those of the version."""
        return tuple(self.pick(full, quick, tiny) if self.sizes is None else self.sizes)

    def choose_methods(self, offered: Sequence[str]) -> tuple[str, ...]:
        """Return the requested methods, in the order of `offered`; all if none are requested.

        Raises
        ------
        ValueError
            If a requested method is not offered.
        """
        if self.methods is None:
            return tuple(offered)
        for name in self.methods:
            if name not in offered:
                hint = suggestion(name, offered, "methods", len(offered))
                raise ValueError(f"This experiment has no method {name!r}. {hint}")
        return tuple(name for name in offered if name in self.methods)


@dataclass(frozen=True)
class Task:
    """One method on one data set.

    Parameters
    ----------
    experiment : str
        Name of the experiment, by which a worker loads it.
    cell : mapping
        What determines the data and their analysis: graph, noise, d, n, steps, threshold, ...
    seed : int
        Seed of the simulation; methods with the same cell and seed get the same data.
    method : str
        Name of the method.

    Examples
    --------
    >>> Task("identifiable", {"graph": "ER1", "d": 10}, seed=0, method="order-ev").as_dict()
    {'experiment': 'identifiable', 'cell': {'graph': 'ER1', 'd': 10}, 'seed': 0, 'method': 'order-ev'}
    """

    experiment: str
    cell: Mapping[str, Value] = field(hash=False)
    seed: int
    method: str

    def as_dict(self) -> dict[str, Any]:
        """Return the task as JSON values."""
        return {"experiment": self.experiment, "cell": dict(self.cell), "seed": self.seed, "method": self.method}
