"""What a user of the studio can change: `State`, and the edits that lead from one state to the next.

States are immutable, and an edit is plain data, so that a journal of edits gives the same state again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from golem.data.knowledge import Knowledge, NamedKnowledge
from golem.data.reading import Reading
from golem.data.series import split_lag
from golem.runtime.messages import shown

ANY_TIME = -1
Rule = Literal["require", "forbid", "separate", "free"]
Lags = Annotated[int, msgspec.Meta(ge=0, le=100)] | Literal["auto"] | None


class Column(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a column is used; `kind` is None if golem chooses, `missing` are values that mean "missing"."""

    kind: Literal["number", "category"] | None = None
    log: bool = False
    missing: tuple[str, ...] = ()
    drop: bool = False


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What is known and how the table is read.

    `tiers` are names of groups in the order of time. `places` has the number of the tier of a column, or -1 if its
    time is not known; all other columns are in the tier `home`.
    """

    tiers: tuple[str, ...] = ("First", "Later", "Outcome")
    home: int = 1
    places: dict[str, int] = {}
    forbidden: tuple[tuple[str, str], ...] = ()
    required: tuple[tuple[str, str], ...] = ()
    columns: dict[str, Column] = {}
    environment: str | None = None
    targets: dict[str, tuple[str, ...]] | None = None
    lags: Lags = None
    time: str | None = None
    unit: str | None = None

    def order(self) -> dict[str, Any]:
        """Return the settings of `Golem` about the order of the rows."""
        return {name: value for name in ("lags", "time", "unit") if (value := getattr(self, name)) is not None}

    def knowledge(self, names: Sequence[str]) -> NamedKnowledge | None:
        """Return what is known about columns of these names; None if nothing is known."""
        used = set(names)
        tiers: list[list[str]] = [[] for _ in self.tiers]
        for name in names:
            if (place := self.places.get(name, self.home)) != ANY_TIME:
                tiers[place].append(name)
        filled = [tier for tier in tiers if tier]
        forbidden, required = (
            [edge for edge in edges if all(self._variable(name, used) in used for name in edge)]
            for edges in (self.forbidden, self.required)
        )
        known = Knowledge.named(forbidden, required, filled if len(filled) > 1 else ())
        return None if known.is_empty else known

    def _variable(self, name: str, names: Collection[str]) -> str:
        """Return the column of a name, which may be that of a lag, such as x@1."""
        return name if self.lags is None or name in names else split_lag(name, names)[0]

    def reading(self) -> Reading:
        """Return how the table is read."""
        columns = self.columns.items()
        return Reading(
            drop=[name for name, one in columns if one.drop],
            na=[f"{name}={code}" for name, one in columns for code in one.missing],
            categorical=[name for name, one in columns if one.kind == "category" and not one.drop],
            numeric=[name for name, one in columns if one.kind == "number" and not one.drop],
            log=[name for name, one in columns if one.log and not one.drop],
            environment=self.environment,
        )


class _Edit(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    """An edit; `kind` names it in JSON."""

    def apply(self, state: State, names: frozenset[str]) -> State:
        """Return the next state of a table with columns of these names; raise a ValueError if there is none."""
        raise NotImplementedError

    def sentence(self) -> str:
        """Return the edit in words."""
        raise NotImplementedError


class Place(_Edit, frozen=True, tag="place"):
    """Put columns into a tier; -1 if their time is not known."""

    columns: tuple[str, ...]
    tier: int

    def apply(self, state: State, names: frozenset[str]) -> State:
        """Move the columns."""
        _require(self.columns, names)
        if not ANY_TIME <= self.tier < len(state.tiers):
            raise ValueError(f"There is no tier {self.tier + 1}; there are {len(state.tiers)}.")
        kept = {name: place for name, place in state.places.items() if name not in self.columns}
        moved = {} if self.tier == state.home else dict.fromkeys(self.columns, self.tier)
        return _checked(msgspec.structs.replace(state, places=kept | moved), names)

    def sentence(self) -> str:
        """Name columns and tier."""
        where = "no tier" if self.tier == ANY_TIME else f"tier {self.tier + 1}"
        return f"Put {_listed(self.columns)} into {where}"


class AddTier(_Edit, frozen=True, tag="add-tier"):
    """Add a tier before the one with number `at`."""

    name: str
    at: int

    def apply(self, state: State, names: frozenset[str]) -> State:
        """Insert the tier, and shift the later ones."""
        if not 0 <= self.at <= len(state.tiers) or not self.name.strip() or len(state.tiers) >= 50:
            raise ValueError("A tier needs a name and a place among the others; there can be 50.")
        tiers = (*state.tiers[: self.at], self.name.strip(), *state.tiers[self.at :])
        places = {name: place + (place >= self.at) for name, place in state.places.items()}
        home = state.home + (state.home >= self.at)
        return msgspec.structs.replace(state, tiers=tiers, places=places, home=home)

    def sentence(self) -> str:
        """Name the tier."""
        return f"Added the tier {shown(self.name)}"


class RemoveTier(_Edit, frozen=True, tag="remove-tier"):
    """Remove a tier; its columns return to the tier where all columns begin."""

    at: int

    def apply(self, state: State, names: frozenset[str]) -> State:
        """Remove the tier, and shift the later ones."""
        if not 0 <= self.at < len(state.tiers) or self.at == state.home:
            raise ValueError("This tier cannot be removed: columns without another tier are in it.")
        tiers = (*state.tiers[: self.at], *state.tiers[self.at + 1 :])
        left = {name: place for name, place in state.places.items() if place != self.at}
        places = {name: place - (place > self.at) for name, place in left.items()}
        home = state.home - (state.home > self.at)
        return _checked(msgspec.structs.replace(state, tiers=tiers, places=places, home=home), names)

    def sentence(self) -> str:
        """Name the tier."""
        return f"Removed tier {self.at + 1}"


class Edge(_Edit, frozen=True, tag="edge"):
    """Say what is known about a pair: cause -> effect is required or forbidden, there is no edge, or nothing."""

    cause: str
    effect: str
    rule: Rule

    def apply(self, state: State, names: frozenset[str]) -> State:
        """Replace what was said about the pair."""
        _require([state._variable(name, names) for name in (self.cause, self.effect)], names)
        if self.cause == self.effect:
            raise ValueError("An edge needs two columns.")
        pair, edge = {self.cause, self.effect}, (self.cause, self.effect)
        forbidden = [one for one in state.forbidden if {*one} != pair]
        required = [one for one in state.required if {*one} != pair]
        forbidden += {"forbid": [edge], "separate": [edge, edge[::-1]]}.get(self.rule, [])
        required += [edge] if self.rule == "require" else []
        return _checked(msgspec.structs.replace(state, forbidden=tuple(forbidden), required=tuple(required)), names)

    def sentence(self) -> str:
        """Name the edge and the rule."""
        arrow = f"{shown(self.cause)} -> {shown(self.effect)}"
        return {
            "require": f"Required {arrow}",
            "forbid": f"Forbade {arrow}",
            "separate": f"Forbade an edge between {shown(self.cause)} and {shown(self.effect)}",
            "free": f"Removed the rules about {shown(self.cause)} and {shown(self.effect)}",
        }[self.rule]


class ColumnEdit(_Edit, frozen=True, tag="column"):
    """Change how a column is used."""

    name: str
    column: Column

    def apply(self, state: State, names: frozenset[str]) -> State:
        """Replace how it was used."""
        _require((self.name,), names)
        if any("," in code or not code.strip() for code in self.column.missing):
            raise ValueError("A value that means missing must not be empty or contain a comma.")
        columns = {**state.columns, self.name: self.column}
        if self.column == Column():
            del columns[self.name]
        return msgspec.structs.replace(state, columns=columns)

    def sentence(self) -> str:
        """Name the column and its use."""
        one = self.column
        used = [f"is a {one.kind}"] if one.kind else []
        used += ["in logarithms"] if one.log else []
        used += [f"{_listed(one.missing)} means missing"] if one.missing else []
        return f"Column {shown(self.name)}: {'dropped' if one.drop else ', '.join(used) or 'as it was'}"


class Experiments(_Edit, frozen=True, tag="experiments"):
    """Name the column that says which experiment a row comes from, and the columns that each experiment changed."""

    environment: str | None
    targets: dict[str, tuple[str, ...]] | None = None

    def apply(self, state: State, names: frozenset[str]) -> State:
        """Replace the experiments."""
        _require(() if self.environment is None else (self.environment,), names)
        for columns in (self.targets or {}).values():
            _require(columns, names)
        return msgspec.structs.replace(state, environment=self.environment, targets=self.targets)

    def sentence(self) -> str:
        """Name the column."""
        return "No experiments" if self.environment is None else f"Experiments are in {shown(self.environment)}"


class Order(_Edit, frozen=True, tag="order"):
    """Say that rows follow each other: how many steps back causes may lie, and the columns with time and unit."""

    lags: Lags = None
    time: str | None = None
    unit: str | None = None

    def apply(self, state: State, names: frozenset[str]) -> State:
        """Replace the order; rules about lags that are no longer there are dropped."""
        _require([name for name in (self.time, self.unit) if name is not None], names)
        forbidden, required = (
            tuple(edge for edge in edges if self.lags is not None or names.issuperset(edge))
            for edges in (state.forbidden, state.required)
        )
        order = {"lags": self.lags, "time": self.time, "unit": self.unit}
        return msgspec.structs.replace(state, forbidden=forbidden, required=required, **order)

    def sentence(self) -> str:
        """Say the order."""
        told = [] if self.lags is None else [f"lags: {self.lags}"]
        told += [f"{what}: {shown(name)}" for what, name in (("time", self.time), ("unit", self.unit)) if name]
        return f"Rows in time ({', '.join(told)})" if told else "Rows without an order"


AnyEdit = Place | AddTier | RemoveTier | Edge | ColumnEdit | Experiments | Order


def rules_about(cause: str, effect: str) -> dict[str, tuple[Rule, tuple[str, str]]]:
    """Return the rules about a pair, with names for the page."""
    there, back = (cause, effect), (effect, cause)
    return {
        "separate": ("separate", there),
        "require there": ("require", there),
        "require back": ("require", back),
        "forbid there": ("forbid", there),
        "forbid back": ("forbid", back),
    }


def _require(columns: Sequence[str], names: frozenset[str]) -> None:
    """Raise a ValueError if there is no such column."""
    if unknown := [name for name in columns if name not in names]:
        raise ValueError(f"There is no column {shown(unknown[0])}.")


def _checked(state: State, names: frozenset[str]) -> State:
    """Return a state; raise a ValueError if its knowledge contradicts itself."""
    state.knowledge(sorted(names))
    return state


def _listed(names: Sequence[str]) -> str:
    """Return names in quotes."""
    return ", ".join(map(shown, names))


def command_words(path: str, state: State) -> list[str]:
    """Return the words of the command that learns the graph of a state; its knowledge is in knowledge.json.

    Examples
    --------
    >>> command_words("data.csv", State(columns={"a": Column(log=True)}))
    ['golem', 'fit', 'data.csv', '--log', 'a', '-o', 'out']
    """
    reading, words = state.reading(), ["golem", "fit", path]
    for name in ("drop", "categorical", "numeric", "log"):
        if names := getattr(reading, name):
            text = io.StringIO()
            csv.writer(text, lineterminator="").writerow(names)
            words += [f"--{name}", text.getvalue()]
    words += [word for code in reading.na for word in ("--na", code)]
    words += [] if state.environment is None else ["--environment", state.environment]
    words += ["--targets", "targets.json"] if state.targets else []
    words += [word for name, value in state.order().items() for word in (f"--{name}", str(value))]
    words += ["--knowledge", "knowledge.json"] if state.places or state.forbidden or state.required else []
    return [*words, "-o", "out"]


def script_text(path: str, state: State, knowledge: Mapping[str, Any] | None) -> str:
    r"""Return the Python script that learns the graph of a state.

    Examples
    --------
    >>> print(script_text("data.csv", State(), {"required": [["a", "b"]]}))
    from golem import Golem, fit_file
    <BLANKLINE>
    model = Golem(knowledge={'required': [['a', 'b']]})
    result = fit_file('data.csv', 'out', model, missing='auto', strict=False)
    print(*result.model.edges_, sep="\n")
    <BLANKLINE>
    """
    reading = state.reading()
    settings = ({} if knowledge is None else {"knowledge": dict(knowledge)}) | state.order()
    names = ("drop", "na", "categorical", "numeric", "log", "environment")
    how = {name: value for name in names if (value := getattr(reading, name))}
    how |= {"targets": {label: [*own] for label, own in state.targets.items()}} if state.targets else {}
    how |= {"missing": "auto", "strict": False}
    options = "".join(f", {name}={value!r}" for name, value in how.items())
    return (
        "from golem import Golem, fit_file\n\n"
        f"model = Golem({', '.join(f'{name}={value!r}' for name, value in settings.items())})\n"
        f"result = fit_file({path!r}, 'out', model{options})\n"
        'print(*result.model.edges_, sep="\\n")\n'
    )
