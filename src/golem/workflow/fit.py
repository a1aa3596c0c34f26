"""What `golem fit` does: read, learn, bootstrap, check, write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sklearn.base import clone

from golem.assessment.bootstrap_result import Bootstrap
from golem.assessment.diagnostics import Diagnosis, EdgeScatter
from golem.assessment.diagnostics.edges import model_scatters
from golem.assessment.selection import GolemCV, Selection
from golem.data.checks import DataWarning
from golem.data.coded_tables import counts_in_moments
from golem.data.files.standard_input import spooled
from golem.data.files.table_files import listed
from golem.data.inputs import check_knowledge
from golem.data.knowledge import Knowledge, NamedKnowledge, as_knowledge
from golem.data.levels import warn_of_single_rows
from golem.data.reading import Reading
from golem.data.series import with_lags
from golem.data.source import Purpose, Source, open_source
from golem.data.table_checks import require_enough_rows
from golem.data.table_reading import Targets
from golem.data.table_summary import TableSummary
from golem.data.targets import read_targets
from golem.data.typed_edges import with_edges
from golem.estimator.golem import Golem
from golem.gradient.certificate import Certificate
from golem.graphs.graph_document import GraphDocument
from golem.output.document import RESULT_FILES, Supplement, describe
from golem.output.notebook import model_html
from golem.output.run_record import Repeat
from golem.runtime.files import is_formula, require_writable
from golem.runtime.messages import quoted, warn_user
from golem.runtime.names import suggests_parameters
from golem.runtime.problems import Parameter, ProblemError, Text
from golem.runtime.progress import ProgressDisplay
from golem.workflow.steps import (
    SILENT,
    assess,
    choose,
    learn,
    naming_table,
    require_kept,
    title_of,
    was_interrupted,
    write,
)
from golem.workflow.usable_table import UsableTable


@dataclass(frozen=True, eq=False)
class FitResult:
    """The result of `fit_file`.

    Parameters
    ----------
    model : Golem
        The fitted model.
    output : Path
        The folder with the files.
    supplement : Supplement
        The names of the data files, the bootstrap and the diagnosis.
    document : GraphDocument
        The content of graph.json.
    selection : Selection, optional
        How the penalties were chosen.
    certificate : Certificate, optional
        A stationary point of the paper's score.
    repeat : Repeat, optional
        Comparison with the run that was repeated.
    interrupted : bool
        Whether Ctrl-C ended the fit, the bootstrap or the checks.

    Examples
    --------
    >>> from golem import fit_file
    >>> result = fit_file("data.csv", "out", bootstrap=100)  # doctest: +SKIP
    >>> edges, stable = result.model.edges_, result.bootstrap.consensus  # doctest: +SKIP
    >>> [finding.name for finding in result.diagnosis.at("warning")]  # doctest: +SKIP
    []
    """

    model: Golem
    output: Path
    supplement: Supplement
    document: GraphDocument
    selection: Selection | None = None
    certificate: Certificate | None = None
    repeat: Repeat | None = None
    interrupted: bool = False

    def _repr_html_(self) -> str:
        """Show the model with its bootstrap and findings in notebooks."""
        return model_html(self.model, self.supplement)

    @property
    def bootstrap(self) -> Bootstrap | None:
        """The bootstrap, if there was one."""
        return self.supplement.bootstrap

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The findings about the graph, if it was checked."""
        return self.supplement.diagnosis


@suggests_parameters(Golem)
def fit_file(
    data: str | Path | Sequence[str | Path],
    output: str | Path,
    model: Golem | None = None,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    na: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    log: Sequence[str] = (),
    transpose: bool = False,
    covariance: bool = False,
    rows: int | None = None,
    environment: str | None = None,
    environments: bool = False,
    targets: Targets | str | Path | None = None,
    drop_dependent: bool = False,
    missing: Literal["auto"] | None = None,
    strict: bool = True,
    forbid: Sequence[str] = (),
    require: Sequence[str] = (),
    select: Literal["bic", "cv", "stability"] | None = None,
    bootstrap: int | None = None,
    diagnose: bool = True,
    certificate: bool = False,
    scatter: bool = False,
    scheduler: str | None = None,
    checkpoint: str | Path | None = None,
    random_state: int = 0,
    progress: ProgressDisplay = SILENT,
) -> FitResult:
    r"""Learn a graph from a table in files, check it, and write the results into a folder.

    Parameters
    ----------
    data : path or list of paths
        CSV, Parquet or .npy files, folders or patterns; their rows form one table. "-" is standard input. Excel, Stata
        and SPSS files are read by pandas, if it is installed, and Feather files by PyArrow. Or the covariance file of
        Tetrad.
    output : path
        Folder for graph.json, edges.csv, graph.png and report.html; for at most 1000 columns also weights.csv; with
        `select` also path.csv and path.png.
    model : Golem, optional
        Settings, by default `Golem()`. It is not changed; the fitted model is in the result.
    columns, drop, header, na, categorical, numeric
        How the files are read; see `golem.readers.moments_from_file`.
    log : sequence of str
        Columns of which to take the natural logarithm; patterns such as `T*` work, as in `drop`.
    transpose : bool
        Whether variables are in rows, as in tables of gene expression; a first column of text has their names.
    covariance : bool
        Whether the file is a covariance matrix; see `golem.readers.read_covariance`.
    rows : int, optional
        Number of rows behind the covariance matrix.
    environment : str, optional
        The column that says from which experiment each row comes.
    environments : bool
        Whether every file is an environment, whose label is the name of the file without its ending.
    targets : mapping or path, optional
        The columns that each environment changes, by label, or a JSON file with them.
    drop_dependent : bool
        Drop columns that are constant, and those that others determine (copies, linear combinations), instead of
        refusing the table. Categories that others determine are dropped as well.
    missing : "auto", optional
        Choose the treatment of missing values instead of that of the model: Gaussian EM where it applies, else the
        complete rows if most rows are complete.
    strict : bool
        Whether to refuse a table with columns that are constant, determined by others or text with too many values. If
        not, these are left out, as are columns that identify rows, and the result says which.
    forbid, require : sequence of str
        Forbidden and required edges such as "A->B", in addition to the knowledge of the model.
    select : {"bic", "cv", "stability"}, optional
        Choose the penalty per edge from the data; see `golem.GolemCV`.
    bootstrap : int, optional
        Number of graphs to learn from resampled rows; see `golem.bootstrap`.
    diagnose : bool
        Whether to check the graph; see `golem.diagnose`.
    certificate : bool
        Whether to find a stationary point of the paper's score (noise="ev"); see `Golem.certify`.
    scatter : bool
        Whether the report shows a scatter plot per edge; it then contains values of up to 300 rows.
    scheduler : str, optional
        Address of a Dask scheduler whose workers read the files, or "local".
    checkpoint : path, optional
        File that keeps the state of a long solve of the graph of all rows, so that the same call can continue it; see
        `Golem.fit`.
    random_state : int
        Random seed of the selection and the bootstrap.
    progress : ProgressDisplay
        Receives the progress of long work; silent by default.

    Raises
    ------
    ValueError
        If the files, settings or data are invalid. Errors that do not depend on the rows are raised before reading.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b" + "".join(f"\n{k},{k * k % 7}" for k in range(100)))
    ...     result = fit_file(path, pathlib.Path(folder, "out"), diagnose=False)
    ...     sorted(path.name for path in result.output.iterdir())
    ['edges.csv', 'graph.json', 'graph.png', 'report.html', 'weights.csv']
    """
    if not isinstance(model, Golem | None):
        raise ProblemError.of(
            "The model must be a Golem; got {__name__}. Instead of a GolemCV, use {select=...}.",
            __name__=type(model).__name__,
        )
    model = Golem() if model is None else clone(model)  # the fit changes it
    paths, folder = list(map(str, listed(data))), Path(output)
    columns_read = (columns, drop, header, na, categorical, numeric)
    reading = Reading(*columns_read, covariance, rows, environment, environments, log, transpose)
    known = read_targets(targets) if isinstance(targets, str | Path) else targets
    search = None if select is None else GolemCV(model, select, random_state=random_state)
    _require_consistent(model, search, bootstrap, certificate, folder, known is not None)
    _require_useful_checkpoint(model, search, checkpoint)
    with spooled(paths) as here:
        settings = model.settings
        purpose = Purpose(
            divided=bool(bootstrap) or select in ("cv", "stability") or model.robust == "ranks",
            halved=model.evidence != "fast",
            checked=diagnose or scatter or settings.uses_shape or settings.robust_moments == "auto",
            scheduler=scheduler,
            statistics=settings.table_statistics,
            robust=settings.robust_moments,
        )
        opened = UsableTable(
            lambda reading, strict: open_source(here, reading, replace(purpose, strict=strict), known, settings.series),
            reading,
            model.missing,
            chooses_missing=missing == "auto",
            leaves_out=not strict,
        )
        source, known_before = opened.source, model.knowledge
        require_kept(source.paths, folder, RESULT_FILES)
        if scatter:
            _require_rows(source)
        if source.made_up_names:
            progress.note(f"Without a header line, the columns are named {', '.join(source.names[:2])}, ...")
        if formulas := [name for name in source.names if is_formula(name)]:
            warn_user(
                f"Spreadsheets take the names {quoted(formulas)} in edges.csv and weights.csv for formulas. For a "
                "spreadsheet, use `golem export --spreadsheet`.",
                DataWarning,
            )

        def learn_graph() -> tuple[TableSummary | None, Selection | None]:
            """Read the table, and learn its graph; a refused table may be read again with less."""
            model.set_params(knowledge=known_before)
            if drop_dependent and (unusable := opened.source.unusable(opened.missing, progress)):
                opened.leave_out(unusable)
            source = opened.source
            names = with_lags(source.names, model.lags)
            _add_edges(model, listed(forbid), listed(require), names, source.all_names, progress)
            table = opened.read(progress)
            model.set_params(missing=opened.missing)
            with naming_table(paths):
                if model.settings.counts_edges:
                    with source.describing_refusal(opened.missing, progress):
                        require_enough_rows(table)
                if certificate and table.coding.categories:
                    raise ProblemError.of(
                        "{certificate=True} needs a table of numbers, and this one has categories. Leave it out, "
                        "and use {noise='auto'}."
                    )
                opened.require_usable(model, table)
                if not diagnose:  # the checks name rare levels
                    warn_of_single_rows(counts_in_moments([part.moments for part in table.parts]))
                summary = _shown_summary(source, progress)
                selection = None if search is None else choose(search, model, table, progress)
                learn(model, table, progress, checkpoint)
            return summary, selection

        summary, selection = opened.learn(learn_graph, progress)
        source = opened.source
        with naming_table(paths):
            if selection is not None:
                model.remember(selection=selection)
            title = title_of(paths)
            supplement = Supplement(
                _files(paths, folder, opened.reading, targets), summary, left_out=tuple(opened.left_out)
            )
            supplement, left = assess(
                model, source, supplement, folder, title, bootstrap, diagnose, random_state, progress
            )
            document = describe(model, supplement)
            more = f" The same command continues from {checkpoint}." if checkpoint and was_interrupted(model) else ""
            shown = {"title": title, "scatters": _scatters(model, source, progress) if scatter else []}
            write(model, folder, document, left or "The results are", more, **shown)
    return FitResult(
        model,
        folder,
        supplement,
        document,
        selection=selection,
        certificate=model.certify() if certificate else None,
        interrupted=left is not None,
    )


def _require_consistent(
    model: Golem, search: GolemCV | None, bootstrap: int | None, certificate: bool, output: Path, interventional: bool
) -> None:
    """Raise a ValueError for settings that cannot work, before the rows are read."""
    if bootstrap is not None and (bootstrap < 1 or bootstrap != int(bootstrap)):
        raise ProblemError(Parameter("bootstrap"), f" must be a positive whole number or None; got {bootstrap!r}.")
    if certificate and model.noise != "ev":
        raise ProblemError.of(
            "A certificate needs a table of numbers and {noise='ev'}; got {noise=}.", noise=model.noise
        )
    model.settings.check().require_for(interventional)
    for name in ("time", "unit"):
        if not isinstance(getattr(model, name), str | None):
            raise ProblemError(Parameter(name), " must be the name of a column of the files.")
    if search is not None and model.settings.series:
        raise ProblemError.of("{select=...} cannot be used with {lags=...} or {unit=...}.")
    if search is not None:
        search.check_settings()
        search.require_method_for(interventional)
    require_writable(output)


def _require_useful_checkpoint(model: Golem, search: GolemCV | None, checkpoint: str | Path | None) -> None:
    """Raise a ValueError if a checkpoint would not keep most of the work, before the rows are read."""
    model.settings.checkpoint_path(checkpoint)
    if checkpoint is not None and search is not None:
        raise ProblemError.of(
            "A checkpoint keeps one solve and cannot be combined with {select=}.", select=search.select
        )


def _require_rows(source: Source) -> None:
    """Raise a ValueError if there are no rows for scatter plots."""
    if not source.has_rows:
        raise ProblemError.of(
            "{scatter=True} needs the rows of one table on this machine. It cannot be used with a covariance "
            "matrix, with environments or with {scheduler=...}."
        )


def _shown_summary(source: Source, progress: ProgressDisplay) -> TableSummary | None:
    """Show the summary of a table, and return it."""
    table = source.summary
    if table is not None:
        table.show(progress)
    return table


def _files(
    paths: Sequence[str], folder: Path, reading: Reading, targets: Targets | str | Path | None
) -> dict[str, Any]:
    """Return what a later run needs to read the same files."""
    known = str(targets) if isinstance(targets, str | Path) else None
    return {"paths": paths, "folder": _path_to_here(folder)} | vars(reading) | {"targets": known}


def _add_edges(
    model: Golem,
    forbid: Sequence[str],
    require: Sequence[str],
    columns: Sequence[str],
    all_columns: Sequence[str],
    progress: ProgressDisplay,
) -> None:
    """Add forbidden and required edges to the knowledge of the model, and check that all names are columns.

    What is known about columns of the file that are not used is left out, with a note.
    """
    known = as_knowledge(model.knowledge)
    known = known.expanded(columns) if isinstance(known, NamedKnowledge) else known
    if forbid or require:
        known = known.by_name(columns) if isinstance(known, Knowledge) else known
        known = with_edges(known, forbid, require, [*columns, *(name for name in all_columns if name not in columns)])
    if isinstance(known, NamedKnowledge):
        unused = [name for name in known.names if name in all_columns and name not in columns]
        if unused:
            progress.note(f"Knowledge about {quoted(unused)} is ignored: not among the columns used.")
            known = known.without(unused)
        model.set_params(knowledge=known)
    check_knowledge(known, columns)


def _scatters(model: Golem, source: Source, progress: ProgressDisplay) -> list[EdgeScatter]:
    """Return a scatter plot per edge, or none, with a note."""
    if model.score_ != "gaussian":
        progress.note(Text.of("There are no scatter plots ({scatter=True}), because the table has categories."))
        return []
    rows = source.table.parts[0].read_rows()
    found = [] if rows is None else model_scatters(model, rows)
    if not found:
        needs = "They need edges, complete rows and at most 1000 columns"
        progress.note(Text.of("There are no scatter plots ({scatter=True}). {needs}.", needs=needs))
    return found


def _path_to_here(output: Path) -> str:
    """Return the relative path from the output folder to the current folder, where the paths of this run start."""
    here = Path.cwd()
    try:
        return os.path.relpath(here, output.resolve())
    except ValueError:  # on Windows there is no relative path between two drives
        return str(here)
