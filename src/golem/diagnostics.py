"""Questions to ask of a fitted model; a short path to `golem.assessment.diagnostics`."""

from golem.assessment.diagnostics import *  # noqa: F403
from golem.assessment.diagnostics import __all__ as __all__
