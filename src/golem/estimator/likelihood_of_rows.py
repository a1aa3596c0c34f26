"""The log-likelihood of other rows under a fitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golem.data.moments import Moments
from golem.data.table_errors import NotNumericError
from golem.estimator.learned_graph import has_categories
from golem.runtime.messages import quoted

if TYPE_CHECKING:
    from golem.estimator.golem import Golem


def mean_log_likelihood(model: Golem, X: Any) -> float:
    """Return the mean Gaussian log-likelihood per row of X; raise a ValueError if the model has none."""
    if has_categories(model):
        raise ValueError(
            "score(X) is a Gaussian log-likelihood, and is not available for a model with categories. "
            "solution_.terms['score'] has the score of the fit."
        )
    sem = model.sem_  # an error if there is none
    moments = (X if isinstance(X, Moments) else _read(model, X)).reordered(sem.names)
    return sem.log_likelihood(moments) / moments.n


def _read(model: Golem, X: Any) -> Moments:
    """Return the moments of X; name the column of labels if a fit with environments did not have it as a variable."""
    try:
        return model.read_other(X).moments()
    except NotNumericError as error:
        labels = [name for name in error.columns if name not in model.moments_.names]
        if model.environments_ is None or not labels:
            raise
        raise ValueError(
            f"score(X) takes only the columns of the graph. Leave out the column of labels: {quoted(labels)}."
        ) from None
