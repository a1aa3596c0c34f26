"""The graph document of a fitted model, and the files that contain it: graph.json, edges.csv, weights.csv, path.csv.

The document is the content of the report and of the summary in the terminal as well.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from golem.assessment.bootstrap_result import Bootstrap
from golem.assessment.diagnostics import Diagnosis
from golem.assessment.next_experiment import next_experiment
from golem.assessment.selection import Selection
from golem.data.missing import Missing
from golem.data.series import Series
from golem.data.table import Table
from golem.data.table_summary import TableSummary
from golem.data.unusable import Unusable
from golem.estimator.fit import Fit
from golem.estimator.golem import Golem
from golem.estimator.settings import is_counted
from golem.gradient.paper_recipe import NOISE_MODELS
from golem.graphs.formats.csv_tables import write_matrix
from golem.graphs.graph_document import (
    FORMAT_VERSION,
    LAGGED_VERSION,
    BootstrapRecord,
    CandidateRecord,
    CoefficientRecord,
    EnvironmentRecord,
    FindingRecord,
    GraphDocument,
    LeftOutRecord,
    NoiseRecord,
    SelectionRecord,
    SeriesRecord,
    SourceRecord,
    StatusRecord,
    TableRecord,
    TraceRecord,
    VariableRecord,
    sparse,
)
from golem.graphs.named_graph import EDGE_COLUMNS, LAG, LINK_SOURCES, STRENGTH
from golem.output.edge_list import FROM_BOOTSTRAP, confidence, edge_table, fit_of, for_json
from golem.output.run_record import plain, settings, versions
from golem.runtime.files import csv_text, write_text
from golem.runtime.version import __version__
from golem.score.regression import Regressions
from golem.score.solution import Status, TracePoint

# All files that a fit writes into its folder; the last two only with a selection.
# `coefficients.csv` is for tables with categories, which have no `weights.csv`.
RESULT_FILES = (
    "graph.json", "edges.csv", "weights.csv", "coefficients.csv", "graph.png", "report.html", "path.csv", "path.png",
)  # fmt: skip
# A matrix of more variables would be a file of megabytes of zeros, and edges.csv has all edges.
LARGEST_MATRIX = 1000
# Points of the trace, rows of the ranking of experiments, and columns whose means shift most per environment.
_MOST_POINTS, _MOST_EXPERIMENTS, _MOST_SHIFTS = 200, 20, 5
# Experiments on all variables of a larger graph take minutes to compare.
_MOST_COMPARED = 20_000
# Shifts below this many standard deviations are not listed, except those of targets.
_LEAST_SHIFT = 0.1
_SOFT_WEIGHTS = (
    "A weight describes the environments that do not change the effect. If it is near 0, the edge may act only in "
    "those that do."
)
# What each score is, in the words of tables and pages.
SCORE_WORDS = {
    "gaussian": "Gaussian score for numbers",
    "mixed": "score for mixed tables (degenerate Gaussian)",
    "bdeu": "BDeu score for categories, with an equivalent sample size of 1",
    "discrete-bic": "BIC for categories",
}


@dataclasses.dataclass(frozen=True)
class Supplement:
    """Optional results of a fit, to be written and shown with the model.

    Parameters
    ----------
    data : mapping, optional
        Which files were read and how, to repeat the run.
    table : TableSummary, optional
        A summary of the table.
    bootstrap : Bootstrap, optional
        What `golem.bootstrap` returned.
    diagnosis : Diagnosis, optional
        What `golem.diagnose` returned.
    left_out : tuple of Unusable
        Columns that were left out because no graph can be learned with them.

    Examples
    --------
    >>> import golem
    >>> from golem.output import Supplement
    >>> from golem.simulate import simulate
    >>> model = golem.Golem().fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> Supplement(diagnosis=golem.diagnose(model)).bootstrap is None
    True
    """

    data: Mapping[str, Any] | None = None
    table: TableSummary | None = None
    bootstrap: Bootstrap | None = None
    diagnosis: Diagnosis | None = None
    left_out: tuple[Unusable, ...] = ()


def save(model: Golem, folder: str | Path, supplement: Supplement | None = None) -> list[Path]:
    """Write graph.json, edges.csv and, unless there are many variables, weights.csv into a folder, each atomically.

    Examples
    --------
    >>> import tempfile
    >>> from golem import Golem
    >>> from golem.output import save
    >>> from golem.simulate import simulate
    >>> model = Golem().fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save(model, folder)]
    ['graph.json', 'edges.csv', 'weights.csv']
    """
    return save_document(describe(model, supplement), folder)


def save_document(document: GraphDocument, folder: str | Path) -> list[Path]:
    """Write graph.json, edges.csv and, for at most `LARGEST_MATRIX` variables, weights.csv of a graph document.

    A table with categories has coefficients.csv instead of weights.csv, because not all of its edges have weights.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    hidden = [*(FROM_BOOTSTRAP if document.bootstrap is None else ())]
    hidden += [STRENGTH] if document.coefficients is None else []
    hidden += [] if document.lags else [LAG]
    columns = [name for name in EDGE_COLUMNS if name not in hidden]
    contents = {"graph.json": document.text(), "edges.csv": _csv(columns, document.edge_table)}
    if document.coefficients is not None:
        rows = map(msgspec.structs.asdict, document.coefficients)
        contents["coefficients.csv"] = _csv(CoefficientRecord.__struct_fields__, rows)
    elif len(document.names) <= LARGEST_MATRIX:
        contents["weights.csv"] = write_matrix(document.graph())
    for name, content in contents.items():
        write_text(folder / name, content)
    return [folder / name for name in contents]


def path_text(selection: Selection) -> str:
    """Return the text of path.csv, with one row per setting."""
    return _csv([*selection.path[0]], selection.path)


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a table as CSV."""
    return csv_text([[*columns], *([row[name] for name in columns] for row in rows)])


def describe(model: Golem, supplement: Supplement | None = None) -> GraphDocument:
    """Return the graph document of a fitted model."""
    supplement = supplement or Supplement()
    bootstrap, diagnosis, selection = supplement.bootstrap, supplement.diagnosis, getattr(model, "selection_", None)
    fit, recorded = fit_of(model), settings(model)
    graph, score, solution, table = fit.graph, fit.score, fit.solution, fit.table
    raw, sources = solution.raw, Counter([] if graph.sources is None else graph.sources.tolist())
    same = isinstance(raw, Regressions) or np.array_equal(raw, graph.matrix(graph.weights))
    return GraphDocument(
        golem=__version__,
        n=table.n,
        d=graph.d,
        edges=len(graph),
        undecided=sum(sources[source] for source in LINK_SOURCES),
        by_variance=sources["variances"],
        by_shape=sources["shape"],
        by_intervention=sources["interventions"],
        shape_note=graph.shape_note or None,
        robust_note=table.robust_note or None,
        noise=_noise(fit),
        environments=_environments(table) or None,
        missing=_missing(table.missing, diagnosis),
        status=StatusRecord(name=solution.status.name.lower(), message=solution.status.value),
        interrupted=solution.status is Status.INTERRUPTED,
        objective=for_json(solution.terms),
        bic=None if graph.reversible is None else for_json(score.bic(graph)),
        cut_edges=solution.cut_edges,
        iterations=solution.iterations,
        seconds=solution.seconds,
        stationarity=for_json(solution.stationarity),
        settings=recorded,
        used=used(model),
        selection=None if selection is None else SelectionRecord(**for_json(vars(selection))),
        graph_scores=for_json(solution.graph_scores or {}),
        knowledge=recorded["knowledge"],
        moments_hash=table.fingerprint,
        versions=versions(),
        data=None if supplement.data is None else SourceRecord(**supplement.data),
        table=msgspec.convert(supplement.table, TableRecord | None, from_attributes=True),
        left_out=[LeftOutRecord(name=one.name, reason=one.reason) for one in supplement.left_out] or None,
        bootstrap=None if bootstrap is None else _bootstrap(bootstrap),
        diagnostics=None if diagnosis is None else [FindingRecord(**row) for row in diagnosis.records()],
        next_experiment=_experiments(model) if sources["none"] and graph.d <= _MOST_COMPARED else None,
        effective_rows=None if diagnosis is None else diagnosis.effective_rows,
        confidence_overstated=diagnosis is not None and diagnosis.effective_rows is not None,
        series=_series(table.series),
        format_version=LAGGED_VERSION if table.series is not None and table.series.lags else FORMAT_VERSION,
        score=score.name,
        r2=for_json(1 - graph.residual_variances / score.regression.variances()),
        raw_weights=None if same else sparse(raw),
        trace=_trace(solution.trace),
        **graph_keys(model, bootstrap),
    )


def graph_keys(model: Any, bootstrap: Bootstrap | None = None) -> dict[str, Any]:
    """Return the keys of the document about the graph itself, also of a baseline with weights."""
    fit = fit_of(model)
    graph, score, coding = fit.graph, fit.score, fit.table.coding
    edges = edge_table(model, bootstrap)
    if not len(fit.table.past):
        edges = [{name: value for name, value in row.items() if name != LAG} for row in edges]
    found: dict[str, Any] = {"names": [*coding.names], "edge_table": edges}
    if graph.reversible is not None:  # a graph with a cycle has no model
        found["noise_variances"] = for_json(score.likelihood.noise_variances(graph.residual_variances))
        found["intercepts"] = for_json(score.regression.intercepts_of(graph, graph.weights))
    if coding.categories:
        found["variables"] = [VariableRecord(kind=one.kind, levels=[*one.levels]) for one in coding.variables]
        found["coefficients"] = [CoefficientRecord(**one._asdict()) for one in score.coefficients(graph)]
    return found


def _series(series: Series | None) -> SeriesRecord | msgspec.UnsetType:
    """Describe how the rows follow each other; absent if they do not."""
    if series is None:
        return msgspec.UNSET
    return SeriesRecord(
        variables=[*series.variables],
        lags=series.lags,
        stretches=series.stretches,
        units=series.units,
        periods=series.periods,
        notes=[*series.notes],
    )


def _missing(gaps: Missing | None, diagnosis: Diagnosis | None) -> dict[str, Any] | None:
    """Describe missing values and what was done about them, also in the checks; None if there were none."""
    if gaps is None:
        return None
    checks = diagnosis is not None and gaps.method == "em" and gaps.cells
    more = " Checks that need rows leave out those with missing values." if checks else ""
    return dataclasses.asdict(gaps) | {"sentence": f"{gaps.sentence}{more}"}


def _environments(table: Table) -> list[EnvironmentRecord]:
    """Describe the environments."""
    names, records = table.names, []
    for part, shifts in zip(table.environments, table.shifts() if table.environments else (), strict=True):
        largest = np.argsort(-np.abs(shifts), kind="stable")[:_MOST_SHIFTS].tolist()
        listed = [*part.targets, *(j for j in largest if j not in part.targets and abs(shifts[j]) >= _LEAST_SHIFT)]
        records.append(
            EnvironmentRecord(
                label=part.label,
                rows=part.moments.n,
                targets=[names[j] for j in part.targets],
                shifts={names[j]: float(shifts[j]) for j in listed},
            )
        )
    return records


def note_on_weights(document: GraphDocument) -> str:
    """Return what weights describe if an effect depends on its causes in other ways where a soft intervention is."""
    is_soft = (document.settings or {}).get("intervention") == "soft"
    changed = {name for one in document.environments or () for name in one.targets}
    return _SOFT_WEIGHTS if is_soft and any(edge["target"] in changed for edge in document.edge_table) else ""


def _experiments(model: Golem) -> list[CandidateRecord]:
    """Describe the most useful experiments."""
    ranking = next_experiment(model).ranking[:_MOST_EXPERIMENTS]
    return [CandidateRecord(variable=row.variable, decided=row.decided, least=row.least) for row in ranking]


def _bootstrap(bootstrap: Bootstrap) -> BootstrapRecord:
    """Describe a bootstrap."""
    names = bootstrap.names
    return BootstrapRecord(
        replicates=bootstrap.replicates,
        requested=bootstrap.requested,
        unit=bootstrap.unit,
        seed=bootstrap.seed,
        level=bootstrap.level,
        em=bootstrap.em,
        edges=[
            {"source": names[i], "target": names[j], **confidence(bootstrap, i, j)}
            for i, j in np.argwhere(bootstrap.direction_frequency > 0)
        ],
        consensus=[(names[i], names[j]) for i, j in np.argwhere(bootstrap.consensus)],
    )


def _noise(fit: Fit) -> NoiseRecord | None:
    """Return the noise model used and, if it was chosen, why; None if not all variables have noise."""
    if fit.score.noise_model is None:
        return None
    recorded, choice = plain(fit.score.noise_model), fit.solution.noise_choice
    if choice is None:
        return NoiseRecord(model=recorded, reason=fit.score.why_free() or None)
    scores = for_json(choice.scores)
    return NoiseRecord(model=recorded, kind=choice.kind, tau=choice.tau, scores=scores, reason=choice.reason)


def used(model: Golem) -> dict[str, Any]:
    """Return the penalties of a fit, with the defaults filled in."""
    if is_counted(model):
        return model.fit_.score.prior_settings() | {"edge_penalty": plain(model.edge_penalty_)}
    paper = NOISE_MODELS[model.noise]
    return {
        "lambda_sparsity": paper.lambda_sparsity if model.lambda_sparsity is None else plain(model.lambda_sparsity),
        "lambda_dag": paper.lambda_dag if model.lambda_dag is None else plain(model.lambda_dag),
        "threshold": for_json(model.threshold_),
        "acyclicity": plain(model.acyclicity or "expm"),
        "cycles": model.cycles or ("gentle" if model.threshold == "lr" else "paper"),
    }


def _trace(points: Sequence[TracePoint]) -> list[TraceRecord]:
    """Return the terms of the score during the solve, at evenly spaced points including the last."""
    kept = np.unique(np.linspace(0, len(points) - 1, min(_MOST_POINTS, len(points))).round().astype(int))
    chosen = [points[k] for k in kept]
    return [TraceRecord(iteration=p.iteration, seconds=p.seconds, terms=for_json(p.terms)) for p in chosen]
