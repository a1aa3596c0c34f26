"""A diagnosis: findings, each with a level, a sentence and a remedy."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from golem.assessment.diagnostics.explanations import EXPLANATIONS
from golem.runtime.dialects import dialect_of
from golem.runtime.html_text import leveled_list, paragraph
from golem.runtime.problems import SCATTER_PLOTS, Set, Text, told
from golem.runtime.types import BoolMatrix

Level = Literal["ok", "note", "warning"]
USE_FREE_VARIANCES = Text("If the columns have different units, use ", Set("noise", "nv"), ".")
# What a report that has scatter plots need not say.
IF_NO_SCATTER_PLOT = Text(" If there is none, use ", SCATTER_PLOTS, ".")

ROWS_IN_ORDER = "Rows depend on the rows before them: everything looks surer than it is."
_NOT_POSSIBLE = re.compile("not checked|could not be tested", re.IGNORECASE)
Pair = tuple[str, str]


class Verdict(NamedTuple):
    """What a check found: a finding without its name."""

    level: Level
    finding: str
    remedy: str = ""
    headline: str = ""
    edges: tuple[Pair, ...] = ()


def ok(finding: str) -> Verdict:
    """Return that there is nothing to report."""
    return Verdict("ok", finding)


def note(finding: str, remedy: str = "", headline: str = "", edges: tuple[Pair, ...] = ()) -> Verdict:
    """Return something to know."""
    return Verdict("note", finding, remedy, headline, edges)


def warning(finding: str, remedy: str = "", headline: str = "", edges: tuple[Pair, ...] = ()) -> Verdict:
    """Return something that can make the graph wrong."""
    return Verdict("warning", finding, remedy, headline, edges)


def edge_texts(edges: Iterable[Sequence[int]], names: Sequence[str], mark: str = "->") -> list[str]:
    """Return pairs of nodes as text, such as "'a' -> 'b'"."""
    return [f"{names[i]!r} {mark} {names[j]!r}" for i, j in edges]


def look_at(graph: BoolMatrix) -> str:
    """Return which plot to look at where a test is not possible or not enough."""
    if not graph.any():
        return "Look at a histogram of each column."
    return Text("Click an edge in the report to see its scatter plot.", IF_NO_SCATTER_PLOT)


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Parameters
    ----------
    name : str
        What was checked, such as "units".
    level : {"ok", "note", "warning"}
        Nothing to report; something to know; something that can make the graph wrong.
    finding : str
        The result in one sentence, with the numbers.
    remedy : str
        What to do about it; empty where there is nothing to do.
    headline : str
        A note or warning in one line of at most 76 characters, without jargon.
    edges : tuple of (str, str)
        The edges that it is about, if it is about some edges.

    Examples
    --------
    >>> from golem.diagnostics import Finding
    >>> print(Finding("rows", "note", "There are 20 rows.", "Collect more."))
    There are 20 rows. Collect more.
    """

    name: str
    level: Level
    finding: str
    remedy: str = ""
    headline: str = ""
    edges: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        """Fill in the headline, unless there is nothing to report."""
        if not self.headline and self.level != "ok":
            missed = _NOT_POSSIBLE.search(self.finding) and self.name not in ("rows-needed", "numbers-only")
            explained = EXPLANATIONS.get(self.name)
            general = explained.headline if explained else self.finding
            line = f"Not checked: {self.name.replace('-', ' ')}." if missed else general
            object.__setattr__(self, "headline", line)

    def __str__(self) -> str:
        return f"{self.finding} {self.remedy}".rstrip()


@dataclass(frozen=True)
class Diagnosis:
    """All findings about a model, the most important first; `print` shows those that are not "ok".

    Parameters
    ----------
    findings : list of Finding
        The findings.
    effective_rows : int, optional
        If rows depend on each other: the number of independent rows that have as much information. Everything that
        measures confidence is then overstated.

    Examples
    --------
    >>> from golem.diagnostics import Diagnosis, Finding
    >>> diagnosis = Diagnosis.of([Finding("units", "ok", "Fine."), Finding("rows", "note", "There are 20 rows.")])
    >>> [finding.name for finding in diagnosis.at("warning", "note")]
    ['rows']
    >>> diagnosis["units"].level
    'ok'
    >>> [finding.level for finding in diagnosis]
    ['note', 'ok']
    """

    findings: list[Finding]
    effective_rows: int | None = None

    @classmethod
    def of(cls, findings: Iterable[Finding], effective_rows: int | None = None, table: Any = None) -> Diagnosis:
        """Sort findings: warnings, then notes, then what is fine; the remedies are for the library of a table."""
        if table is not None:
            findings = [dataclasses.replace(one, remedy=told(one.remedy, dialect_of(table))) for one in findings]
        in_order = sorted(findings, key=lambda finding: ("warning", "note", "ok").index(finding.level))
        return cls(in_order, effective_rows)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, name: str) -> Finding:
        """Return a finding by its name."""
        named = {finding.name: finding for finding in self.findings}
        if name not in named:
            raise KeyError(f"There is no finding {name!r}; the findings are {', '.join(named)}.")
        return named[name]

    def at(self, *levels: Level) -> list[Finding]:
        """Return the findings at some levels, in their order."""
        return [finding for finding in self.findings if finding.level in levels]

    def records(self) -> list[dict[str, Any]]:
        """Return the findings as JSON holds them."""
        fields = ("name", "level", "headline", "finding", "remedy")
        texts = ({field: str(getattr(finding, field)) for field in fields} for finding in self.findings)
        return [{**text, "edges": [*finding.edges]} for text, finding in zip(texts, self.findings, strict=True)]

    def _repr_html_(self) -> str:
        """Show warnings and notes as a list in notebooks."""
        shown = leveled_list((one.level, one.name, str(one)) for one in self.at("warning", "note"))
        return shown or paragraph(f"{len(self.findings)} checks, no findings.")

    def __str__(self) -> str:
        return "\n".join(f"{finding.level:<8}{finding}" for finding in self.at("warning") + self.at("note"))
