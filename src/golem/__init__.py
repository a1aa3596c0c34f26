"""golem learns linear directed acyclic graphs from data by penalized Gaussian likelihood.

>>> from golem import Golem
>>> from golem.datasets import load_sachs
>>> model = Golem().fit(load_sachs().table)
"""

import importlib
from typing import TYPE_CHECKING, Any

from golem.runtime.version import __version__

if TYPE_CHECKING:
    from golem import baselines, datasets, diagnostics, metrics, output, plots, readers, score, simulate, solvers
    from golem.assessment.bootstrap import bootstrap
    from golem.assessment.consistency import check
    from golem.assessment.diagnostics import diagnose
    from golem.assessment.next_experiment import next_experiment
    from golem.assessment.selection import GolemCV
    from golem.comparison import compare, difference
    from golem.data.checks import DataWarning
    from golem.data.knowledge import Knowledge
    from golem.data.moments import Moments
    from golem.estimator import Golem
    from golem.estimator.markov_blanket import markov_blanket
    from golem.model.linear_sem import LinearSEM
    from golem.output import export_graph, impulse_responses, load, to_networkx
    from golem.workflow import fit_file

__all__ = [
    "DataWarning",
    "Golem",
    "GolemCV",
    "Knowledge",
    "LinearSEM",
    "Moments",
    "__version__",
    "baselines",
    "bootstrap",
    "check",
    "compare",
    "datasets",
    "diagnose",
    "diagnostics",
    "difference",
    "export_graph",
    "fit_file",
    "impulse_responses",
    "load",
    "markov_blanket",
    "metrics",
    "next_experiment",
    "output",
    "plots",
    "readers",
    "score",
    "simulate",
    "solvers",
    "to_networkx",
]

_HOMES = {
    "DataWarning": "golem.data.checks",
    "Golem": "golem.estimator",
    "GolemCV": "golem.assessment.selection",
    "Knowledge": "golem.data.knowledge",
    "LinearSEM": "golem.model.linear_sem",
    "Moments": "golem.data.moments",
    "bootstrap": "golem.assessment.bootstrap",
    "check": "golem.assessment.consistency",
    "compare": "golem.comparison",
    "diagnose": "golem.assessment.diagnostics",
    "difference": "golem.comparison",
    "export_graph": "golem.output",
    "fit_file": "golem.workflow",
    "impulse_responses": "golem.output",
    "load": "golem.output",
    "markov_blanket": "golem.estimator.markov_blanket",
    "next_experiment": "golem.assessment.next_experiment",
    "to_networkx": "golem.output",
}


def __getattr__(name: str) -> Any:
    """Load public names at their first use, so that `import golem` is fast."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in __all__:
        return importlib.import_module(f"golem.{name}")
    raise AttributeError(f"module 'golem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
