"""The steps of `golem fit`, also for use from Python: read, learn, bootstrap, check, write.

>>> from golem.workflow import fit_file
>>> result = fit_file("data.csv", "out", bootstrap=100)  # doctest: +SKIP
>>> result.model.weights_  # doctest: +SKIP
"""

from golem.workflow.fit import FitResult, fit_file
from golem.workflow.repeat import repeat_fit

__all__ = ["FitResult", "fit_file", "repeat_fit"]
