"""Experiments by name, imported on demand."""

from __future__ import annotations

import importlib

from golem.runtime.messages import suggestion
from golem_experiments.experiment import Experiment

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
)


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
