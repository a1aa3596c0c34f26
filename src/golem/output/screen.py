"""The screen of a fit: what was learned, the edges, what to know before relying on them, and what to do next.

It has at most 25 lines of 80 columns, together with the notes and warnings that came before it.
"""

from __future__ import annotations

import functools
import math
import shlex
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golem.runtime.dialects import SHELL
from golem.runtime.messages import MOST_LINES, WIDTH, counted, one_line, printable
from golem.runtime.problems import told

if TYPE_CHECKING:
    from golem.assessment.diagnostics import Diagnosis
    from golem.graphs.graph_document import GraphDocument
    from golem.graphs.named_graph import EdgeRow
    from golem.output.document import Supplement

_MOST_EDGES, _MOST_FINDINGS = 10, 3
# Arrows to list where all of the strongest edges are links.
_MOST_ARROWS = 3
# Where fewer edges fit, there is only one suggestion.
_FEWEST_EDGES = 8
# Shares of the graphs of a bootstrap from which an edge is reliable, and from which it is listed.
_TRUSTED, _LISTED = 0.9, 0.5
# The first sentence counts the open directions; hidden common causes always come last.
_SAID = ("directions", "limits")
_NARROWEST_NAME = 6
# Printing a model fits tables with at most so many columns again, which takes well under a second.
_MOST_REFIT = 50


@dataclass(frozen=True)
class Screen:
    """What a fit says.

    Parameters
    ----------
    title : str
        What was read.
    sentences : sequence of str
        What was learned, and what was asked for.
    document, supplement : GraphDocument, Supplement
        The graph, with its bootstrap and findings.
    output : Path, optional
        The folder with the results; without one, nothing is said about what to do next.
    said : int
        Number of lines that notes and warnings already took.
    """

    title: str
    sentences: Sequence[str]
    document: GraphDocument
    supplement: Supplement
    output: Path | None = None
    said: int = 0

    def text(self) -> str:
        """Return the screen as text."""
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the lines; the edges take what the rest leaves."""
        head = [line for text in (self.title, *self.sentences) for line in textwrap.wrap(printable(text), WIDTH)]
        where = "in model.diagnose()" if self.output is None else "in the report"
        before, after = _before(self.supplement.diagnosis, where), self._next()
        room = MOST_LINES - self.said - len(head) - len(before) - len(after) - 3
        edges = self._edges(room)
        if len(after) > 4 and not edges.complete and room <= _FEWEST_EDGES:  # edges are worth more than suggestions
            del after[-2]
            edges = self._edges(room + 1)
        body = [*([""] if edges.lines else []), *edges.lines, "", *before, *([""] if after else []), *after]
        title = len(textwrap.wrap(self.title, WIDTH))
        gap = [""] if self.said + len(head) + len(body) < MOST_LINES else []
        return [*head[:title], *gap, *head[title:], *body]

    def _edges(self, room: int) -> _EdgeLines:
        """Return the strongest edges, by how often they were found again, in at most so many lines."""
        found, rows = self.document.edge_rows(), self.document.rows or 1
        bootstrap = self.supplement.bootstrap
        if not found:
            return _EdgeLines([], True)
        if bootstrap is None:
            most = min(_MOST_EDGES, max(1, room - 1))
            return _EdgeLines(self._table(_strongest(found, most), rows), len(found) <= _MOST_EDGES <= most)
        groups = {
            f"in at least {_TRUSTED:.0%} of {bootstrap.replicates} resamples": [
                edge for edge in found if (edge.adjacency_frequency or 0) >= _TRUSTED
            ],
            f"in {_LISTED:.0%} to {_TRUSTED:.0%}": [
                edge for edge in found if _LISTED <= (edge.adjacency_frequency or 0) < _TRUSTED
            ],
        }
        most, shown, left = min(_MOST_EDGES, max(1, room - 3)), {}, []
        for heading, edges in groups.items():
            if edges[:most]:
                shown[heading] = edges[:most]
            left += [(len(edges[most:]), heading.partition(" of ")[0])] if edges[most:] else []
            most = max(0, most - len(edges))
        complete, rest = not left, len(found) - sum(map(len, groups.values()))
        left += [(rest, f"in less than {_LISTED:.0%}")] if rest else []
        counts = [f"{number if k else counted(number, 'edge')} {where}" for k, (number, where) in enumerate(left)]
        more = [one_line(f"  not listed: {', '.join(counts)}")] if left else []
        return _EdgeLines([*(self._table(shown, rows) if shown else []), *more], complete)

    def _table(self, groups: Mapping[str, Sequence[EdgeRow]], rows: int) -> list[str]:
        """Return groups of edges as lines."""
        return _table(groups, rows, self._remark, self._open_signs)

    def _remark(self, edge: EdgeRow) -> str:
        """Return what else to know about an edge, after its direction."""
        ends = (edge.source, edge.target)
        curved = [pair for one in self.supplement.diagnosis or () if one.name == "linearity" for pair in one.edges]
        return "; sign open" * (ends in self._open_signs) + "; curved" * (ends in curved)

    @functools.cached_property
    def _open_signs(self) -> set[tuple[str, str]]:
        """The edges whose sign depends on open directions."""
        from golem.output.edge_list import edges_of_open_sign

        return edges_of_open_sign(self.document)

    def _next(self) -> list[str]:
        """Return where the results are, and the commands that would help most."""
        if self.output is None:
            return []
        report, edges = self.output / "report.html", self.output / "edges.csv"
        table = f"   (table: {edges})" if len(f"{report}{edges}") < WIDTH - 34 else ""
        steps = [("report", f"{report}{table}"), *self._suggestions()[:2]]
        steps.append(("details", "--verbose   (columns, weights, scores, noise model, search)"))
        return ["Next", *(f"  {label:<18} {text}" for label, text in steps)]

    def _suggestions(self) -> list[tuple[str, str]]:
        """Return what would help most here, the best first."""
        from golem.assessment.diagnostics.finding import ROWS_IN_ORDER
        from golem.output.edge_list import proposed_experiments

        table, document, found = self.supplement.table, self.document, []
        diagnosis = self.supplement.diagnosis
        if any(not edge.directed for edge in document.edge_rows()):
            found.append(("settle directions", "--outcome Y, --exogenous X, --require 'X->Y': what you know"))
        if table is not None and (codes := table.codes):
            found.append(("categories", f"--categorical {shlex.quote(','.join(codes))}   (if these are codes)"))
        if diagnosis is not None and any(one.headline == ROWS_IN_ORDER for one in diagnosis):
            found.append(("time series", "--lags auto   (if the rows are in order of time)"))
        if ranking := proposed_experiments(document):
            best, total = ranking[0], counted(document.undecided or 0, "link")
            found.append(("experiment", f"on {best.variable}: settles {best.decided:.2g} of {total} on average"))
        if self.supplement.bootstrap is None:
            found.append(("check each edge", "--bootstrap 100   (how often is it found again?)"))
        return [(label, text) for label, text in found if len(text) <= WIDTH - 21]


def _strongest(edges: Sequence[EdgeRow], most: int) -> dict[str, Sequence[EdgeRow]]:
    """Return the strongest edges under a heading, and some arrows under another if there is none among them."""
    if len(edges) <= most:
        return {"edge": edges}
    arrows = [] if any(edge.directed for edge in edges[:most]) else [edge for edge in edges if edge.directed]
    few = arrows[: min(_MOST_ARROWS, most // 3)]
    first = edges[: most - len(few) - 1] if few else edges[:most]
    name = "the arrow" if len(arrows) == 1 else f"the {len(few)} strongest of {len(arrows)} arrows"
    return {f"the {len(first)} strongest of {len(edges)}": first} | ({name: few} if few else {})


def summary_text(model: Any, X: Any = None, bootstrap: Any = None) -> str:
    """Return what a fit prints about a model, without what to do next; `X` are the rows for the checks, if any."""
    from golem.assessment.diagnostics import diagnose
    from golem.output.document import Supplement, describe

    refit = None if model.table_.d <= _MOST_REFIT else False
    checked = None if model.graph_.reversible is None else diagnose(model, X, refit=refit)
    supplement = Supplement(bootstrap=bootstrap, diagnosis=checked)
    document = describe(model, supplement)
    title = data_title(type(model).__name__, document, supplement)
    sentences = learned_sentences(document)
    if unchecked_links(document):
        sentences.append("To check directions, call check_directions(X) with the rows.")
    return Screen(title, sentences, document, supplement).text()


@dataclass(frozen=True)
class _EdgeLines:
    """The lines of a list of edges, and whether it has all that it may have."""

    lines: list[str]
    complete: bool


def learned_sentences(document: GraphDocument) -> list[str]:
    """Return what was learned, and how the rows of a series were read."""
    notes = document.series.notes if document.series else []
    return [learned_sentence(document), *([" ".join(notes)] if notes else [])]


def learned_sentence(document: GraphDocument) -> str:
    """Return what was learned in one sentence."""
    edges, links = document.edge_rows(), document.undecided or 0
    series = document.series
    variables = len(series.variables) if series else document.d or len(document.names)
    back = f" and {counted(document.lags, 'step')} back" if document.lags else ""
    total, among = len(edges), f"among {counted(variables, 'variable')}{back}"
    if not total:
        return f"No edges {among}: no relation is stronger than chance explains."
    unchecked = unchecked_links(document)
    if links == total:
        known = f"0 of {counted(total, 'direction')} are known" if total > 1 else "its direction is not known"
        follow = f"; {unchecked} {'follows' if unchecked == 1 else 'follow'} from the structure, unchecked"
        why = follow if unchecked else ": these data cannot tell cause from effect"
        return f"{counted(total, 'link')} {among}; {known}{why}."
    if not links:
        return f"{counted(total, 'arrow')} {among}: every direction is known."
    is_open = f"open; {unchecked} not checked" if unchecked else "open"
    return f"{counted(total - links, 'arrow')} (direction known) and {counted(links, 'link')} ({is_open}) {among}."


def unchecked_links(document: GraphDocument) -> int:
    """Return the number of directions that follow from the structure, but were not checked."""
    return sum(edge.direction_from == "unchecked" for edge in document.edge_rows())


def data_title(name: str, document: GraphDocument, supplement: Supplement) -> str:
    """Return what was read in one line."""
    table = supplement.table
    size = (
        f"{counted(document.rows or 0, 'row')}, {counted(len(document.names), 'column')}"
        if table is None
        else table.about
    )
    where = f", {counted(len(document.environments), 'experiment')}" if document.environments else ""
    return f"{name}: {size}{where}"


def _table(
    groups: Mapping[str, Sequence[EdgeRow]],
    rows: int,
    remark: Callable[[EdgeRow], str],
    open_signs: set[tuple[str, str]],
) -> list[str]:
    """Return groups of edges as lines, with their strengths and what their directions rest on."""
    from golem.output.edge_list import DIRECTIONS, strength_text

    edges = [edge for group in groups.values() for edge in group]
    ends = {
        id(edge): (edge.source, edge.target) if edge.directed else sorted((edge.source, edge.target)) for edge in edges
    }
    words = {id(edge): DIRECTIONS[edge.direction_from] + remark(edge) for edge in edges}
    has_strengths = any(edge.edge_strength is not None for edge in edges)
    sizes = {
        id(edge): f"{_association(edge.edge_strength, rows):.2f}"
        if edge.edge_strength is not None
        else strength_text(edge, open_signs)
        for edge in edges
    }  # fmt: skip
    room = (WIDTH - (24 if has_strengths else 21) - max(len("direction"), *map(len, words.values()))) // 2
    left, right = (
        min(max(_NARROWEST_NAME, room), max(len(printable(pair[end])) for pair in ends.values())) for end in (0, 1)
    )
    width = max(left + right + 5, *map(len, groups))
    measure, lines = "association" if has_strengths else "strength", []
    for k, (heading, group) in enumerate(groups.items()):
        numbers = f"   {measure}   direction" if k == 0 else ""
        lines.append(f"  {heading:<{width}}{numbers}".rstrip())
        for edge in group:
            source, target = (
                _short(printable(name), size) for name, size in zip(ends[id(edge)], (left, right), strict=True)
            )
            pair = f"{source:<{left}} {'-->' if edge.directed else '---'} {target:<{right}}"
            lines.append(
                one_line(f"  {pair:<{width}}   {sizes[id(edge)]:>{len(measure)}}   {words[id(edge)]}".rstrip())
            )
    return lines


def _association(loss: float, rows: int) -> float:
    """Return how strongly two variables of any kind are related, from 0 to 1: for numbers, their partial correlation.

    `loss` is how much the deviance rises without the edge.
    """
    return math.sqrt(-math.expm1(-max(0.0, loss) / rows))


def _short(name: str, width: int) -> str:
    """Return a name on one line of this width, without its middle if it is longer."""
    line = name.replace("\n", "\\n")
    return line if len(line) <= width else f"{line[: (width - 1) // 2]}..{line[len(line) - (width - 2) // 2 :]}"


def _before(diagnosis: Diagnosis | None, where: str) -> list[str]:
    """Return what to know before relying on the graph: the most important findings, and hidden common causes.

    `where` says where the others are.
    """
    from golem.assessment.diagnostics.explanations import EXPLANATIONS

    found = [] if diagnosis is None else [one for one in diagnosis.at("warning", "note") if one.name not in _SAID]
    found.sort(key=lambda one: (one.level != "warning", one.headline.startswith("Not checked")))
    shown, rest = found[: _MOST_FINDINGS - 1], found[_MOST_FINDINGS - 1 :]
    counts = [
        counted(sum(one.level == level for one in rest), level)
        for level in ("warning", "note")
        if any(one.level == level for one in rest)
    ]
    more = f"   (and {' and '.join(counts)} {where})" if counts else ""
    lines = [one_line(f"  {'!' if one.level == 'warning' else '-'} {told(one.headline, SHELL)}") for one in shown]
    return [f"Before you rely on it{more}", *lines, f"  ! {EXPLANATIONS['limits'].headline}"]
