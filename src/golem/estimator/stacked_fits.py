"""Fit many tables of one size in one solve: seeds of an experiment, bootstrap samples, a path of penalties."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from golem.data.knowledge import Knowledge
from golem.data.table_reading import read_table
from golem.estimator.fit import conclude, prepare, recipe_of
from golem.estimator.golem import Golem
from golem.gradient.adam import Adam
from golem.runtime.messages import warn_user
from golem.runtime.problems import ProblemError
from golem.runtime.types import Matrix
from golem.score.node_score import NodeScore


def fit_stacked(
    model: Golem,
    tables: Sequence[Any],
    starts: Sequence[Matrix] | None = None,
    *,
    checkpoint: str | Path | None = None,
) -> list[Golem]:
    """Fit clones of a model to tables with the same number of columns, all in one solve by Adam.

    On a GPU the steps of many small problems take little longer than those of one. Each problem ends where it would
    have ended in a solve of its own. A warning about one of the tables has its number as attribute `table`.

    Parameters
    ----------
    model : Golem
        Settings, with solver="adam", such as `Golem.paper("nv", device="cuda")`.
    tables : sequence
        Data as for `Golem.fit`.
    starts : sequence of ndarray of shape (d, d), optional
        Weights to start from, one matrix per table, instead of the model's `init`.
    checkpoint : path, optional
        File that keeps the state of the solve; see `Golem.fit`.

    Examples
    --------
    >>> from golem.simulate import simulate
    >>> tables = [simulate(5, 200, random_state=seed).data for seed in range(3)]
    >>> models = fit_stacked(Golem("ev", "adam", max_iter=2000), tables)
    >>> [model.adjacency_.shape for model in models]
    [(5, 5), (5, 5), (5, 5)]
    """
    models = [clone(model) for _ in tables]
    if starts is not None and len(starts) != len(models):
        raise ValueError(f"There must be one start per table; got {len(starts)} starts for {len(models)} tables.")
    if not models:
        return []
    settings = model.settings.check()
    solver = settings.chosen_solver
    if not isinstance(solver, Adam) or solver.batch_size is not None:
        raise ProblemError.of("A batch needs {solver='adam'} without minibatches. Fit other models one by one.")
    settings.require_for(environments=False)
    file = settings.checkpoint_path(checkpoint)
    prepared: list[tuple[NodeScore, Knowledge]] = []
    for number, table in enumerate(tables):
        with _warning_of(number):
            prepared.append(prepare(read_table(table, missing=model.missing, robust=settings.robust_moments), settings))
    moments = [score.table.moments() for score, _ in prepared]
    sizes = sorted({m.d for m in moments})
    if len(sizes) > 1:
        raise ValueError(f"The tables of a batch must have the same number of columns; got {sizes}.")
    # Knowledge by name gives different masks if the columns have different orders.
    masks = [(known.forbidden, known.required) for _, known in prepared]
    if not all(np.array_equal(mask, masks[0]) for mask in masks[1:]):
        raise ValueError("Knowledge by name needs the same order of columns in all tables of a batch. Reorder them.")
    rows = sorted({m.n for m in moments})
    if model.noise == "auto" and len(rows) > 1:
        raise ProblemError.of(
            "With {noise='auto'} the tables of a batch must have the same number of rows; got {rows}.", rows=rows
        )
    d, stack = sizes[0], np.stack([m.covariance for m in moments])
    init = settings.start_matrix(d) if starts is None else np.stack(starts)
    init = None if init is None else np.broadcast_to(init, stack.shape)
    recipe = recipe_of(settings, prepared[0][1], d, len(models))
    solution, start = recipe.run(stack, moments[0].n, settings.noise_model, model.noise, init, checkpoint=file)
    first = [None] * len(models) if start is None else start.split()
    ends = zip(models, prepared, solution.split(), first, strict=True)
    for number, (one, (score, knowledge), found, before) in enumerate(ends):
        with _warning_of(number):
            one.adopt(conclude(score, settings, knowledge, found, before))
    return models


@contextlib.contextmanager
def _warning_of(number: int) -> Iterator[None]:
    """Issue the warnings of a block with the number of the table that they are about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        message: Any = one.message
        message.table = number
        warn_user(message)
