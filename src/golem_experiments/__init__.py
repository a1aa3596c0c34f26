"""The experiments of the paper and some beyond it: one file per experiment, one command to run each.

`golem experiment NAME` remakes a figure of the paper, with our solver next to the paper's methods, and says whether
each claim holds. An experiment is a list of tasks, a function that turns a task into a row of measurements, and
functions of the table of all rows (`experiment.py`). `engine/` runs them and does not depend on what they measure.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from golem_experiments.engine.executors import Options
    from golem_experiments.engine.runner import Summary, run
    from golem_experiments.experiment import EXPERIMENTS, Experiment, Grid, Task, Verdict, load

__all__ = ["EXPERIMENTS", "Experiment", "Grid", "Options", "Summary", "Task", "Verdict", "load", "run"]


def __getattr__(name: str) -> Any:
    # Imported when they are used, so that the command line starts quickly.
    if name not in __all__:
        raise AttributeError(f"module 'golem_experiments' has no attribute {name!r}")
    home = "engine.runner" if name in ("Options", "Summary", "run") else "experiment"
    return getattr(importlib.import_module(f"golem_experiments.{home}"), name)
