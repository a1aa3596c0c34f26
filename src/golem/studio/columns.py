"""The columns of a table, for the page: what they contain, and their histograms."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from golem.data.source import Source
from golem.data.table_summary import ColumnSummary, TableSummary
from golem.data.unusable import Unusable
from golem.output.edge_list import for_json
from golem.runtime.dialects import PAGE
from golem.runtime.problems import told
from golem.runtime.types import Vector

BINS, MOST_LEVELS = 16, 100


@dataclasses.dataclass(frozen=True)
class Columns:
    """The summary of the columns, and the data of the page about them."""

    summary: TableSummary | None
    rows: int | None
    columns: list[dict[str, Any]]
    notes: list[str]


def describe_columns(source: Source, left_out: Sequence[Unusable]) -> Columns:
    """Describe the columns that were read, and those that were left out."""
    summary = source.summary
    gone = [{"name": one.name, "left_out": one.reason} for one in left_out]
    if summary is None:
        return Columns(None, None, [{"name": name, "kind": "number"} for name in source.names] + gone, [])
    values = source.checked_rows
    shown = []
    for k, column in enumerate(summary.columns):
        own = None if values is None or values.shape[1] <= k else values[:, k]
        shown.append(_column(column, own))
    notes = [told(note, PAGE) for note in summary.notes]
    return Columns(summary, summary.rows, shown + gone, notes)


def _column(column: ColumnSummary, values: Vector | None) -> dict[str, Any]:
    """Describe a column, with a histogram of its numbers or the most frequent levels."""
    found: dict[str, Any] = {
        "name": column.name,
        "kind": "category" if column.kind == "category" else "number",
        "missing": column.missing or 0,
        "values": column.values,
        "may_be_codes": column.may_be_codes,
    }
    if column.kind == "category":
        return found | {"levels": [[level, count] for level, count in column.levels[:MOST_LEVELS]]}
    present = np.array([]) if values is None else values[np.isfinite(values)]
    if len(present):
        counts, edges = np.histogram(present, bins=BINS)
        found |= {"counts": counts.tolist(), "zeros": int((present == 0).sum()), "can_log": bool(present.min() > 0)}
        found |= for_json({"low": float(edges[0]), "high": float(edges[-1]), "mean": float(present.mean())}, digits=5)
    return found
