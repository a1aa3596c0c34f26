"""Prior knowledge: forbidden edges, required edges and tiers, by name or as masks."""

from __future__ import annotations

import functools
import json
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from golem.data.column_patterns import matches
from golem.data.files.batches import naming
from golem.data.series import Series
from golem.data.tetrad_knowledge import BEGINS, parse_tetrad_knowledge
from golem.graphs.dag import cycle_text, find_cycle
from golem.runtime.messages import quoted, shown, suggestion
from golem.runtime.names import positions
from golem.runtime.types import BoolMatrix

_KEYS = ("forbidden", "required", "tiers")
# In place of tiers: columns that no other causes, and columns that cause no other.
_ORDER_KEYS = ("exogenous", "outcome")
_EXAMPLE = '{"forbidden": [["A", "B"]], "required": [], "tiers": [["A"], ["B", "C"]]}'


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Masks over the edges of a graph on d nodes; with names instead, the same as `Knowledge.named`.

    Parameters
    ----------
    forbidden : ndarray of shape (d, d), bool
        `forbidden[i, j]`: the graph must not have the edge i -> j.
    required : ndarray of shape (d, d), bool
        `required[i, j]`: the graph must have the edge i -> j. None by default.
    tiers : sequence of sequence of str
        Groups of names in order of time; then `forbidden` and `required` are pairs of names.

    Raises
    ------
    ValueError
        If an edge is both required and forbidden, or the required edges form a cycle.

    Examples
    --------
    >>> known = Knowledge.of(3, required=[(0, 2)], tiers=[[0, 1], [2]])
    >>> known.forbidden.astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [1, 1, 1]])
    >>> Knowledge(tiers=[["age", "sex"], ["*"], ["income"]]).resolve(["income", "job", "sex", "age"]).forbidden[0, 1]
    np.True_
    """

    forbidden: BoolMatrix
    required: BoolMatrix = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    tiers: InitVar[Sequence[Sequence[str]]] = ()

    def __new__(cls, forbidden: Any = (), required: Any = (), tiers: Any = ()) -> Any:
        """Return knowledge by name if names are given."""
        if tiers or any(isinstance(edges, list | tuple) and _are_named(edges) for edges in (forbidden, required)):
            return cls.named(forbidden, required, tiers)
        return super().__new__(cls)

    def __post_init__(self, tiers: Any) -> None:
        if not np.size(self.required):
            object.__setattr__(self, "required", np.zeros(np.shape(self.forbidden), dtype=bool))
        for name in ("forbidden", "required"):
            given = np.asarray(getattr(self, name))
            if given.dtype != bool and not np.isin(given, (0, 1)).all():
                raise ValueError(f"The mask of {name} edges must contain only true and false, or 1 and 0.")
            object.__setattr__(self, name, given.astype(bool, copy=False))
        d = len(self.forbidden) if self.forbidden.ndim else 0
        if not self.forbidden.shape == self.required.shape == (d, d):
            shapes = f"{self.forbidden.shape} and {self.required.shape}"
            raise ValueError(f"Knowledge masks must have the same square shape; got {shapes}.")
        both = np.argwhere(self.forbidden & self.required)
        if len(both):
            i, j = both[0]
            raise ValueError(f"The edge {i} -> {j} is both required and forbidden. Remove one of the two.")
        _require_acyclic(self.required)

    @classmethod
    def of(
        cls,
        d: int,
        forbidden: Iterable[tuple[int, int]] = (),
        required: Iterable[tuple[int, int]] = (),
        tiers: Sequence[Sequence[int]] = (),
    ) -> Knowledge:
        """Build the masks from edges and tiers of node numbers.

        Edges from a later tier to an earlier one are forbidden; nodes without a tier are not restricted. Self-loops
        and the reverses of required edges are forbidden, too.
        """
        forbidden, required, tiers = list(forbidden), list(required), list(tiers)
        if not (forbidden or required or tiers):
            return _NoKnowledge(d)
        forbidden_mask, required_mask = np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
        for mask, edges in ((forbidden_mask, forbidden), (required_mask, required)):
            for i, j in edges:
                _require_nodes(d, i, j)
                mask[i, j] = True
        earlier: list[int] = []
        for tier in tiers:
            _require_nodes(d, *tier)
            forbidden_mask[np.ix_(tier, earlier)] = True
            earlier.extend(tier)
        if len(set(earlier)) < len(earlier):
            twice = next(node for node in earlier if earlier.count(node) > 1)
            raise ValueError(f"Node {twice} is listed twice in the tiers. List it once.")
        return cls(forbidden_mask | required_mask.T, required_mask)

    @classmethod
    def named(
        cls,
        forbidden: Iterable[Sequence[str]] = (),
        required: Iterable[Sequence[str]] = (),
        tiers: Iterable[Sequence[str]] = (),
    ) -> NamedKnowledge:
        """Return knowledge by column names; it is turned into masks when a model is fitted.

        Examples
        --------
        >>> known = Knowledge.named(required=[("age", "income")], tiers=[["age", "sex"], ["income"]])
        >>> known.resolve(["income", "age", "sex"]).required.astype(int)
        array([[0, 0, 0],
               [1, 0, 0],
               [0, 0, 0]])
        """
        forbidden, required = (
            dict.fromkeys(_name_lists(key, given)) for key, given in (("forbidden", forbidden), ("required", required))
        )
        return NamedKnowledge(tuple(forbidden), tuple(required), _name_lists("tiers", tiers))

    @classmethod
    def read(cls, path: str | Path) -> NamedKnowledge:
        """Read knowledge by column names from a JSON file, or from a knowledge file of Tetrad.

        Example: `{"forbidden": [["A", "B"]], "required": [], "tiers": [["A"], ["B", "C"]]}`; every key is optional.

        Raises
        ------
        ValueError
            If the file cannot be read, has another structure, or contradicts itself.
        """
        with naming(Path(path)):
            try:
                text = Path(path).read_text(encoding="utf-8-sig")
                if BEGINS.match(text):
                    return cls.named(**parse_tetrad_knowledge(text))
                content = json.loads(text)
            except UnicodeDecodeError:
                raise ValueError("The file is not text in UTF-8.") from None
            except RecursionError:
                raise ValueError(f"The lists of the file are nested too deeply. Example: {_EXAMPLE}.") from None
            except json.JSONDecodeError as error:
                raise ValueError(f"The file is not valid JSON ({error}). Example: {_EXAMPLE}.") from None
            if not isinstance(content, dict):
                got = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
                raise ValueError(
                    f"Expected a JSON object, got {got.get(type(content), 'a number')}. Example: {_EXAMPLE}."
                )
            return _of_mapping(content)

    def by_name(self, names: Sequence[str]) -> NamedKnowledge:
        """Return the same knowledge by the names of the nodes, without edges that are always forbidden."""
        listed = self.forbidden & ~np.eye(len(names), dtype=bool) & ~self.required.T
        edges = ([(names[i], names[j]) for i, j in np.argwhere(mask)] for mask in (listed, self.required))
        return Knowledge.named(*edges)

    @property
    def allowed(self) -> BoolMatrix:
        """Mask of the edges that are neither forbidden nor self-loops."""
        return ~self.forbidden & ~np.eye(len(self.forbidden), dtype=bool)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known except that there are no self-loops."""
        return not self.required.any() and np.array_equal(self.forbidden, np.eye(len(self.forbidden), dtype=bool))


class _NoKnowledge(Knowledge):
    """The masks of nothing known, made when they are first read: they take as much memory as d^2 / 8 numbers."""

    def __init__(self, d: int) -> None:
        vars(self).update(d=d)

    @functools.cached_property
    def forbidden(self) -> BoolMatrix:
        return np.eye(vars(self)["d"], dtype=bool)

    @functools.cached_property
    def required(self) -> BoolMatrix:
        return np.zeros_like(self.forbidden)

    @property
    def is_empty(self) -> bool:
        return True


@dataclass(frozen=True)
class NamedKnowledge:
    """Forbidden edges, required edges and tiers by name; see `Knowledge.named` and `Knowledge.read`.

    Parameters
    ----------
    forbidden, required : tuple of (str, str)
        Edges, (cause, effect).
    tiers : tuple of tuple of str
        Groups of names in order of time: no edge goes from a later to an earlier tier. Variables without a tier are
        not restricted. A pattern such as `T*` stands for all columns that match it and are not named; `*` for all.

    Raises
    ------
    ValueError
        If the knowledge contradicts itself.
    """

    forbidden: tuple[tuple[str, str], ...] = ()
    required: tuple[tuple[str, str], ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        tier_of: dict[str, int] = {}
        for number, tier in enumerate(self.tiers, start=1):
            for name in tier:
                if name in tier_of:
                    raise ValueError(
                        f"{shown(name)} is listed in tier {tier_of[name]} and in tier {number}. List it once."
                    )
                tier_of[name] = number
        forbidden = set(self.forbidden)
        for cause, effect in self.required:
            edge = f"The edge {shown(cause)} -> {shown(effect)} is required"
            if cause == effect:
                raise ValueError(f"{edge}, but self-loops are not possible. Remove it.")
            if (cause, effect) in forbidden:
                raise ValueError(f"{edge} and forbidden. Remove one of the two.")
            later, earlier = tier_of.get(cause, 0), tier_of.get(effect, len(self.tiers) + 1)
            if later > earlier:
                raise ValueError(
                    f"{edge}, but {shown(cause)} is in tier {later} and {shown(effect)} in the earlier tier {earlier}. "
                    "Remove the edge or change the tiers."
                )
        names = self.names
        required = np.zeros((len(names), len(names)), dtype=bool)
        if self.required:
            required[tuple(positions(ends, names) for ends in zip(*self.required, strict=True))] = True
        _require_acyclic(required, names)

    @property
    def names(self) -> tuple[str, ...]:
        """All names that occur, each once."""
        edges = (name for edge in self.forbidden + self.required for name in edge)
        return tuple(dict.fromkeys([*edges, *(name for tier in self.tiers for name in tier)]))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not self.names

    def joined(self, other: NamedKnowledge) -> NamedKnowledge:
        """Return the knowledge of both; raise a ValueError if they contradict each other or both have tiers."""
        if self.tiers and other.tiers:
            raise ValueError("Both sources of knowledge have tiers. Give all tiers in one of them.")
        return Knowledge.named(
            self.forbidden + other.forbidden, self.required + other.required, self.tiers or other.tiers
        )

    def without(self, names: Sequence[str]) -> NamedKnowledge:
        """Return the knowledge about the other names."""
        gone = set(names)
        forbidden, required = (
            tuple(edge for edge in edges if gone.isdisjoint(edge)) for edges in (self.forbidden, self.required)
        )
        tiers = tuple(tuple(name for name in tier if name not in gone) for tier in self.tiers)
        return NamedKnowledge(forbidden, required, tiers)

    def expanded(self, names: Sequence[str]) -> NamedKnowledge:
        """Return the knowledge with the columns of these names in place of the patterns in tiers."""
        columns, placed = set(names), {name for tier in self.tiers for name in tier}
        left = [name for name in names if name not in placed]
        tiers = []
        for tier in self.tiers:
            found: list[str] = []
            for item in tier:
                own = [item] if item in columns else [name for name in left if matches(item, name)]
                found += own or ([] if item == "*" else [item])  # `require_columns` refuses what is not a column
                left = [name for name in left if name not in own]
            tiers.append(tuple(found))
        return replace(self, tiers=tuple(tiers))

    def require_columns(self, names: Sequence[str]) -> None:
        """Raise a ValueError if names are not among the columns; it lists all of them."""
        columns = set(names)
        unknown = [name for name in self.expanded(names).names if name not in columns]
        if unknown:
            what = "is not a column" if len(unknown) == 1 else "are not columns"
            hint = suggestion(unknown[0], names, "columns")
            if len(unknown) > 1:
                hint = f"The columns are {quoted(names, 20)}."
            raise ValueError(f"The knowledge refers to {quoted(unknown, 20)}, which {what}. {hint}")

    def resolve(self, names: Sequence[str]) -> Knowledge:
        """Return masks for columns of these names; raise a ValueError if a name is not among them."""
        self.require_columns(names)
        where, known = {name: k for k, name in enumerate(names)}, self.expanded(names)
        groups: Any = ([[where[name] for name in group] for group in getattr(known, key)] for key in _KEYS)
        return Knowledge.of(len(names), *groups)

    def at_lags(self, series: Series) -> NamedKnowledge:
        """Return the knowledge about the columns of a series.

        Forbidden edges and tiers hold at every lag of the cause, required edges in the present, unless a lag is named.
        """
        columns, known = set(series.columns), self.expanded(series.variables)
        known.require_columns(series.columns)
        forbidden = list(known.forbidden)
        steps = range(1, series.lags + 1)
        variables = set(series.variables)
        for cause, effect in known.forbidden:
            if cause in variables and effect in variables:
                forbidden += [(f"{cause}@{lag}", effect) for lag in steps]
        later = [name for tier in known.tiers for name in tier]
        if lagged := [name for name in later if name not in variables and name in columns]:
            raise ValueError(f"Tiers are about variables, not about a lag such as {shown(lagged[0])}. Forbid edges.")
        for number, tier in enumerate(known.tiers):
            earlier = [name for one in known.tiers[:number] for name in one]
            forbidden += [(f"{cause}@{lag}", effect) for cause in tier for effect in earlier for lag in steps]
        required = set(known.required)
        return NamedKnowledge(
            tuple(e for e in dict.fromkeys(forbidden) if e not in required), known.required, known.tiers
        )

    def document(self) -> dict[str, list[list[str]]]:
        """Return the content of a JSON file that `Knowledge.read` reads."""
        return {key: [list(item) for item in getattr(self, key)] for key in _KEYS}


# What the parameter `knowledge` can be.
KnowledgeLike = Knowledge | NamedKnowledge | Mapping[str, Any] | None


def as_knowledge(given: Any) -> Any:
    """Return knowledge that was given as a dictionary of lists of names; anything else as it is.

    Examples
    --------
    >>> as_knowledge({"exogenous": ["age"], "outcome": ["income"]}).tiers
    (('age',), ('*',), ('income',))
    >>> as_knowledge({"tiers": [["age"], ["income"]]}).tiers
    (('age',), ('income',))
    """
    return _of_mapping(given) if isinstance(given, Mapping) else given


def _of_mapping(content: Mapping[str, Any]) -> NamedKnowledge:
    """Return knowledge by name; refuse unknown keys."""
    keys = (*_KEYS, *_ORDER_KEYS)
    if unknown := [key for key in content if key not in keys]:
        raise ValueError(f"Unknown key {quoted(unknown[:1])}. {suggestion(unknown[0], keys, 'keys')}")
    named = Knowledge.named(**{key: content[key] for key in _KEYS if key in content})
    for key in _ORDER_KEYS:
        names = content.get(key, ())
        if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(one, str) for one in names):
            raise ValueError(f"{key} must be a list of names, such as ['A', 'B']; got {reprlib.repr(names)}.")
    return named.joined(known_order(*(content.get(key, ()) for key in _ORDER_KEYS)))


def known_order(exogenous: Sequence[str], outcome: Sequence[str]) -> NamedKnowledge:
    """Return tiers: nothing else causes the exogenous variables, and outcomes cause nothing else."""
    if both := [name for name in exogenous if name in outcome]:
        raise ValueError(f"{shown(both[0])} is both exogenous and an outcome. Choose one of them.")
    return Knowledge.named(tiers=[tier for tier in (exogenous, ["*"], outcome) if tier] if exogenous or outcome else ())


def _are_named(edges: Sequence[Any]) -> bool:
    """Return whether edges are pairs of names."""
    return any(isinstance(end, str) for edge in edges if isinstance(edge, list | tuple) for end in edge)


def _name_lists(key: str, given: Any) -> tuple[Any, ...]:
    """Check the pairs of names of edges, or the groups of names of tiers."""
    wanted = (
        "groups of names, such as [['A'], ['B', 'C']]" if key == "tiers" else "pairs of names, such as [['A', 'B']]"
    )
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"{key} must be a list of {wanted}; got {reprlib.repr(given)}.")
    found = []
    for item in given:
        is_list = isinstance(item, Iterable) and not isinstance(item, str)
        names = tuple(item) if is_list else ()
        if not is_list or (key != "tiers" and len(names) != 2):
            raise ValueError(f"{key} must be a list of {wanted}; got the item {reprlib.repr(item)}.")
        if not all(isinstance(name, str) for name in names):
            raise ValueError(
                f"{key} must contain column names; got {reprlib.repr(item)}. For numbers use Knowledge.of."
            )
        found.append(names)
    return tuple(found)


def _require_acyclic(required: BoolMatrix, names: Sequence[str] | None = None) -> None:
    """Raise a ValueError if required edges form a cycle."""
    cycle = find_cycle(required) if required.any() else None
    if cycle:
        raise ValueError(f"The required edges form a cycle: {cycle_text(cycle, names)}. Remove one of them.")


def _require_nodes(d: int, *nodes: int) -> None:
    """Raise a ValueError for a node number outside 0 .. d-1."""
    for node in nodes:
        if not 0 <= node < d:
            raise ValueError(f"There is no node {node}. The nodes are numbered 0 to {d - 1}.")
