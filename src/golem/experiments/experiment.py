"""What an experiment is: tasks, a function that turns one into numbers, and functions of the table of these."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from golem.experiments.engine.task import Grid, Row, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Table = list[Row]


@dataclass(frozen=True)
class Verdict:
    """A claim, what was measured, and whether it holds; None where this run does not decide it.

    `mode` is that of the run it comes from: a verdict of any but a full one says so.

    Examples
    --------
    >>> Verdict("all is well", "3 of 3", True, "quick").word
    'holds (quick run)'
    """

    claim: str
    measured: str
    holds: bool | None
    mode: str = "full"

    @property
    def word(self) -> str:
        """The verdict in words."""
        word = {True: "holds", False: "does not hold", None: "not decided by this run"}[self.holds]
        return word if self.mode == "full" else f"{word} ({self.mode} run)"


def not_run(claim: str) -> Verdict:
    """Return the verdict on a claim of which the table has no rows."""
    return Verdict(claim, "Not run.", None)


@dataclass(frozen=True)
class Experiment:
    """An experiment; a module of its own holds one under the name EXPERIMENT.

    Parameters
    ----------
    name : str
        Its name on the command line.
    reproduces : str
        The figure or statement of the paper, and its section.
    claims : tuple of str
        What is claimed, in sentences.
    tasks : callable
        Takes a `Grid` and returns the tasks.
    run : callable
        Takes a task and returns its measurements. A pure function of the task, but for columns whose name ends in
        "seconds". What it raises becomes a row that says so.
    figure : callable
        Takes the table and returns a matplotlib figure.
    verdicts : callable
        Takes the table and returns the verdicts, one a claim.
    prepare : callable, optional
        Takes a task; imports and compiles what is not to be timed, nor to count against the time limit.
    shape : callable, optional
        Takes a task and returns what tasks must have in common to be solved as one batch; None for a task that has to
        be solved alone.
    run_batch : callable, optional
        Takes tasks of one shape and the name of a device, and returns their rows.
    has_sizes : bool
        Whether numbers of variables can be chosen; False where the data have their own.
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
