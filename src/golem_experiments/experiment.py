"""What an experiment is: tasks, a function that measures one task, and functions of the table of all measurements.

A task, the unit of work, is one method on one data set. A grid chooses the tasks to run.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from golem.runtime.messages import suggestion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Value = str | int | float | bool | None
Row = dict[str, Value]
Table = list[Row]
PAPER_SEEDS = 12
# In the order of the paper, followed by those beyond it.
EXPERIMENTS = (
    "constraints",
    "initialization",
    "identifiable",
    "nonidentifiable",
    "scalability",
    "weight-scale",
    "sachs",
    "bivariate",
    "theory",
    "standardized",
    "penalties",
    "networks",
    "discrete",
    "robustness",
    "interventions",
    "series",
)


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
    accelerate : bool
        Run the paper's recipe with accelerated steps, as a method whose name ends in "-accelerated".

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
    accelerate: bool = False

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


@dataclass(frozen=True)
class Verdict:
    """A claim, what was measured, and whether the claim holds (None: undecided).

    `why` is the reason in a sentence, and `details` are the parts of `measured` and what was run, one line each. `mode`
    is the version of the experiment that was run. Verdicts of quick and tiny runs are marked.

    Examples
    --------
    >>> Verdict("all is well", "3 of 3", True, "quick").word
    'holds (quick run)'
    """

    claim: str
    measured: str
    holds: bool | None
    mode: str = "full"
    why: str = ""
    details: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """The verdict in words."""
        word = {True: "holds", False: "does not hold", None: "undecided"}[self.holds]
        return word if self.mode == "full" else f"{word} ({self.mode} run)"


@dataclass(frozen=True)
class Experiment:
    """An experiment; its module assigns it to the name EXPERIMENT.

    Parameters
    ----------
    name : str
        Name on the command line.
    reproduces : str
        The figure or statement of the paper, and its section.
    claims : tuple of str
        The claims, in sentences.
    tasks : callable
        Takes a `Grid` and returns the tasks.
    run : callable
        Takes a task and returns its measurements. It must be a pure function of the task, except for columns whose
        name ends in "seconds". An exception becomes a row with the reason.
    figure : callable
        Takes the table and returns a matplotlib figure.
    verdicts : callable
        Takes the table and returns one verdict per claim.
    prepare : callable, optional
        Takes a task; does the imports and compilation that are neither timed nor counted against the time limit.
    shape : callable, optional
        Takes a task and returns what the tasks of one batch must have in common; None if the task cannot be batched.
    run_batch : callable, optional
        Takes tasks of one shape and the name of a device, and returns their measurements.
    has_sizes : bool
        Whether the numbers of variables can be chosen; False if the data fix them.
    all_methods : callable, optional
        Takes the table and returns a second figure, with all methods, if the first has only those of the paper.
    resumes : callable, optional
        Takes a task and returns whether it keeps checkpoints. If it reaches the time limit, the next run continues it.
    settings : callable, optional
        Takes a task and returns the settings of its method that determine the numbers, as JSON values. Rows of other
        settings are not used again.

    Examples
    --------
    >>> from golem_experiments import Grid, load
    >>> sachs = load("sachs")
    >>> sachs.reproduces
    'Section 5.6'
    >>> [len(sachs.key(task)) for task in sachs.tasks(Grid(seeds=1, methods=("order",)))]
    [16, 16, 16, 16, 16]
    """

    name: str
    reproduces: str
    claims: tuple[str, ...]
    tasks: Callable[[Grid], list[Task]]
    run: Callable[[Task], Row]
    figure: Callable[[Table], Figure]
    verdicts: Callable[[Table], list[Verdict]]
    prepare: Callable[[Task], None] | None = None
    shape: Callable[[Task], Hashable] | None = None
    run_batch: Callable[[list[Task], str], list[Row]] | None = None
    has_sizes: bool = True
    all_methods: Callable[[Table], Figure] | None = None
    resumes: Callable[[Task], bool] | None = None
    settings: Callable[[Task], dict[str, Any]] | None = None

    def key(self, task: Task) -> str:
        """Return 16 hexadecimal digits of the SHA-256 of all that determines the numbers of a task."""
        resolved = task.as_dict() | {"settings": {} if self.settings is None else self.settings(task)}
        text = json.dumps(resolved, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def load(name: str) -> Experiment:
    """Return an experiment by its name, or one of your own by the dotted name of its module.

    Raises
    ------
    ValueError
        If there is no experiment of that name.

    Examples
    --------
    >>> load("identifiable").reproduces
    'Figures 1 and 6, section 5.2'
    """
    if name in EXPERIMENTS:
        module = importlib.import_module(f"golem_experiments.{name.replace('-', '_')}")
    elif "." in name:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise ValueError(f"There is no experiment {name!r}: {error}.") from None
    else:
        hint = suggestion(name, EXPERIMENTS, "experiments", len(EXPERIMENTS))
        raise ValueError(f"There is no experiment {name!r}. {hint}")
    experiment = getattr(module, "EXPERIMENT", None)
    if not isinstance(experiment, Experiment):
        raise ValueError(f"The module {name!r} does not assign an Experiment to the name EXPERIMENT.")
    return experiment
