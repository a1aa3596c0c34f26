"""Files with a column of environments, as `compare` takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.coded_tables import CodedTable
from golem.data.environment_files import environment_shards, labelled, rows_by_label
from golem.data.files.streaming import KeptRows
from golem.data.missing import MissingChoice
from golem.data.table_source import CovarianceSource, TableSource
from golem.data.table_summary import TableSummary
from golem.data.targets import read_targets
from golem.data.variables import Coding
from golem.runtime.problems import ProblemError


class LabelledRows(NamedTuple):
    """A table, the labels of its rows and the targets, as `compare` takes them, and a summary of the table."""

    X: Any
    labels: NDArray[Any]
    targets: Mapping[Any, Any]
    summary: TableSummary


def labelled_rows(
    source: TableSource | CovarianceSource,
    environment: str | None,
    targets: Mapping[Any, Any] | str | Path | None,
    missing: MissingChoice,
) -> LabelledRows:
    """Read a table with a column of labels; rows with missing values are kept, unless these are an error."""
    if environment is None or targets is None:
        raise ProblemError.of("Environments need both {environment=...} (a column of labels) and {targets=...}.")
    if isinstance(source, CovarianceSource):
        raise ValueError("A covariance matrix has no column of environments. Give the rows.")
    known = read_targets(targets) if isinstance(targets, str | Path) else targets
    table, keep = labelled(source.table, environment, known), KeptRows(math.inf)
    environment_shards(table, 1, missing="error" if missing == "error" else "drop", keep=keep)
    parts = rows_by_label(table, keep)
    labels = np.repeat(list(parts), [len(part) for part in parts.values()])
    rows = np.concatenate(list(parts.values()))
    summary = TableSummary.of(Coding.numeric(table.names), len(rows), rows)
    return LabelledRows(CodedTable(Coding.numeric(table.names), rows), labels, known, summary)
