"""What checks look at, without a fit."""

from types import SimpleNamespace

import numpy as np

from golem import Moments
from golem.assessment.diagnostics.checked_model import CheckedModel
from golem.data.table import Table
from golem.score.sparsity import L0


def checked(moments, rows=None, penalty=None):
    """Return numbers to check, whose model is fake: all that checks of columns and values ask it for."""
    graph, score = SimpleNamespace(residual_variances=np.ones(moments.d)), SimpleNamespace(counted_rows=None)
    model = SimpleNamespace(
        table_=Table.single(moments),
        moments_=moments,
        graph_=graph,
        fit_=SimpleNamespace(score=score),
        edge_penalty_=penalty or L0(),
        kept_rows=lambda: None,
    )
    return CheckedModel(model, rows)


def checked_rows(rows, names=None):
    """Return rows to check, with NaN for missing values."""
    return checked(Moments.from_rows(rows, names, missing="drop"), np.asarray(rows, dtype=float))
