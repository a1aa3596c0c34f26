"""Bundled data; a short path to `golem.data.datasets`."""

from golem.data.datasets import *  # noqa: F403
from golem.data.datasets import __all__ as __all__
