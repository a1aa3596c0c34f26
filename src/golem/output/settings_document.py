"""The settings document: the parameters of an estimator as JSON, and back."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from golem.data.knowledge import Knowledge, NamedKnowledge
from golem.estimator.golem import Golem
from golem.gradient.adam import Adam
from golem.gradient.lbfgs import LBFGS
from golem.runtime.devices import Placement
from golem.runtime.messages import quoted
from golem.runtime.names import column_names
from golem.runtime.version import __version__
from golem.score.acyclicity import Expm, LogDet, Polynomial
from golem.score.sparsity import L0
from golem.search.solver import Order

# Types that a settings document may contain.
_TYPES: dict[str, Any] = {kind.__name__: kind for kind in (Order, Adam, LBFGS, Expm, Polynomial, LogDet, L0, Placement)}


def settings(model: Golem) -> dict[str, Any]:
    """Return the parameters of an estimator for JSON; `model_from` is the inverse."""
    known = model.knowledge
    if isinstance(known, Knowledge):
        unnamed = column_names(None, len(known.required))
        known = known.by_name(model.moments_.variables if hasattr(model, "moments_") else unnamed)
    values = {name: plain(value) for name, value in model.get_params().items() if name != "callback"}
    return values | {"knowledge": known.document() if isinstance(known, NamedKnowledge) else None}


def model_from(values: Mapping[str, Any]) -> Golem:
    """Return an estimator with the given settings.

    Raises
    ------
    ValueError
        If a setting is unknown to this version, or cannot be restored from a file.

    Examples
    --------
    >>> import json
    >>> model = Golem("ev", Adam(max_iter=100), knowledge=Knowledge.named(required=[("a", "b")]))
    >>> model_from(json.loads(json.dumps(settings(model)))).get_params() == model.get_params()
    True
    """
    known = Golem().get_params()
    unknown = [name for name in values if name not in known or name == "callback"]
    if unknown:
        raise ValueError(f"Unknown settings {quoted(unknown)}: golem {__version__} does not have them.")
    parameters = {name: _restored(value) for name, value in values.items()}
    if isinstance(parameters.get("random_state"), str):
        raise ValueError("The run cannot be repeated: its seed was a Generator, whose state is not recorded.")
    if isinstance(parameters.get("init"), list):
        parameters["init"] = np.array(parameters["init"])
        if parameters["init"].dtype.kind not in "biuf":
            raise ValueError("The start 'init' must contain only numbers.")
    if parameters.get("knowledge") is not None:
        parameters["knowledge"] = Knowledge.named(**parameters["knowledge"])
    return Golem(**parameters)


def plain(value: Any) -> Any:
    """Convert a parameter to JSON: dataclasses by name and fields, arrays and NumPy numbers to plain Python."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__} | fields
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value if isinstance(value, str | int | float | bool | list | type(None)) else repr(value)


def _restored(value: Any) -> Any:
    """Undo `plain` for settings objects."""
    if not isinstance(value, dict) or "type" not in value:
        return value
    name = str(value["type"])
    if name not in _TYPES:
        raise ValueError(f"Unknown type {name!r} in the settings: golem {__version__} does not have it.")
    unknown = value.keys() - {"type", *(field.name for field in dataclasses.fields(_TYPES[name]))}
    try:
        if unknown:
            raise msgspec.ValidationError(f"unknown {quoted(sorted(unknown))}")
        return msgspec.convert(value, _TYPES[name])
    except msgspec.ValidationError as error:
        raise ValueError(f"The settings of {name!r} are damaged or from another version of golem ({error}).") from None


def versions() -> dict[str, str]:
    """Return the versions of Python, NumPy and SciPy."""
    import scipy

    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
