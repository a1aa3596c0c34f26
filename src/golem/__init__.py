"""golem learns linear directed acyclic graphs from data by penalized Gaussian likelihood.

>>> from golem import Golem
>>> from golem.datasets import load_sachs
>>> model = Golem().fit(load_sachs().table)
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from golem import baselines, datasets, diagnostics, handover, metrics, simulate
    from golem.checks import DataWarning
    from golem.comparison import compare
    from golem.confidence import bootstrap
    from golem.diagnostics import diagnose
    from golem.estimator import Golem
    from golem.handover import export_graph
    from golem.knowledge import Knowledge
    from golem.moments import Moments
    from golem.selection import GolemCV
    from golem.sem import LinearSEM

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
    "compare",
    "datasets",
    "diagnose",
    "diagnostics",
    "export_graph",
    "handover",
    "metrics",
    "simulate",
]

_HOMES = {
    "DataWarning": "golem.checks",
    "bootstrap": "golem.confidence",
    "compare": "golem.comparison",
    "diagnose": "golem.diagnostics",
    "Golem": "golem.estimator",
    "GolemCV": "golem.selection",
    "export_graph": "golem.handover",
    "Knowledge": "golem.knowledge",
    "LinearSEM": "golem.sem",
    "Moments": "golem.moments",
}
_MODULES = ("baselines", "datasets", "diagnostics", "handover", "metrics", "simulate")


def __getattr__(name: str) -> Any:
    """Load public names when they are first used, so that `import golem` costs next to nothing."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"golem.{name}")
    raise AttributeError(f"module 'golem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
