"""Words become objects: what the parameters of an estimator stand for, or why they contradict each other."""

from __future__ import annotations

import dataclasses
from numbers import Real
from typing import Any, Literal, Protocol

import numpy as np

from golem.data.inputs import require_shape
from golem.runtime.devices import Placement, gpu_is_there
from golem.runtime.types import Matrix
from golem.score.acyclicity import Acyclicity, Expm, LogDet, Polynomial
from golem.solvers import LBFGS, Adam, Order

# Below this module only `NOISE_MODELS` of `golem.solvers.paper_recipe` knows a word.
SOLVERS: dict[str, Order | Adam | LBFGS] = {"order": Order(), "adam": Adam(), "lbfgs": LBFGS()}
ACYCLICITIES: dict[str, Acyclicity] = {"expm": Expm(), "polynomial": Polynomial(), "logdet": LogDet()}
STARTS = ("zeros", "ev")
CYCLE_REMOVALS = ("paper", "gentle", "none")
PAPER_THRESHOLD = 0.3
# Below these sizes a GPU is no faster than a few cores (docs/scale.md).
GPU_PAYS_FROM = {"order": 1000, "adam": 200}


class Settings(Protocol):
    """The parameters of `golem.Golem` that are read here; its docstring tells what they mean."""

    noise: str
    solver: Any
    init: Any
    lambda_sparsity: Any
    lambda_dag: float | None
    threshold: Any
    acyclicity: Any
    cycles: Any
    max_iter: int | None
    time_limit: float | None
    effort: Any
    device: str
    dtype: Literal["float64", "float32"]
    random_state: Any


def chosen_solver(model: Settings) -> Order | Adam | LBFGS:
    """Return the solver with the estimator's own settings, after checking that it has a use for them."""
    solver: Order | Adam | LBFGS = (
        named(SOLVERS, model.solver, "solver") if isinstance(model.solver, str) else model.solver
    )
    for name in ("max_iter", "time_limit"):
        value = getattr(model, name)
        if value is not None and not (isinstance(value, Real) and float(value) > 0):
            raise ValueError(f"{name} must be a positive number; got {value!r}")
    if isinstance(model.threshold, str) and model.threshold != "lr":
        raise ValueError(f"threshold is a number or 'lr', for a likelihood ratio; got {model.threshold!r}")
    for name in ("lambda_sparsity", "lambda_dag", "threshold"):
        value = getattr(model, name)
        is_word = isinstance(value, str) and name != "lambda_dag"
        if not (value is None or is_word or (isinstance(value, Real) and 0 <= float(value) < np.inf)):
            raise ValueError(f"{name} must be at least 0 and finite, a single number; got {value!r}")
    if model.threshold == "lr" and model.cycles == "none":
        raise ValueError("threshold='lr' with cycles='none': a likelihood ratio compares acyclic graphs")
    try:
        np.random.default_rng(model.random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state must be a whole number of at least 0, a Generator or None; got {model.random_state!r}"
        ) from None
    if model.cycles not in (None, *CYCLE_REMOVALS):
        raise ValueError(f"cycles must be one of {', '.join(CYCLE_REMOVALS)}; got {model.cycles!r}")
    if isinstance(solver, Order):
        useless = ["lambda_dag", "threshold", "acyclicity", "cycles"]
        remedy = "the order solver counts edges and is acyclic by construction; leave it out, or use solver='lbfgs'"
        if model.max_iter is not None:
            bounds = "time_limit" if model.noise == "ev" else "effort or time_limit"
            raise ValueError(
                f"max_iter={model.max_iter!r} with solver={model.solver!r}: the order solver counts no iterations; "
                f"leave it out and choose {bounds} instead, or use solver='lbfgs'"
            )
        if model.noise == "ev" and model.effort is not None:
            raise ValueError(f"effort={model.effort!r} with noise='ev': equal variances need no search; leave it out")
    else:
        useless = ["effort"]
        remedy = "it is for solver='order'"
    for name in useless:
        if getattr(model, name) is not None:
            raise ValueError(f"{name}={getattr(model, name)!r} with solver={model.solver!r}: {remedy}")
    if isinstance(model.lambda_sparsity, str) and not isinstance(solver, Order):
        raise ValueError(f"lambda_sparsity={model.lambda_sparsity!r} is for solver='order'; here it is a number")
    if model.dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32'; got {model.dtype!r}")
    if model.device != "auto":
        Placement(model.device)  # says which devices there are
    on_device = isinstance(solver, Adam) or (isinstance(solver, Order) and model.noise == "ev")
    if (model.device not in ("cpu", "auto") or model.dtype != "float64") and not on_device:
        what = f"dtype={model.dtype!r}" if model.device in ("cpu", "auto") else f"device={model.device!r}"
        raise ValueError(
            f"{what} is for solver='adam' and for solver='order' with noise='ev'; the search over orders and "
            "L-BFGS run on the CPU in double precision"
        )
    if isinstance(solver, Adam) and solver.accelerate and not model.device.startswith("cuda"):
        raise ValueError(f"accelerate=True needs device='cuda'; got device={model.device!r}")
    if isinstance(solver, Adam) and solver.accelerate and model.dtype != "float64":
        raise ValueError(f"accelerate=True needs dtype='float64'; got dtype={model.dtype!r}")
    settings = {name: plain_number(getattr(model, name)) for name in ("max_iter", "time_limit", "effort")}
    return dataclasses.replace(solver, **{name: value for name, value in settings.items() if value is not None})


def plain_number(value: Any) -> Any:
    """Return a NumPy number as Python's, which no product overflows; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def start_matrix(model: Settings, d: int) -> Matrix | None:
    """Return the start of the weights, or None where GOLEM-EV is to be solved for it."""
    init = ("zeros" if model.noise == "ev" else "ev") if model.init is None else model.init
    if isinstance(init, str):
        if init not in STARTS:
            raise ValueError(f"init must be one of {', '.join(STARTS)} or a (d, d) array; got {init!r}")
        return None if init == "ev" else np.zeros((d, d))
    start = np.array(init, dtype=float)
    require_shape(start, d, "the start matrix")
    if not np.isfinite(start).all():
        raise ValueError("the start matrix has NaN or infinite entries")
    if np.diagonal(start).any():
        raise ValueError("the start matrix has nonzero diagonal entries; no variable causes itself")
    if np.linalg.slogdet(np.eye(d) - start)[0] == 0:
        raise ValueError("the score is infinite at the start matrix: I - B is singular there; choose another one")
    return start


def placement_for(model: Settings, solver: Order | Adam | LBFGS, d: int) -> Placement:
    """Tell where to work; "auto" takes a GPU where it gains."""
    name = "adam" if isinstance(solver, Adam) else "order" if isinstance(solver, Order) else "lbfgs"
    if model.device != "auto":
        return Placement(model.device, model.dtype)
    usable = name == "adam" or (name == "order" and model.noise == "ev")
    gains = usable and d >= GPU_PAYS_FROM[name] and gpu_is_there()
    return Placement("cuda" if gains else "cpu", model.dtype)


def named(table: dict[str, Any], name: str, parameter: str) -> Any:
    """Look a word up in its table, or say which words there are."""
    if name not in table:
        raise ValueError(f"{parameter} must be one of {', '.join(map(repr, table))}; got {name!r}")
    return table[name]
