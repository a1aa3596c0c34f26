"""Methods as experiments use them: by name, with what a cell changes in them, and what is measured of their answer.

Beside the names of `golem.methods` there are the variants of section 5.1, without the DAG penalty (`-l1`) and without
any (`-plain`), and GOLEM-NV from zeros instead of the raw weights of GOLEM-EV (section 4.1). The paper does not say
where GOLEM-NV-L1 and GOLEM-NV-Plain start; here they start where GOLEM-NV does.
"""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from golem import metrics
from golem.batches import fit_batch
from golem.estimator import Golem
from golem.experiments.task import Row, Value
from golem.graph import BoolMatrix
from golem.methods import METHODS, prepare
from golem.moments import Matrix, Moments
from golem.objective import PAPER_PENALTIES
from golem.peers import PEERS, Estimate

VARIANTS: dict[str, Callable[[], Golem]] = {
    "golem-ev-l1": lambda: Golem.paper("ev", lambda_dag=0.0),
    "golem-ev-plain": lambda: Golem.paper("ev", lambda_dag=0.0, lambda_sparsity=0.0),
    "golem-nv-l1": lambda: Golem.paper("nv", lambda_dag=0.0),
    "golem-nv-plain": lambda: Golem.paper("nv", lambda_dag=0.0, lambda_sparsity=0.0),
    "golem-nv-zeros": lambda: Golem.paper("nv", init="zeros"),
}
# Parameters that decide nothing where no value is missing.
_NO_SETTINGS = ("missing",)
# Values of a cell that set a parameter, in methods that have a use for it.
_STEPS = "steps"
_PARAMETERS = ("threshold", "cycles", "solver", "acyclicity", "lambda_sparsity", "lambda_dag")


@dataclass(frozen=True, eq=False)
class Learned:
    """What a method learned, with the fitted model where it is one of ours.

    Parameters
    ----------
    estimate : Estimate
        The graph.
    model : object or None
        The fitted estimator.
    seconds : float
        Time that the method took; of a batch, its share.
    warned : str
        What it warned of, in sentences.
    """

    estimate: Estimate
    model: Any
    seconds: float
    warned: str


def build(method: str, cell: Mapping[str, Value]) -> Any:
    """Return a method's estimator with the cell's settings.

    `steps` is the number of Adam's steps, or most of L-BFGS's; `threshold` goes to all methods that round weights, the
    other parameters to the paper's.
    """
    model = VARIANTS[method]() if method in VARIANTS else METHODS[method].model()
    changes: dict[str, Value] = {name: cell[name] for name in _PARAMETERS if name in cell}
    if is_descent(method):
        changes |= {"max_iter": cell[_STEPS]} if _STEPS in cell else {}
    else:
        changes = {"threshold": changes["threshold"]} if method.startswith("notears") and "threshold" in changes else {}
    return model.set_params(**changes)


def is_descent(method: str) -> bool:
    """Tell whether a method is the paper's recipe or a variant of it, which Adam solves."""
    return method.startswith("golem-")


def settings(method: str, cell: Mapping[str, Value]) -> dict[str, Any]:
    """All settings of a method that decide its answer; empty for what is no method of this package."""
    if method not in METHODS and method not in VARIANTS:
        return {}
    model = build(method, cell)
    # A parameter left at None stands for a default further down: the solver's are part of its repr.
    chosen = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    for name in _NO_SETTINGS:
        chosen.pop(name, None)
    if isinstance(model, Golem):
        chosen["solver"] = model.check_settings()[1]
    return {name: value if isinstance(value, str | int | float) else repr(value) for name, value in chosen.items()}


def prepare_method(method: str) -> None:
    """Import and compile what is not to be timed."""
    prepare(method)


def learn(method: str, cell: Mapping[str, Value], rows: Matrix) -> Learned:
    """Run a method on rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if method in PEERS:
            began = time.perf_counter()
            estimate, model = PEERS[method].learn(rows), None
        else:
            model = build(method, cell)
            began = time.perf_counter()
            model.fit(rows)
            estimate = None
        seconds = time.perf_counter() - began
    return Learned(estimate or _estimate(model), model, seconds, _sentences(caught))


def learn_batch(method: str, cell: Mapping[str, Value], tables: Sequence[Matrix], device: str) -> list[Learned]:
    """Run one of the paper's recipes on several tables of one shape, as one stack."""
    model = build(method, cell).set_params(device=device)
    moments = [Moments.from_rows(rows) for rows in tables]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = _golem_ev(model, moments) if model.noise == "nv" and model.init == "ev" else None
        began = time.perf_counter()
        models = fit_batch(model, moments, None if start is None else start.weights)
    seconds = time.perf_counter() - began
    if model.noise == "ev" and (model.lambda_sparsity, model.lambda_dag) == PAPER_PENALTIES["ev"]:
        _keep(_stack_key(model, moments), _Start([one.raw_weights_ for one in models], seconds))
    share = (seconds + (0.0 if start is None else start.seconds)) / len(tables)
    return [Learned(_estimate(one), one, share, _sentences(caught)) for one in models]


class _Start(NamedTuple):
    """Raw weights of GOLEM-EV on a stack, and the seconds that they took."""

    weights: list[Matrix]
    seconds: float


# GOLEM-NV and its variants start from GOLEM-EV on the same data, which is a method too: solved once, it serves all.
_starts: dict[str, _Start] = {}
_MOST_STARTS = 2


def _golem_ev(model: Golem, moments: Sequence[Moments]) -> _Start:
    """Return the start of GOLEM-NV on a stack, kept from before where it was solved before."""
    key = _stack_key(model, moments)
    if key not in _starts:
        golem_ev = clone(model).set_params(noise="ev", init="zeros", lambda_sparsity=None, lambda_dag=None)
        began = time.perf_counter()
        models = fit_batch(golem_ev, moments)
        _keep(key, _Start([one.raw_weights_ for one in models], time.perf_counter() - began))
    return _starts[key]


def _keep(key: str, start: _Start) -> None:
    _starts[key] = start
    while len(_starts) > _MOST_STARTS:
        del _starts[next(iter(_starts))]


def _stack_key(model: Golem, moments: Sequence[Moments]) -> str:
    """Tell stacks apart, by their data and by what decides the descent of GOLEM-EV."""
    data = hashlib.sha256(b"".join(np.ascontiguousarray(one.scatter).tobytes() for one in moments)).hexdigest()
    return f"{data} {model.solver!r} {model.max_iter} {model.acyclicity!r} {model.device} {model.dtype}"


def measurements(truth: BoolMatrix, learned: Learned, *, classes: bool = True) -> Row:
    """Distances to the truth, in edges and pairs and not divided by d; None where one is not defined.

    Parameters
    ----------
    truth : ndarray of shape (d, d), bool
        The true graph.
    learned : Learned
        What was learned.
    classes : bool
        Whether to compute SHD-C and SID too, which are slow on large graphs.
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
        # The paper leaves out the SID of equivalence classes, and so do we.
        row["sid"] = None if undirected else metrics.sid(truth, graph)
    row = {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
    return row | {"fit_seconds": learned.seconds, "warning": learned.warned}


def _estimate(model: Any) -> Estimate:
    member = getattr(model, "adjacency_", None)
    if hasattr(model, "weights_"):
        return Estimate(model.adjacency_, False, member, model.weights_)
    return Estimate(model.cpdag_, True, member)


def _sentences(caught: list[warnings.WarningMessage]) -> str:
    """Join what was warned of, each sentence once; deprecations inside libraries are nobody's concern here."""
    told = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    return " ".join(dict.fromkeys(told))
