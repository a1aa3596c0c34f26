"""Files and clusters to tables, moments and graphs; a short path to `golem.data.readers`."""

from golem.data.readers import *  # noqa: F403
from golem.data.readers import __all__ as __all__
