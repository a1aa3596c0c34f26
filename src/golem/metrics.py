"""Distances between an estimated and a true graph; a short path to `golem.graphs.metrics`."""

from golem.graphs.metrics import *  # noqa: F403
from golem.graphs.metrics import __all__ as __all__
