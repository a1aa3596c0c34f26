"""The experiments of the paper and some beyond it: one file per experiment, one command to run each.

`golem experiment NAME` remakes a figure of the paper, with our solver next to the paper's methods, and says whether
each claim holds. An experiment is a list of tasks, a function that turns a task into a row of measurements, and
functions of the table of all rows (`experiment.py`). `engine/` runs them and does not depend on what they measure.
"""

from golem_experiments.engine.runner import Options, Summary, run
from golem_experiments.experiment import Experiment, Verdict
from golem_experiments.registry import EXPERIMENTS, load
from golem_experiments.task import Grid, Task

__all__ = ["EXPERIMENTS", "Experiment", "Grid", "Options", "Summary", "Task", "Verdict", "load", "run"]
