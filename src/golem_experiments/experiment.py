"""What an experiment is: tasks, a function that measures one task, and functions of the table of all measurements."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from golem_experiments.task import Grid, Row, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Table = list[Row]


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
