"""The graph document, which is the content of graph.json. Only this module defines, checks, writes and reads its keys.

A document describes a graph and, if it comes from a fit, how the fit went, its settings, the bootstrap and the
findings. Unknown values are null. Version 2 lists the edges, and version 3 is for graphs with lags. Version 1, which
stored full matrices, can still be read.
"""

from __future__ import annotations

import reprlib
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from golem.graphs.named_graph import EdgeRow, NamedGraph, current_columns, weight_matrix
from golem.runtime.messages import counted, quoted

FORMAT_VERSION = 2
# Graphs with lags have nodes such as `x@1`, and edges with a column `lag`.
LAGGED_VERSION = 3
# An edge has source, target, and columns of any name; `golem.graphs.named_graph.EdgeRow` has those of a learned graph.
EdgeValues = dict[str, str | bool | float | None]
Numbers = dict[str, float | None]
# Beyond it a number of rows cannot be computed with.
RowCount = Annotated[int, msgspec.Meta(le=2**63 - 1)]
Seed = Annotated[int, msgspec.Meta(ge=0)]


class SourceRecord(msgspec.Struct, kw_only=True):
    """Which files were read, and how; `folder`, relative to the document, is where the paths start.

    `environment` is the column with the labels of the environments, and `environments` says that every file is one;
    `targets` is the file with their targets.
    """

    paths: list[str] = []
    folder: str | None = None
    columns: list[str] | None = None
    drop: list[str] = []
    header: bool | None = None
    na: list[str] = []
    categorical: list[str] = []
    numeric: list[str] = []
    log: list[str] = []
    covariance: bool = False
    rows: int | None = None
    environment: str | None = None
    environments: bool = False
    targets: str | None = None
    transpose: bool = False


class SeriesRecord(msgspec.Struct, kw_only=True):
    """How the rows follow each other; see `golem.data.series.Series`."""

    variables: list[str] = []
    lags: int = 0
    stretches: int = 1
    units: int = 0
    periods: int = 0
    notes: list[str] = []


class EnvironmentRecord(msgspec.Struct, kw_only=True):
    """One environment: its rows, its targets, and the largest shifts of means, in standard deviations."""

    label: str
    rows: int
    targets: list[str] = []
    shifts: dict[str, float] = {}


class ColumnRecord(msgspec.Struct, kw_only=True):
    """What a column of the table contains; see `golem.data.table_summary.ColumnSummary`."""

    name: str
    kind: Literal["numeric", "category"] = "numeric"
    missing: int = 0
    values: int | None = None
    low: float | None = None
    high: float | None = None
    levels: list[tuple[str, int]] = []
    may_be_codes: bool = False


class TableRecord(msgspec.Struct, kw_only=True):
    """A summary of the table that was read; `sampled` is the number of rows behind it, if not all rows."""

    rows: int
    columns: list[ColumnRecord] = []
    sampled: int | None = None


class LeftOutRecord(msgspec.Struct, kw_only=True):
    """A column that was left out of the table, because no graph can be learned with it."""

    name: str
    reason: str = ""


class NoiseRecord(msgspec.Struct, kw_only=True):
    """The noise model and, if golem chose it, the reason."""

    model: dict[str, Any] | None = None
    kind: str | None = None
    tau: float | None = None
    scores: Numbers | None = None
    reason: str | None = None


class StatusRecord(msgspec.Struct, kw_only=True):
    """How a solve ended."""

    name: str | None = None
    message: str | None = None


class SelectionRecord(msgspec.Struct, kw_only=True):
    """How the settings were chosen; `path` has one row per setting."""

    method: str | None = None
    chosen: dict[str, Any] = {}
    path: list[dict[str, Any]] = []


class BootstrapRecord(msgspec.Struct, kw_only=True):
    """A bootstrap: the consensus graph, and one row for every edge that some replicate has."""

    replicates: int | None = None
    requested: int | None = None
    unit: str | None = None
    seed: Seed | None = None
    level: float | None = None
    em: bool = False
    edges: list[EdgeValues] = []
    consensus: list[tuple[str, str]] | None = None


class FindingRecord(msgspec.Struct, kw_only=True):
    """One finding of a diagnosis."""

    name: str
    level: str
    finding: str
    remedy: str = ""
    headline: str = ""
    edges: list[tuple[str, str]] = []


class CandidateRecord(msgspec.Struct, kw_only=True):
    """How many undecided directions an intervention on a variable would decide: on average, and at least."""

    variable: str
    decided: float
    least: int


class VariableRecord(msgspec.Struct, kw_only=True):
    """The type of a variable; the first level of a category is its reference level."""

    kind: Literal["numeric", "category"]
    levels: list[str] = []


class CoefficientRecord(msgspec.Struct, kw_only=True):
    """A coefficient of an edge with a category at one of its ends; the level at an end that is a number is null."""

    source: str
    source_level: str | None
    target: str
    target_level: str | None
    coefficient: float
    standard_error: float | None = None


class TraceRecord(msgspec.Struct, kw_only=True):
    """The terms of the objective at one iteration."""

    iteration: int
    seconds: float
    terms: Numbers


class GraphDocument(msgspec.Struct, kw_only=True):
    """The content of graph.json.

    `r2` is the share of the variance of each variable that its parents explain.
    `variables`, in the order of the names, and `coefficients` are null unless the table has categories. What a category
    does not have, such as an intercept, is null.
    `refits` and `history` say how many graphs a user of the studio looked at before this one, and what was changed.
    `series` is absent unless the rows follow each other in time or belong to units.
    `effective_rows` is null unless rows depend on each other. Then there are only so many independent rows, and
    frequencies, intervals and losses are overstated. `raw_weights` are the weights before rounding as (source,
    target, weight), with variables by number; null if nothing was rounded.
    """

    format: Literal["golem-graph"] = "golem-graph"
    format_version: int = FORMAT_VERSION
    golem: str | None = None
    n: RowCount | None = None
    d: int | None = None
    edges: int | None = None
    undecided: int | None = None
    by_variance: int | None = None
    by_shape: int | None = None
    by_intervention: int | None = None
    shape_note: str | None = None
    robust_note: str | None = None
    noise: NoiseRecord | None = None
    environments: list[EnvironmentRecord] | None = None
    series: SeriesRecord | msgspec.UnsetType = msgspec.UNSET
    missing: dict[str, Any] | None = None
    status: StatusRecord | None = None
    interrupted: bool | None = None
    objective: Numbers | None = None
    bic: float | None = None
    cut_edges: int | None = None
    iterations: int | None = None
    seconds: float | None = None
    stationarity: float | None = None
    settings: dict[str, Any] | None = None
    used: dict[str, Any] | None = None
    selection: SelectionRecord | None = None
    graph_scores: Numbers | None = None
    knowledge: dict[str, list[list[str]]] | None = None
    refits: int | msgspec.UnsetType = msgspec.UNSET
    history: list[str] | msgspec.UnsetType = msgspec.UNSET
    moments_hash: str | None = None
    versions: dict[str, str] | None = None
    data: SourceRecord | None = None
    table: TableRecord | None = None
    left_out: list[LeftOutRecord] | None = None
    bootstrap: BootstrapRecord | None = None
    diagnostics: list[FindingRecord] | None = None
    next_experiment: list[CandidateRecord] | None = None
    effective_rows: int | None = None
    confidence_overstated: bool = False
    names: list[str]
    weighted: bool = True
    score: str | None = None
    variables: list[VariableRecord] | None = None
    r2: list[float | None] | None = None
    noise_variances: list[float | None] | None = None
    intercepts: list[float | None] | None = None
    edge_table: list[EdgeValues] = []
    coefficients: list[CoefficientRecord] | None = None
    raw_weights: list[tuple[int, int, float]] | None = None
    trace: list[TraceRecord] | None = None

    def __post_init__(self) -> None:
        """Refuse references to variables that do not exist, and columns of variables of another length."""
        self.edge_table = [dict(current_columns(row)) for row in self.edge_table]
        d, known = len(self.names), set(self.names)
        if not all(0 <= i < d and 0 <= j < d for i, j, _ in self.raw_weights or ()):
            raise ValueError(f"raw_weights must refer to variables by numbers from 0 to {d - 1}.")
        coefficients = [(one.source, one.target) for one in self.coefficients or ()]
        resampled = self.bootstrap or BootstrapRecord()
        if unknown := [
            name
            for ends in (*map(_ends, [*self.edge_table, *resampled.edges]), *(resampled.consensus or ()), *coefficients)
            for name in ends
            if name not in known
        ]:
            raise ValueError(f"An edge has the end {quoted(unknown[:1])}, which is not a node.")
        for name in ("r2", "noise_variances", "intercepts", "variables"):
            if (values := getattr(self, name)) is not None and len(values) != d:
                raise ValueError(f"{name} must have {counted(d, 'number')}, one per name.")
        if self.lags:
            self._require_lags()

    def _require_lags(self) -> None:
        """Refuse names other than the variables of the series and their lags, and edges into the past."""
        present = self.series.variables if isinstance(self.series, SeriesRecord) else []
        steps = range(1, self.lags + 1) if len(self.names) == len(present) * (self.lags + 1) else ()
        if {*present, *(f"{name}@{lag}" for lag in steps for name in present)} != {*self.names}:
            raise ValueError("The names must be the variables of the series and their lags, such as x and x@1.")
        if any(row["target"] not in present for row in self.edge_table):
            raise ValueError("An edge of a series must end in the present.")

    @property
    def lags(self) -> int:
        """Number of lags; 0 if the graph is not that of a series."""
        return self.series.lags if isinstance(self.series, SeriesRecord) else 0

    @property
    def rows(self) -> int | None:
        """Number of rows that were used; EM uses all rows, and n is the number of complete rows that are as precise."""
        missing = self.missing or {}
        read = missing.get("rows_read")
        return read if missing.get("method") == "em" and isinstance(read, int) else self.n

    @classmethod
    def of_graph(cls, graph: NamedGraph) -> GraphDocument:
        """Return the document of a graph without a fit."""
        weighted = "weight" in graph.edge_columns
        empty: EdgeValues = {"weight": None} if weighted else {}
        return cls(
            names=list(graph.names),
            weighted=weighted,
            variables=graph.variables,
            noise_variances=None if graph.noise_variances is None else graph.noise_variances.tolist(),
            intercepts=None if graph.intercepts is None else graph.intercepts.tolist(),
            edge_table=[
                {"source": cause, "target": effect, **empty, **row} for cause, effect, row in graph.edge_list()
            ],
            coefficients=graph.coefficients,
        )

    def graph(self) -> NamedGraph:
        """Return the graph; refuse repeated names, unknown or repeated edges, and weights that are not finite."""
        known = [{key: value for key, value in row.items() if value is not None} for row in self.edge_table]
        edges = [(str(row.pop("source")), str(row.pop("target")), row) for row in known]
        absent = [None] * len(self.names)
        values = zip(self.noise_variances or absent, self.intercepts or absent, strict=True)
        nodes = [{"noise_variance": variance, "intercept": intercept} for variance, intercept in values]
        graph = NamedGraph.from_lists(self.names, edges, nodes)
        return replace(graph, variables=self.variables, coefficients=self.coefficients)

    def edge_rows(self) -> list[EdgeRow]:
        """Return the edges of a fit, the strongest first."""
        return msgspec.convert(self.edge_table, list[EdgeRow])

    def plain(self) -> dict[str, Any]:
        """Return the document as dictionaries, lists and numbers."""
        return dict(msgspec.to_builtins(self))

    def text(self) -> str:
        """Return the text of graph.json; infinite numbers and NaN become null."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"


def read_document(text: str | bytes) -> GraphDocument:
    """Read the text of a graph.json of any version, or of a JSON object with `names` and `weights`."""
    return document_of(parse_json(text))


def parse_json(text: str | bytes) -> Any:
    """Return the content of a JSON text; raise a ValueError if it is damaged or nested too deeply."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def document_of(content: Any) -> GraphDocument:
    """Return the document of parsed JSON; raise a ValueError, with the key, if a value has the wrong type."""
    if not isinstance(content, dict):
        raise ValueError("A graph document must be a JSON object.")
    version = content.get("format_version", 1)
    if not isinstance(version, int) or version > LAGGED_VERSION:
        raise ValueError(f"This version of golem cannot read format version {reprlib.repr(version)}. Update golem.")
    try:
        return msgspec.convert(content if version >= FORMAT_VERSION else _upgraded(content), GraphDocument)
    except msgspec.ValidationError as error:
        value, at, key = str(error).rpartition(" - at ")  # the value can be as long as the file
        raise ValueError(f"{value[:100]}{at}{key[:100]}" if at else str(error)[:200]) from None
    except (LookupError, TypeError, AttributeError):
        raise ValueError("A value of the document, which has format version 1, has the wrong type.") from None


def sparse(matrix: ArrayLike) -> list[tuple[int, int, float]]:
    """Return the nonzero entries of a matrix as (row, column, value)."""
    B = np.asarray(matrix, dtype=float)
    rows, columns = np.nonzero(B)
    return list(zip(rows.tolist(), columns.tolist(), B[rows, columns].tolist(), strict=True))


def _upgraded(content: dict[str, Any]) -> dict[str, Any]:
    """Turn the matrices of version 1 into lists of edges."""
    names = content.get("names")
    if not isinstance(names, list) or "weights" not in content:
        raise ValueError("A graph needs `names` and `weights`, or `names`, `edge_table` and format_version 2.")
    weights = weight_matrix(content["weights"], names)
    weighted = bool(content.get("weighted", True))
    rows: dict[tuple[Any, Any], EdgeValues] = {
        (names[i], names[j]): {"weight": weight} if weighted else {} for i, j, weight in sparse(weights)
    }
    resampled = (content.get("bootstrap") or {}).get("edges") or []
    for listed in (content.get("edge_table") or [], [row for row in resampled if _ends(row) in rows]):
        for row in listed:
            columns = rows.setdefault(_ends(row), {"weight": 0.0} if weighted else {})
            columns.update({key: value for key, value in row.items() if value is not None})  # null: not computed
    for source, target in content.get("undecided_edges") or []:
        rows[source, target]["directed"] = False
    raw = content.get("raw_weights")
    dense = None if raw is None else weight_matrix(raw, names, "the raw weights")
    kept = {key: value for key, value in content.items() if key not in ("weights", "undecided_edges")}
    return kept | {
        "format_version": FORMAT_VERSION,
        "edge_table": [{"source": ends[0], "target": ends[1]} | row for ends, row in rows.items()],
        "raw_weights": None if dense is None or np.array_equal(dense, weights) else sparse(dense),
    }


def _ends(row: Any) -> tuple[Any, Any]:
    """Return the source and target of an edge."""
    if not isinstance(row, dict) or not isinstance(row.get("source"), str) or not isinstance(row.get("target"), str):
        raise ValueError("Every edge needs a source and a target.")
    return row["source"], row["target"]
