"""The experiments of the paper, and some beyond it: one file each, run by one command.

`golem experiment NAME` draws the figure of section NAME anew, with our solver beside the paper's methods, and says of
each claim whether it holds. An experiment is a list of tasks, a function that turns a task into a row of numbers, and
functions of the table of all rows (`experiment.py`). What runs them knows nothing of what they measure
(`engine/runner.py`).
"""

from golem.experiments.engine.runner import Options, Summary, run
from golem.experiments.engine.task import Grid, Task
from golem.experiments.experiment import Experiment, Verdict
from golem.experiments.registry import EXPERIMENTS, load

__all__ = ["EXPERIMENTS", "Experiment", "Grid", "Options", "Summary", "Task", "Verdict", "load", "run"]
