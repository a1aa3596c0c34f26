"""Names of variables and of parameters: check them, generate them, find them."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

from golem.runtime.messages import nearest, quoted, shortened, suggestion
from golem.runtime.problems import ProblemError, Set

_LONGEST = 1000
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def column_names(names: Sequence[Any] | None, d: int) -> tuple[str, ...]:
    """Return the names of d columns, by default `x0, x1, ...`; refuse missing, empty and repeated names."""
    if names is None:
        return tuple(f"x{j}" for j in range(d))
    names = tuple(str(name) for name in names)
    if len(names) != d:
        raise ValueError(f"There are {len(names)} names for {d} columns. Give one name per column.")
    if empty := [str(j + 1) for j, name in enumerate(names) if not name.strip()]:
        which, it = ("Column", "it") if len(empty) == 1 else ("Columns", "them")
        has = "has an empty name" if len(empty) == 1 else "have empty names"
        raise ProblemError(
            f"{which} {', '.join(empty)} {has}. Name {it}, or choose the columns to use (", Set("columns", [...]), ")."
        )
    if long := [f"{j + 1} ({len(name)})" for j, name in enumerate(names) if len(name) > _LONGEST]:
        raise ValueError(f"Names have at most {_LONGEST} characters. Shorten those of column {shortened(long)}.")
    if repeated := sorted(name for name, count in Counter(names).items() if count > 1):
        raise ValueError(f"Column names must be unique; repeated: {quoted(repeated)}. Rename them.")
    return names


def positions(names: Sequence[str], among: Sequence[str]) -> list[int]:
    """Return the positions of names in a list of names.

    Examples
    --------
    >>> positions(["c", "a"], ["a", "b", "c"])
    [2, 0]
    """
    place = {name: position for position, name in enumerate(among)}
    return [place[name] for name in names]


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


def suggests_parameters(model: type) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Let a function with a parameter `model` refuse unknown parameters, and suggest those of this class of models."""

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        known = list(inspect.signature(function).parameters)
        of_model = list(inspect.signature(vars(model)["__init__"]).parameters)[1:]

        @functools.wraps(function)
        def checked(*args: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
            require_parameters(function.__name__, options, known, of_model, model.__name__)
            return function(*args, **options)

        return checked

    return decorate
