"""The settings document: parameters of an estimator as JSON and back."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from golem.data.knowledge import Knowledge, NamedKnowledge
from golem.estimator.golem import Golem
from golem.runtime.devices import Placement
from golem.runtime.messages import quoted
from golem.runtime.names import column_names
from golem.runtime.version import __version__
from golem.score.acyclicity import Expm, LogDet, Polynomial
from golem.score.sparsity import L0
from golem.solvers import LBFGS, Adam, Order

# Types that a settings document may contain; anything else is refused.
_TYPES: dict[str, Any] = {kind.__name__: kind for kind in (Order, Adam, LBFGS, Expm, Polynomial, LogDet, L0, Placement)}


def settings(model: Golem) -> dict[str, Any]:
    """Return the parameters of an estimator as JSON can hold them; `model_from` makes an estimator of them."""
    values = {name: plain(value) for name, value in model.get_params().items() if name != "callback"}
    return values | {"knowledge": knowledge_by_name(model)}


def knowledge_by_name(model: Golem) -> dict[str, Any] | None:
    """Return an estimator's knowledge by the names of the columns, those of an array before a fit."""
    known = model.knowledge
    if isinstance(known, Knowledge):
        d = len(known.required)
        known = known.by_name(model.moments_.names if hasattr(model, "moments_") else column_names(None, d))
    return known.document() if isinstance(known, NamedKnowledge) else None


def model_from(values: Mapping[str, Any]) -> Golem:
    """Make an estimator of its settings.

    Raises
    ------
    ValueError
        If they hold something that this version does not know, or that no file can hold.

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
        raise ValueError(f"settings {quoted(unknown)} are unknown to golem {__version__}")
    parameters = {name: _restored(value) for name, value in values.items()}
    if isinstance(parameters.get("random_state"), str):
        raise ValueError("the seed was a Generator, whose state is in no file: the run cannot be repeated")
    if isinstance(parameters.get("init"), list):
        parameters["init"] = np.array(parameters["init"])
    if parameters.get("knowledge") is not None:
        parameters["knowledge"] = Knowledge.named(**parameters["knowledge"])
    return Golem(**parameters)


def plain(value: Any) -> Any:
    """Turn a parameter into JSON: settings objects by name and fields, arrays and NumPy numbers as Python's."""
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
    fields = {name: _restored(item) for name, item in value.items() if name != "type"}
    if value["type"] not in _TYPES:
        raise ValueError(f"the settings hold a {value['type']}, which golem {__version__} cannot make")
    try:
        return _TYPES[value["type"]](**fields)
    except TypeError as error:
        raise ValueError(f"the settings hold a {value['type']} of another version of golem ({error})") from None


def versions() -> dict[str, str]:
    """Return the versions of what makes the numbers."""
    import scipy

    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
