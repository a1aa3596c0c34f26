"""Methods by name, with the settings of a cell, and the measurements of what they learned.

In addition to the names of `golem.comparison.registry` there are the variants of section 5.1, without the DAG penalty
(`-l1`) and without any penalty (`-plain`), GOLEM-NV started from zeros instead of the raw weights of GOLEM-EV (section
4.1), and GOLEM-EV with accelerated steps. The paper does not say where GOLEM-NV-L1 and GOLEM-NV-Plain start; here they
start where GOLEM-NV does. `fgs` has the score of the paper, `fgs-bic` the plain BIC, which is the default of `FGS`.
"""

from __future__ import annotations

import functools
import hashlib
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from golem.baselines import FGS
from golem.comparison.other_packages import OTHER_PACKAGES, Estimate
from golem.comparison.registry import METHODS, ComparedMethod
from golem.data.moments import Moments
from golem.estimator.golem import Golem
from golem.estimator.stacked_fits import fit_stacked
from golem.gradient.adam import Adam
from golem.gradient.checkpoint import hash_of, seconds_in
from golem.graphs import metrics
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.objective import PAPER_PENALTIES
from golem.score.solution import Status
from golem_experiments.engine.store import checkpoint_file
from golem_experiments.experiment import Row, Task, Value

VARIANTS: dict[str, Callable[[], Any]] = {
    "golem-ev-l1": lambda: Golem.paper("ev", lambda_dag=0.0),
    "golem-ev-plain": lambda: Golem.paper("ev", lambda_dag=0.0, lambda_sparsity=0.0),
    "golem-nv-l1": lambda: Golem.paper("nv", lambda_dag=0.0),
    "golem-nv-plain": lambda: Golem.paper("nv", lambda_dag=0.0, lambda_sparsity=0.0),
    "golem-nv-zeros": lambda: Golem.paper("nv", init="zeros"),
    "golem-ev-accelerated": lambda: Golem.paper("ev", accelerate=True, device="cuda"),
    "fgs": lambda: FGS(structure_prior=1.0),
    "fgs-bic": lambda: FGS(),
}
# The ending of recipes whose steps are approximate and fast on a GPU.
ACCELERATED = "-accelerated"
# Settings to state wherever a method is shown.
NOTES = {
    "fgs": "fgs is FGS(structure_prior=1), close to Tetrad's conditional-Gaussian BIC, the score of the paper",
    "fgs-bic": "fgs-bic is FGS() with the plain BIC",
    "flopsearch": "flopsearch has lambda_bic = 2 and 50 restarts, as its page recommends",
    "flopsearch-mbic": "flopsearch-mbic has 50 restarts and the penalty of order, log n + 2 log d per edge",
}
# Values of a cell that set the parameter of the same name.
_PARAMETERS = ("threshold", "cycles", "solver", "acyclicity", "lambda_sparsity", "lambda_dag")


@dataclass(frozen=True, eq=False)
class Learned:
    """What a method learned.

    Parameters
    ----------
    estimate : Estimate
        The graph.
    model : object or None
        The fitted estimator, if the method is one of ours.
    seconds : float
        Time that the method took; in a batch, its share.
    warned : str
        Its warnings, in sentences.
    """

    estimate: Estimate
    model: Any
    seconds: float
    warned: str


def build(method: str, cell: Mapping[str, Value]) -> Any:
    """Return a method's estimator with the cell's settings.

    `steps` is the number of steps of Adam, or the maximum of L-BFGS. `threshold` applies to all methods that round
    weights, the other parameters only to those of the paper.
    """
    model = VARIANTS[method]() if method in VARIANTS else METHODS[method].model()
    changes: dict[str, Value] = {name: cell[name] for name in _PARAMETERS if name in cell}
    if is_paper_recipe(method):
        changes |= {"max_iter": cell["steps"]} if "steps" in cell else {}
    else:
        changes = {"threshold": changes["threshold"]} if method.startswith("notears") and "threshold" in changes else {}
    return model.set_params(**changes)


def is_paper_recipe(method: str) -> bool:
    """Return whether a method is the paper's recipe or a variant of it."""
    return method.startswith("golem-")


def settings(task: Task) -> dict[str, Any]:
    """Return all settings of a task's method that determine its result; empty for methods of other packages."""
    if task.method not in METHODS and task.method not in VARIANTS:
        return {}
    values = tuple((name, task.cell[name]) for name in (*_PARAMETERS, "steps") if name in task.cell)
    return _settings(task.method, METHODS.get(task.method), values)


_NEWER = {
    "score_function": "auto",
    "intervention": "soft",
    "intercepts": "separate",
    "evidence": "auto",
    "statistics": "auto",
}


@functools.cache  # thousands of tasks share a few settings
def _settings(method: str, registered: ComparedMethod | None, values: tuple[tuple[str, Value], ...]) -> dict[str, Any]:
    """Return the settings of a method; `registered` is part of the key, because users can replace it."""
    model = build(method, dict(values))
    # None means a default of another object; the defaults of the solver are part of its repr.
    chosen = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    chosen.pop("missing", None)  # changes nothing, because no value is missing
    if isinstance(model, Golem):
        # Settings that are newer than stored rows count only if they are used, so that the rows stay valid.
        if not model.settings.uses_shape:
            chosen.pop("shape", None)
        if model.robust != "ranks":
            chosen.pop("robust", None)
        for name, default in _NEWER.items():
            if chosen.get(name) == default:
                del chosen[name]
        chosen["solver"] = repr(model.settings.chosen_solver).replace(", accelerate=False", "")
    return {name: value if isinstance(value, str | int | float) else repr(value) for name, value in chosen.items()}


def learn(method: str, cell: Mapping[str, Value], rows: Matrix) -> Learned:
    """Run a method on rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if method in OTHER_PACKAGES:
            began = time.perf_counter()
            estimate, model = OTHER_PACKAGES[method].learn(rows), None
        else:
            model, estimate = build(method, cell), None
            began = time.perf_counter()
            began -= _fit(model, rows)
        seconds = time.perf_counter() - began
    return Learned(estimate or _estimate(model), model, seconds, _sentences(caught))


def learn_batch(method: str, cell: Mapping[str, Value], tables: Sequence[Matrix], device: str) -> list[Learned]:
    """Run a recipe of the paper on several tables with the same columns, as one stack.

    Accelerated steps follow one matrix, so these recipes run one by one.
    """
    if method.endswith(ACCELERATED):
        return [learn(method, cell, rows) for rows in tables]
    model = build(method, cell).set_params(device=device)
    moments = [Moments.from_rows(rows) for rows in tables]
    if method == "golem-ev" and (model.lambda_sparsity, model.lambda_dag) == PAPER_PENALTIES["ev"]:
        solved = _golem_ev(model, moments)
    elif model.init == "ev":
        start = _golem_ev(model, moments)
        solved = _solve(model, moments, [one.raw_weights_ for one in start.models])
        solved = solved._replace(seconds=solved.seconds + start.seconds)
    else:
        solved = _solve(model, moments)
    share = solved.seconds / len(tables)
    return [Learned(_estimate(one), one, share, text) for one, text in zip(solved.models, solved.warned, strict=True)]


def _fit(model: Any, rows: Matrix) -> float:
    """Fit a model, with a checkpoint if it can continue from one; return the seconds of earlier calls."""
    uses_adam = isinstance(model, Golem) and isinstance(model.settings.chosen_solver, Adam)
    file = checkpoint_file(_identity(model, [rows])) if uses_adam else None
    if file is None:
        model.fit(rows)
        return 0.0
    earlier = seconds_in(file)
    model.fit(rows, checkpoint=file)
    file.unlink()
    return earlier


def _identity(model: Golem, arrays: Sequence[Matrix]) -> str:
    """Return a name for the solve of a model, determined by its settings and data."""
    settings = sorted((name, repr(value)) for name, value in model.get_params().items())
    return hashlib.sha256(f"{settings} {hash_of(*arrays)}".encode()).hexdigest()[:32]


class _Solved(NamedTuple):
    """Models fitted as one stack, with the seconds of all and the warnings of each."""

    models: list[Golem]
    seconds: float
    warned: list[str]


def _solve(model: Golem, moments: Sequence[Moments], starts: Sequence[Matrix] | None = None) -> _Solved:
    began = time.perf_counter()
    file = checkpoint_file(_identity(model, [*(one.scatter for one in moments), *(starts or ())]))
    earlier = 0.0 if file is None else seconds_in(file)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        models = fit_stacked(model, moments, starts, checkpoint=file)
    seconds = time.perf_counter() - began + earlier
    about: list[list[warnings.WarningMessage]] = [[] for _ in models]
    for warning in caught:
        number = getattr(warning.message, "table", None)
        for own in about if number is None else [about[number]]:
            own.append(warning)
    return _Solved(models, seconds, [_sentences(own) for own in about])


# GOLEM-NV and its variants start from GOLEM-EV on the same data, which is a method too: it is solved once for all.
_golem_ev_solved: dict[str, _Solved] = {}
_MOST_KEPT = 2


def _golem_ev(model: Golem, moments: Sequence[Moments]) -> _Solved:
    """Return GOLEM-EV on a stack, with the settings of a model except for its noise and penalties."""
    golem_ev = clone(model).set_params(noise="ev", init="zeros", lambda_sparsity=None, lambda_dag=None)
    key = _identity(golem_ev, [one.scatter for one in moments])
    if key not in _golem_ev_solved:
        solved = _solve(golem_ev, moments)
        if any(one.solution_.status is Status.INTERRUPTED for one in solved.models):
            raise KeyboardInterrupt
        _golem_ev_solved[key] = solved
        while len(_golem_ev_solved) > _MOST_KEPT:
            del _golem_ev_solved[next(iter(_golem_ev_solved))]
    return _golem_ev_solved[key]


def measurements(truth: BoolMatrix, learned: Learned, *, classes: bool = True) -> Row:
    """Return the distances to the truth `(d, d)`, not divided by d; None if one is not defined.

    SHD-C and SID, which are slow on large graphs, are computed only if `classes` is true.
    """
    estimate = learned.estimate
    graph, undirected = estimate.graph, estimate.is_class
    row: dict[str, Any] = {
        "true_edges": int(truth.sum()),
        "edges": int(np.sum(np.triu(graph | graph.T)) if undirected else graph.sum()),
        "shd": metrics.shd(truth, graph, cpdag=undirected),
        "tpr": metrics.tpr(truth, graph, cpdag=undirected),
        "fdr": metrics.fdr(truth, graph, cpdag=undirected),
    }
    if classes:
        row["shd_c"] = metrics.shd_c(truth, graph, cpdag=undirected)
        # Like the paper, we leave out the SID of equivalence classes.
        row["sid"] = None if undirected else metrics.sid(truth, graph)
    row = {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
    return row | {"fit_seconds": learned.seconds, "warning": learned.warned}


def _estimate(model: Any) -> Estimate:
    member = getattr(model, "adjacency_", None)
    if hasattr(model, "weights_"):
        return Estimate(model.adjacency_, False, member, model.weights_)
    return Estimate(model.cpdag_, True, member)


def _sentences(caught: list[warnings.WarningMessage]) -> str:
    """Join the warnings, each sentence once, without deprecations inside libraries."""
    text = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    return " ".join(dict.fromkeys(text))
