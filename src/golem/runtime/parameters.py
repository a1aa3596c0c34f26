"""Unknown parameters of functions and estimators: errors that suggest another name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import ParamSpec, TypeVar

from golem.runtime.messages import nearest, suggestion

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def require_parameters(
    owner: str, given: Iterable[str], known: Sequence[str], of_model: Sequence[str] = (), model: str = ""
) -> None:
    """Raise a TypeError for a parameter that a function or class does not have.

    It suggests another name, or the parameter of the model that the function takes.

    Examples
    --------
    >>> require_parameters("Golem", ["score"], ["noise", "score_function"])
    Traceback (most recent call last):
    TypeError: Golem has no parameter 'score'. Did you mean 'score_function'?
    """
    for name in given:
        if name in known:
            continue
        own = name if name in of_model else None if nearest(name, known) else nearest(name, of_model)
        hint = f"Use model={model}({own}=...)." if own else suggestion(name, known, "parameters")
        raise TypeError(f"{owner} has no parameter {name!r}. {hint}")


def suggests_parameters(model: type) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Let a function with a parameter `model` refuse unknown parameters, and suggest those of this class of models."""

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        known = list(inspect.signature(function).parameters)
        of_model = list(inspect.signature(vars(model)["__init__"]).parameters)[1:]

        @functools.wraps(function)
        def checked(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
            require_parameters(function.__name__, options, known, of_model, model.__name__)
            return function(*args, **options)

        return checked

    return decorate
