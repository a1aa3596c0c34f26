"""The sentences at the top of a report: what was learned, what to check, and what one may say about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from golem.graphs.graph_document import GraphDocument
from golem.output.edge_list import edge_counts, proposed_experiments
from golem.runtime.messages import counted
from golem.runtime.version import __version__

# Shares of the graphs of a bootstrap from which an edge is called stable.
_STABLE = 0.9
_MOST_EXPERIMENTS = 5


def report_words(document: GraphDocument, score: str | None) -> dict[str, Any]:
    """Return the texts of the cards at the top of a report, and of the panel on how the graph was learned."""
    rows: Sequence[Mapping[str, Any]] = document.edge_table
    links = sum(row.get("directed") is False for row in rows)
    levels = [one.level for one in document.diagnostics or ()]
    return {
        "counts": edge_counts(row.get("directed") is not False for row in rows).replace(" and ", ", "),
        "about_counts": _about_counts(len(rows), links),
        "checks": finding_counts(levels),
        "about_checks": _about_checks(levels),
        "say": sentence_to_cite(document),
        "links": links,
        "experiments": proposed_experiments(document)[:_MOST_EXPERIMENTS],
        "method": _method(document, score),
    }


def finding_counts(levels: Sequence[str]) -> str:
    """Return how many findings are warnings and notes.

    Examples
    --------
    >>> finding_counts(["warning", "note", "note", "ok"]), finding_counts(["ok"]), finding_counts([])
    ('1 warning, 2 notes', 'No warnings', 'Not checked')
    """
    count = Counter("note" if level not in ("warning", "ok") else level for level in levels)
    words = [counted(count[level], level) for level in ("warning", "note") if count[level]]
    return ", ".join(words) or ("No warnings" if levels else "Not checked")


def _about_counts(total: int, links: int) -> str:
    """Return what arrows and links are, as far as there are any."""
    if not total:
        return "No relation is stronger than chance explains."
    link = "A link connects two variables; its direction is open."
    arrow = "An arrow points from cause to effect."
    return arrow if not links else link if links == total else f"{arrow} {link}"


def _about_checks(levels: Sequence[str]) -> str:
    """Return what the checks cannot see."""
    if not levels:
        return "Run golem fit, or give the diagnosis to the report, to check the assumptions."
    return "An unmeasured common cause looks just like an edge; no check can exclude it."


def sentence_to_cite(document: GraphDocument) -> str:
    """Return what one may say about the graph, true to the evidence."""
    rows: Sequence[Mapping[str, Any]] = document.edge_table
    d = counted(len(document.series.variables if document.series else document.names), "variable")
    data = f"In {counted(document.rows, 'row')} of {d}" if document.rows else f"Among {d}"
    learned = f"{data}, golem {document.golem or __version__} found {counted(len(rows), 'edge')}"
    if not rows:
        return f"{learned}: no relation was stronger than chance explains."
    arrows = [row for row in rows if row.get("directed") is not False]
    links = len(rows) - len(arrows)
    sources = Counter(str(row.get("direction_from") or "structure") for row in arrows)
    parts = [f"{counted(count, 'direction')} {_SAID.get(source, source)}" for source, count in sources.items()]
    text = f"{learned}; {', '.join(parts)}." if parts else f"{learned}."
    if links == 1:
        text += f" {'The direction of the other' if arrows else 'Its direction'} is open."
    elif links:
        text += f" The directions of {f'the other {links}' if arrows else f'all {links}'} are open."
    warnings = sum(one.level == "warning" for one in document.diagnostics or ())
    checks = f" Checks of the assumptions gave {counted(warnings, 'warning')}." if warnings else ""
    return f"{text}{_stability(document)}{checks} Unmeasured common causes cannot be excluded."


# What a direction rests on, after "3 directions".
_SAID = {
    "knowledge": "given by us",
    "follows": "that follow from what we gave",
    "time": "from the order of time",
    "structure": "from conditional independences",
    "variances": "from the noise variances, which depend on the units",
    "shape": "from the shape of the noise",
    "interventions": "from experiments",
}


def _stability(document: GraphDocument) -> str:
    """Return how many edges a bootstrap finds again."""
    rows: Sequence[Mapping[str, Any]] = document.edge_table
    if document.bootstrap is None or not any(row.get("adjacency_frequency") is not None for row in rows):
        return ""
    stable = sum((row.get("adjacency_frequency") or 0) >= _STABLE for row in rows)
    return f" {stable} of {counted(len(rows), 'edge')} appear in at least {_STABLE:.0%} of the resamples."


def _method(document: GraphDocument, score: str | None) -> list[str]:
    """Return how the graph was learned, in sentences."""
    categories = sum(one.kind == "category" for one in document.variables or ())
    found: list[str | None] = []
    if categories:
        which = "One" if categories == 1 else "All" if categories == len(document.names) else categories
        kind = "is a category" if categories == 1 else "are categories"
        found.append(f"{which} of the variables {kind}, so golem used the {score}.")
    plain = document.plain()
    status, noise = plain.get("status") or {}, plain.get("noise") or {}
    found += [plain.get("robust_note"), noise.get("reason"), plain.get("shape_note"), status.get("message")]
    return [sentence for sentence in found if sentence]
