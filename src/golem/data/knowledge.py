"""What is known before the data: forbidden edges, required edges and tiers, by name or as masks that solvers obey."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from golem.graphs.dag import cycle_text, find_cycle
from golem.runtime.types import BoolMatrix

_KEYS = ("forbidden", "required", "tiers")
_SHAPE = '{"forbidden": [["A", "B"]], "required": [], "tiers": [["A"], ["B", "C"]]}'


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Masks over the edges of a graph on d nodes.

    Parameters
    ----------
    forbidden : ndarray of shape (d, d), bool
        `forbidden[i, j]`: the edge i -> j cannot be.
    required : ndarray of shape (d, d), bool
        `required[i, j]`: the edge i -> j must be.

    Raises
    ------
    ValueError
        If an edge is required and forbidden, or required edges form a cycle.

    Examples
    --------
    >>> known = Knowledge.of(3, required=[(0, 2)], tiers=[[0, 1], [2]])
    >>> known.forbidden.astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [1, 1, 1]])
    """

    forbidden: BoolMatrix
    required: BoolMatrix

    def __post_init__(self) -> None:
        for name in ("forbidden", "required"):
            given = np.asarray(getattr(self, name))
            if given.dtype != bool and not np.isin(given, (0, 1)).all():
                raise ValueError(f"the mask of {name} edges holds other values than true and false, or 1 and 0")
            object.__setattr__(self, name, given.astype(bool, copy=False))
        d = len(self.forbidden) if self.forbidden.ndim else 0
        if not self.forbidden.shape == self.required.shape == (d, d):
            raise ValueError(
                f"knowledge masks must be square and alike; got {self.forbidden.shape} and {self.required.shape}"
            )
        both = np.argwhere(self.forbidden & self.required)
        if len(both):
            i, j = both[0]
            raise ValueError(f"the edge {i} -> {j} is both required and forbidden")
        cycle = find_cycle(self.required) if self.required.any() else None
        if cycle:
            raise ValueError(_cyclic(cycle_text(cycle)))

    @classmethod
    def of(
        cls,
        d: int,
        forbidden: Iterable[tuple[int, int]] = (),
        required: Iterable[tuple[int, int]] = (),
        tiers: Sequence[Sequence[int]] = (),
    ) -> Knowledge:
        """Build the masks from lists of edges and tiers of node numbers.

        No edge goes from a node of a later tier to one of an earlier tier; nodes in no tier are free. The reverse
        of a required edge is forbidden, as is every edge from a node to itself; `Knowledge.of(d)` forbids nothing more.
        """
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
            raise ValueError("a node stands in two tiers")
        return cls(forbidden_mask | required_mask.T, required_mask)

    @classmethod
    def named(
        cls,
        forbidden: Iterable[Sequence[str]] = (),
        required: Iterable[Sequence[str]] = (),
        tiers: Iterable[Sequence[str]] = (),
    ) -> NamedKnowledge:
        """Knowledge by the names of the columns, which becomes masks when a model is fitted to them.

        Examples
        --------
        >>> known = Knowledge.named(required=[("age", "income")], tiers=[["age", "sex"], ["income"]])
        >>> known.resolve(["income", "age", "sex"]).required.astype(int)
        array([[0, 0, 0],
               [1, 0, 0],
               [0, 0, 0]])
        """
        return NamedKnowledge(_edges(forbidden, "forbidden"), _edges(required, "required"), _tiers(tiers))

    @classmethod
    def read(cls, path: str | Path) -> NamedKnowledge:
        """Read knowledge by names from a JSON file; every key may be left out.

        The file holds `{"forbidden": [["A", "B"]], "required": [], "tiers": [["A"], ["B", "C"]]}`.

        Raises
        ------
        ValueError
            If the file cannot be read, is not of this shape, or contradicts itself.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise ValueError(f"{path}: cannot be read ({error.strerror})") from None
        except UnicodeDecodeError:
            raise ValueError(f"{path}: not a text file in UTF-8") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}: not JSON ({error}); knowledge looks like {_SHAPE}") from None
        if not isinstance(content, dict):
            raise ValueError(f"{path}: a {type(content).__name__}, not an object; knowledge looks like {_SHAPE}")
        unknown = [key for key in content if key not in _KEYS]
        if unknown:
            raise ValueError(f"{path}: knowledge has no key {unknown[0]!r}{_nearest(unknown[0], _KEYS)}")
        try:
            return cls.named(**content)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def by_name(self, names: Sequence[str]) -> NamedKnowledge:
        """Return the same knowledge by the names of the nodes, without what goes without saying."""
        told = self.forbidden & ~np.eye(len(names), dtype=bool) & ~self.required.T
        edges = ([(names[i], names[j]) for i, j in np.argwhere(mask)] for mask in (told, self.required))
        return Knowledge.named(*edges)

    @property
    def allowed(self) -> BoolMatrix:
        """Edges that may be: neither forbidden nor on the diagonal."""
        return ~self.forbidden & ~np.eye(len(self.forbidden), dtype=bool)

    @property
    def is_empty(self) -> bool:
        """True where nothing is known beyond the absence of self-loops."""
        return not self.required.any() and bool(np.all(self.forbidden == np.eye(len(self.forbidden), dtype=bool)))


@dataclass(frozen=True)
class NamedKnowledge:
    """Forbidden and required edges and tiers by name; made by `Knowledge.named` and `Knowledge.read`.

    Parameters
    ----------
    forbidden, required : tuple of (str, str)
        Edges, (cause, effect).
    tiers : tuple of tuple of str
        Names in the order of time: nothing in a later tier causes anything in an earlier one. Names in no tier are
        free.

    Raises
    ------
    ValueError
        If it contradicts itself; the message names the edge, the cycle or the tiers.
    """

    forbidden: tuple[tuple[str, str], ...] = ()
    required: tuple[tuple[str, str], ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        tier_of: dict[str, int] = {}
        for number, tier in enumerate(self.tiers, start=1):
            for name in tier:
                if name in tier_of:
                    twice = "twice in tier" if tier_of[name] == number else f"in tiers {tier_of[name]} and"
                    raise ValueError(f"{name!r} stands {twice} {number}; a variable belongs to one tier")
                tier_of[name] = number
        forbidden = set(self.forbidden)
        for cause, effect in self.required:
            edge = f"the edge {cause!r} -> {effect!r} is required"
            if cause == effect:
                raise ValueError(f"{edge}, but no variable causes itself")
            if (cause, effect) in forbidden:
                raise ValueError(f"{edge} and forbidden; keep one of the two")
            later, earlier = tier_of.get(cause, 0), tier_of.get(effect, len(self.tiers) + 1)
            if later > earlier:
                raise ValueError(f"{edge}, but {cause!r} stands in tier {later} and {effect!r} before it, in {earlier}")
        names = self.names
        where = {name: k for k, name in enumerate(names)}
        required = np.zeros((len(names), len(names)), dtype=bool)
        for cause, effect in self.required:
            required[where[cause], where[effect]] = True
        cycle = find_cycle(required)
        if cycle:
            raise ValueError(_cyclic(cycle_text(cycle, names)))

    @property
    def names(self) -> tuple[str, ...]:
        """All names in it, each once."""
        edges = (name for edge in self.forbidden + self.required for name in edge)
        return tuple(dict.fromkeys([*edges, *(name for tier in self.tiers for name in tier)]))

    @property
    def is_empty(self) -> bool:
        """True where nothing is known."""
        return not self.names

    def joined(self, other: NamedKnowledge) -> NamedKnowledge:
        """Return what either of them knows.

        Raises
        ------
        ValueError
            If they contradict each other, or both have tiers.
        """
        if self.tiers and other.tiers:
            raise ValueError("tiers from two sources cannot be put in one order; give them in one")
        forbidden, required = (
            tuple(dict.fromkeys(getattr(self, key) + getattr(other, key))) for key in ("forbidden", "required")
        )
        return NamedKnowledge(forbidden, required, self.tiers or other.tiers)

    def require_columns(self, names: Sequence[str]) -> None:
        """Raise a ValueError where it names something that is no column, with the nearest name."""
        columns = set(names)
        unknown = [name for name in self.names if name not in columns]
        if unknown:
            others = f" (nor are {len(unknown) - 1} other names in it)" if len(unknown) > 1 else ""
            raise ValueError(
                f"the knowledge names {unknown[0]!r}, which is no column{others}{_nearest(unknown[0], names)}"
            )

    def resolve(self, names: Sequence[str]) -> Knowledge:
        """Turn it into masks over columns of these names.

        Raises
        ------
        ValueError
            If it names something that is no column, with the nearest name.
        """
        self.require_columns(names)
        where = {name: k for k, name in enumerate(names)}
        forbidden, required = ([(where[a], where[b]) for a, b in edges] for edges in (self.forbidden, self.required))
        return Knowledge.of(len(where), forbidden, required, [[where[name] for name in tier] for tier in self.tiers])

    def document(self) -> dict[str, list[list[str]]]:
        """Return the content of a JSON file that `Knowledge.read` reads."""
        return {key: [list(item) for item in getattr(self, key)] for key in _KEYS}


def read_edge(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Read "A->B" as an edge between two columns; blanks around the names do not matter, nor quotes that are no part.

    A name may contain the arrow itself: of all ways to cut the text the one is taken that leaves two columns.

    Raises
    ------
    ValueError
        If no cut, or more than one, leaves two columns.

    Examples
    --------
    >>> read_edge("a->b -> c", ["a->b", "c"])
    ('a->b', 'c')
    """
    pieces = text.split("->")
    if len(pieces) < 2:
        raise ValueError(f"{text!r} is no edge; write 'A->B', the cause first")
    known = set(names)
    cuts = [("->".join(pieces[:k]), "->".join(pieces[k:])) for k in range(1, len(pieces))]
    found = [tuple(_unquoted(side, known) for side in cut) for cut in cuts]
    fitting = list(dict.fromkeys(cut for cut in found if known.issuperset(cut)))
    if len(fitting) == 1:
        cause, effect = fitting[0]
        return cause, effect
    if fitting:
        ways = " or ".join(f"{cause!r} -> {effect!r}" for cause, effect in fitting)
        raise ValueError(f"{text!r} can be read as {ways}; put the names in double quotes")
    if len(found) > 1:
        raise ValueError(f"{text!r} joins no two columns, wherever it is cut; write 'A->B', an edge at a time")
    unknown = next(name for name in found[0] if name not in known)
    raise ValueError(f"{text!r} names {unknown!r}, which is no column{_nearest(unknown, names)}")


def _unquoted(text: str, known: set[str]) -> str:
    """Strip blanks, and quotes unless they belong to the name."""
    for name in (text, text.strip()):
        if name in known:
            return name
    name = text.strip()
    return name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name


def _edges(given: Any, what: str) -> tuple[tuple[str, str], ...]:
    """Check a list of pairs of names."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"{what} edges are a list of pairs of names, such as [['A', 'B']]; got {given!r}")
    edges = []
    for edge in given:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise ValueError(f"a {what} edge is a pair of names, such as ['A', 'B']; got {edge!r}")
        edges.append((_name(edge[0]), _name(edge[1])))
    return tuple(dict.fromkeys(edges))


def _tiers(given: Any) -> tuple[tuple[str, ...], ...]:
    """Check a list of lists of names."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"tiers are lists of names, such as [['A'], ['B', 'C']]; got {given!r}")
    tiers = []
    for tier in given:
        if isinstance(tier, str) or not isinstance(tier, Iterable):
            raise ValueError(f"a tier is a list of names, such as ['B', 'C']; got {tier!r}")
        tiers.append(tuple(map(_name, tier)))
    return tuple(tiers)


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise ValueError(f"knowledge by name is about names of columns; got {name!r} (numbers go to Knowledge.of)")
    return name


def _nearest(name: str, names: Sequence[str]) -> str:
    """Ask whether a name like this one was meant, or say which there are."""
    folded = {other.casefold().strip(): other for other in names}
    near = difflib.get_close_matches(name.casefold().strip(), folded, n=1)
    if near:
        return f"; did you mean {folded[near[0]]!r}?"
    return f"; there are {', '.join(map(repr, names[:8]))}{' and more' if len(names) > 8 else ''}"


def _cyclic(cycle: str) -> str:
    return f"the required edges form a cycle, {cycle}, so no directed acyclic graph has them all"


def _require_nodes(d: int, *nodes: int) -> None:
    """Raise a ValueError for a node number outside 0 .. d-1."""
    for node in nodes:
        if not 0 <= node < d:
            raise ValueError(f"knowledge names node {node}, but nodes are numbered 0 to {d - 1}")


def with_edges(
    known: NamedKnowledge | None, forbid: Sequence[str], require: Sequence[str], columns: Sequence[str]
) -> NamedKnowledge | None:
    """Add edges between columns, such as "A->B", to knowledge by name; None if nothing is known."""
    known = Knowledge.named() if known is None else known
    forbidden, required = ([read_edge(text, columns) for text in texts] for texts in (forbid, require))
    known = known.joined(Knowledge.named(forbidden, required))
    return None if known.is_empty else known
