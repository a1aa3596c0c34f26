"""How remedies are written: as code for pandas and other libraries, as parameters for files, as options in a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from golem.runtime.messages import quoted, shown, typed_names

_COLUMN_OF_ARRAY = re.compile(r"x(\d+)")
# The parameters that are options of the command line; messages about other parameters are for users of Python.
OPTIONS = frozenset(
    "bootstrap categorical certificate columns covariance cpdag device drop drop_dependent effort environment "  # noqa: SIM905
    "environments evidence header intercepts intervention lags lambda_dag lambda_sparsity levels log max_iter missing "
    "na noise noise_std numeric output random_state robust rows scatter scheduler score_function select shape solver "
    "spreadsheet statistics strict targets threshold time time_limit unit weight_scale".split()
)
_OTHER_NAMES = {"random_state": "seed", "score_function": "score"}


class Dialect:
    """How remedies are written for a DataFrame X of pandas; other dialects differ in some of them.

    Examples
    --------
    >>> PANDAS.drop(["age", "sex"]), SHELL.drop(["age", "sex"])
    ("X.drop(columns=['age', 'sex'])", '--drop age,sex')
    >>> print(PAGE.declare(["sex"]))
    "category" ('sex')
    >>> PANDAS.mark_missing({"age": ["-9"], "sex": ["unknown"]})
    "X.replace({'age': {-9: np.nan}, 'sex': {'unknown': np.nan}})"
    """

    frame = "pd.DataFrame(X)"

    def drop(self, names: list[str]) -> str:
        """Return how to drop columns."""
        return f"X.drop(columns={names!r})"

    def declare(self, names: list[str]) -> str:
        """Return how to turn columns into categories."""
        return f"X.astype({dict.fromkeys(names, 'category')!r})"

    def mark_missing(self, codes: Mapping[str, Sequence[str]]) -> str:
        """Return how to turn some values of columns into missing ones."""
        replaced = {name: ", ".join(f"{_literal(code)}: np.nan" for code in own) for name, own in codes.items()}
        return "X.replace({" + ", ".join(f"{name!r}: {{{own}}}" for name, own in replaced.items()) + "})"

    def set(self, name: str, value: Any, in_memory: str) -> str:
        """Return how to set a parameter."""
        return in_memory or _assignment(name, value)

    def parameter(self, name: str) -> str:
        """Return the name of a parameter."""
        return name

    def treat(self, missing: str, drop: list[str]) -> str:
        """Return how to fit with a treatment of missing values, without some columns."""
        return f"Golem({_assignment('missing', missing)}).fit({self.drop(drop) if drop else 'X'})"

    def keep_one(self, copies: int | None) -> str:
        """Return how to keep one of several copies of each row."""
        if copies is None:
            return f"{self.frame}.drop_duplicates()"
        return f"{self.frame}[lambda t: t.groupby(list(t), dropna=False, observed=True).cumcount() % {copies} == 0]"


class _Polars(Dialect):
    """For a table of Polars."""

    frame = "X.to_pandas()"

    def drop(self, names: list[str]) -> str:
        return f"X.drop({names!r})"

    def declare(self, names: list[str]) -> str:
        return f"X.with_columns(pl.col({names!r}).cast(pl.String).cast(pl.Categorical))"

    def mark_missing(self, codes: Mapping[str, Sequence[str]]) -> str:
        replaced = {name: "".join(f".replace({_literal(code)}, None)" for code in own) for name, own in codes.items()}
        return f"X.with_columns({', '.join(f'pl.col({name!r}){own}' for name, own in replaced.items())})"


class _PyArrow(Dialect):
    """For a table of PyArrow."""

    frame = "X.to_pandas()"

    def drop(self, names: list[str]) -> str:
        return f"X.drop_columns({names!r})"

    def declare(self, names: list[str]) -> str:
        return self._with({name: f"X[{name!r}].cast('string').dictionary_encode()" for name in names})

    def mark_missing(self, codes: Mapping[str, Sequence[str]]) -> str:
        changed = {}
        for name, own in codes.items():
            changed[name] = f"X[{name!r}]"
            for code in own:
                changed[name] = f"pc.if_else(pc.equal(X[{name!r}], {_literal(code)}), None, {changed[name]})"
        return self._with(changed)

    def _with(self, changed: Mapping[str, str]) -> str:
        """Return how to replace columns by others."""
        return "X" + "".join(
            f".set_column(X.column_names.index({name!r}), {name!r}, {column})" for name, column in changed.items()
        )


class _NumPy(Dialect):
    """For an array, whose columns are x0, x1... unless they have names from elsewhere, such as a fitted model."""

    def drop(self, names: list[str]) -> str:
        columns = [_COLUMN_OF_ARRAY.fullmatch(name) for name in names]
        found = [int(column[1]) for column in columns if column]
        return f"np.delete(X, {found}, axis=1)" if len(found) == len(names) else super().drop(names)


class _Files(Dialect):
    """For functions that read tables from files: parameters."""

    def drop(self, names: list[str]) -> str:
        return self.set("drop", names)

    def declare(self, names: list[str]) -> str:
        return self.set("categorical", names)

    def mark_missing(self, codes: Mapping[str, Sequence[str]]) -> str:
        return self.set("na", [f"{name}={code}" for name, own in codes.items() for code in own])

    def set(self, name: str, value: Any, in_memory: str = "") -> str:
        return _assignment(name, value)

    def treat(self, missing: str, drop: list[str]) -> str:
        return " ".join([self.set("missing", missing), *([self.drop(drop)] if drop else [])])


class _Shell(_Files):
    """For the command line: options."""

    def set(self, name: str, value: Any, in_memory: str = "") -> str:
        if name not in OPTIONS:
            return _assignment(name, value)
        option = "--environment" if name == "environments" and value is not True else self.parameter(name)
        if value is False:
            return f"--no-{option.removeprefix('--')}"
        if value is True or value in (..., [...]):
            return option
        if name == "na":
            return " ".join(f"{option} {shlex.quote(text)}" for text in value)
        if isinstance(value, list | tuple):
            return f"{option} {typed_names(value)}"
        return f"{option} {shlex.quote(value) if isinstance(value, str) else shown(value)}"

    def parameter(self, name: str) -> str:
        return f"--{_OTHER_NAMES.get(name, name).replace('_', '-')}" if name in OPTIONS else name

    def keep_one(self, copies: int | None) -> str:
        chosen = "!seen[$0]++" if copies is None else f"seen[$0]++ % {copies} == 0"
        return f"awk '{chosen}' FILE > unique.csv"


# What a column offers on the page of the studio.
_CONTROLS = {
    "categorical": "category", "numeric": "number", "na": "means missing", "log": "Take the logarithm",
    "drop": "Drop this column",
}  # fmt: skip


class _Page(_Shell):
    """For the page of the studio: what to choose at a column; for the rest, options of the command line."""

    def set(self, name: str, value: Any, in_memory: str = "") -> str:
        if name not in _CONTROLS or not isinstance(value, list | tuple):
            return super().set(name, value)
        return f'"{_CONTROLS[name]}"' + ("" if value == [...] else f" ({quoted(value)})")


PANDAS, FILES, SHELL, PAGE = Dialect(), _Files(), _Shell(), _Page()
_LIBRARIES: dict[str, Dialect] = {"polars": _Polars(), "pyarrow": _PyArrow(), "numpy": _NumPy()}


def dialect_of(table: Any) -> Dialect:
    """Return the dialect for a table in memory, or for the first of several tables."""
    one = next(iter(table.values()), None) if isinstance(table, Mapping) else table
    return _LIBRARIES.get(type(one).__module__.partition(".")[0], PANDAS)


def _assignment(name: str, value: Any) -> str:
    """Return a parameter with its value."""
    if value in (..., [...]):
        return f"{name}={'[...]' if value == [...] else '...'}"
    return f"{name}={list(value)!r}" if isinstance(value, list | tuple) else f"{name}={shown(value)}"


def _literal(code: str) -> str:
    """Return a number as it is, and a text in quotes."""
    try:
        float(code)
    except ValueError:
        return repr(code)
    return code
