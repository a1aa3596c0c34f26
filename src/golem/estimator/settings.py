"""Check the parameters of an estimator and turn words such as "order" into objects."""

from __future__ import annotations

import dataclasses
import reprlib
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.data.inputs import require_shape
from golem.gradient.adam import Adam
from golem.gradient.lbfgs import LBFGS
from golem.runtime.devices import Placement, gpu_is_there
from golem.runtime.messages import shown
from golem.runtime.types import Matrix
from golem.score.acyclicity import Acyclicity, Expm, LogDet, Polynomial
from golem.score.sparsity import L0
from golem.search.solver import Order

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

# `NOISE_MODELS` of `golem.gradient.paper_recipe` has the words for noise models.
SOLVERS: dict[str, Order | Adam | LBFGS] = {"order": Order(), "adam": Adam(), "lbfgs": LBFGS()}
ACYCLICITIES: dict[str, Acyclicity] = {"expm": Expm(), "polynomial": Polynomial(), "logdet": LogDet()}
STARTS = ("zeros", "ev")
_CHOICES = {
    "cycles": (None, "paper", "gentle", "none"),
    "dtype": ("float64", "float32"),
    "shape": ("auto", "off"),
}
PAPER_THRESHOLD = 0.3
# Parameters of solvers that follow gradients.
OF_GRADIENTS = ("lambda_dag", "threshold", "acyclicity", "cycles", "max_iter")
# Below these numbers of columns a GPU is not faster than a few cores (docs/speed.md, docs/benchmarks/gpu.md).
GPU_FROM = {"order": 1000, "adam": 200}


def chosen_solver(model: Golem) -> Order | Adam | LBFGS:
    """Return the solver with the settings of the estimator; raise a ValueError for settings that do not fit."""
    solver: Order | Adam | LBFGS = (
        named(SOLVERS, model.solver, "solver") if isinstance(model.solver, str) else model.solver
    )
    _require_valid_values(model)
    _require_useful(model, solver)
    _require_usable_device(model, solver)
    settings = {name: plain_number(getattr(model, name)) for name in ("max_iter", "time_limit", "effort")}
    return dataclasses.replace(solver, **{name: value for name, value in settings.items() if value is not None})


def _require_valid_values(model: Golem) -> None:
    """Check each parameter on its own."""
    for name, kind, example in (
        ("solver", Order | Adam | LBFGS, "Adam()"),
        ("acyclicity", Acyclicity | None, "Expm()"),
    ):
        if not isinstance(value := getattr(model, name), str) and not isinstance(value, kind):
            raise ValueError(f"{name} must be a name or an object such as {example}; got {reprlib.repr(value)}.")
    for name in ("max_iter", "time_limit"):
        value = plain_number(getattr(model, name))
        is_number = isinstance(value, Real)
        if value is not None and not (is_number and (0 < value < 2**63 or value == np.inf)):
            raise ValueError(f"{name} must be a positive number; got {reprlib.repr(value)}.")
    if isinstance(model.threshold, str) and model.threshold != "lr":
        raise ValueError(f"threshold={model.threshold!r} is neither a number nor 'lr' (likelihood ratio).")
    for name in ("lambda_sparsity", "lambda_dag", "threshold"):
        value = plain_number(getattr(model, name))
        is_word, is_number = isinstance(value, str) and name != "lambda_dag", isinstance(value, Real)
        if not (value is None or is_word or (is_number and 0 <= value < 2**1000)):  # larger ones are not floats
            raise ValueError(f"{name} must be a finite number of at least 0; got {reprlib.repr(value)}.")
    try:
        np.random.default_rng(model.random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state must be a whole number of at least 0, a Generator or None; got {model.random_state!r}."
        ) from None
    for name, choices in _CHOICES.items():
        if getattr(model, name) not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {getattr(model, name)!r}.")


def _require_useful(model: Golem, solver: Order | Adam | LBFGS) -> None:
    """Check that the solver uses all parameters that are set."""
    if model.threshold == "lr" and model.cycles == "none":
        raise ValueError("threshold='lr' needs an acyclic graph. Leave out cycles='none'.")
    if isinstance(solver, Order):
        remedy = "solver='order' does not use it. Leave it out, or, for a table of numbers, use solver='lbfgs'"
        useless = dict.fromkeys((name for name in OF_GRADIENTS if name != "max_iter"), remedy)
        bounds = "time_limit=..." if model.noise == "ev" else "effort=... or time_limit=..."
        useless["max_iter"] = f"solver='order' does not count iterations. Use {bounds} instead"
        if model.noise == "ev":
            useless["effort"] = "with noise='ev' the order is found in one pass. Leave it out"
    else:
        useless = {"effort": "it needs solver='order'. Leave it out"}
        if isinstance(model.lambda_sparsity, str):
            useless["lambda_sparsity"] = "a criterion needs solver='order'. Use a number"
    for name, remedy in useless.items():
        if getattr(model, name) is not None:
            raise ValueError(f"{name}={shown(getattr(model, name))} cannot be used here: {remedy}.")


def _require_usable_device(model: Golem, solver: Order | Adam | LBFGS) -> None:
    """Check that the solver can work on the device and with the numbers that are set."""
    if model.device != "auto":
        Placement(model.device)  # raises for a device that does not exist
    on_device = isinstance(solver, Adam) or (isinstance(solver, Order) and model.noise == "ev")
    if (model.device not in ("cpu", "auto") or model.dtype != "float64") and not on_device:
        name = "dtype" if model.device in ("cpu", "auto") else "device"
        raise ValueError(
            f"{name}={shown(getattr(model, name))} needs a table of numbers and solver='adam', or solver='order' with "
            "noise='ev'. Other solvers run on the CPU in float64."
        )
    if isinstance(solver, Adam) and solver.accelerate:
        if not model.device.startswith("cuda"):
            raise ValueError(f"accelerate=True needs device='cuda'; got device={model.device!r}.")
        if model.dtype != "float64":
            raise ValueError(f"accelerate=True needs dtype='float64'; got dtype={model.dtype!r}.")


def edge_penalty(model: Golem, solver: Order | Adam | LBFGS) -> L0:
    """Return the penalty per edge of the order solver; for other solvers the default, for comparison."""
    counted = isinstance(solver, Order) and model.lambda_sparsity is not None
    return L0(plain_number(model.lambda_sparsity)) if counted else L0()


def is_counted(model: Golem) -> bool:
    """Return whether the solver counts edges."""
    return model.solver == "order" or isinstance(model.solver, Order)


def plain_number(value: Any) -> Any:
    """Return a NumPy number as a Python number, because products of the latter do not overflow."""
    return value.item() if isinstance(value, np.generic) else value


def start_matrix(model: Golem, d: int) -> Matrix | None:
    """Return the weights to start from, or None if GOLEM-EV provides them."""
    init = ("zeros" if model.noise == "ev" else "ev") if model.init is None else model.init
    if isinstance(init, str):
        if init not in STARTS:
            raise ValueError(f"init must be one of {', '.join(STARTS)} or a (d, d) array; got {init!r}.")
        return None if init == "ev" else np.zeros((d, d))
    start = np.array(init, dtype=float)
    require_shape(start, d, "the start matrix")
    if not np.isfinite(start).all():
        raise ValueError("The start matrix has NaN or infinite entries.")
    if np.diagonal(start).any():
        raise ValueError("The start matrix has nonzero diagonal entries. Set them to zero.")
    if np.linalg.slogdet(np.eye(d) - start)[0] == 0:
        raise ValueError("The score is infinite at the start matrix, because I - B is singular. Choose another start.")
    return start


def checkpoint_path(model: Golem, solver: Order | Adam | LBFGS, checkpoint: str | Path | None) -> Path | None:
    """Return the path of a checkpoint; raise a ValueError if the solver cannot continue from one."""
    if checkpoint is None:
        return None
    if not isinstance(solver, Adam):
        name = "lbfgs" if isinstance(solver, LBFGS) else "order"
        raise ValueError(
            f"A checkpoint needs a table of numbers and solver='adam'; solver='{name}' cannot continue a solve that "
            "was stopped."
        )
    if solver.batch_size is not None and isinstance(model.random_state, np.random.Generator):
        raise ValueError("A checkpoint of minibatches needs a whole number as random_state, not a Generator.")
    return Path(checkpoint)


def placement_for(model: Golem, solver: Order | Adam | LBFGS, d: int) -> Placement:
    """Return the device; "auto" is a GPU if it is faster."""
    name = "adam" if isinstance(solver, Adam) else "order" if isinstance(solver, Order) else "lbfgs"
    if model.device != "auto":
        return Placement(model.device, model.dtype)
    usable = name == "adam" or (name == "order" and model.noise == "ev")
    faster = usable and d >= GPU_FROM[name] and gpu_is_there()
    return Placement("cuda" if faster else "cpu", model.dtype)


def named(table: dict[str, Any], name: str, parameter: str) -> Any:
    """Return the object with a name; raise a ValueError that lists the names if it is unknown."""
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"{parameter} must be one of {', '.join(map(repr, table))}; got {name!r}.")
    return table[name]
