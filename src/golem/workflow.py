"""The steps of `golem fit`, also for use from Python: read, learn, bootstrap, check, write.

>>> from golem.workflow import fit_file
>>> result = fit_file("data.csv", "out", bootstrap=100)  # doctest: +SKIP
>>> result.model.weights_  # doctest: +SKIP
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sklearn.base import clone

from golem.assessment.bootstrap import Bootstrap, bootstrap
from golem.assessment.diagnostics import Diagnosis, diagnose, find_outside_intervals
from golem.assessment.selection import GolemCV, Selection
from golem.data.environment_input import Targets
from golem.data.environment_sample import EnvironmentSample
from golem.data.environments import Environments
from golem.data.files.standard_input import source_name, spooled
from golem.data.files.table_files import listed
from golem.data.inputs import check_knowledge
from golem.data.knowledge import Knowledge, NamedKnowledge, with_edges
from golem.data.moments import Moments
from golem.data.resampling import Sample
from golem.data.table_source import Reading, TableSource, open_source
from golem.data.targets import read_targets
from golem.estimator.direction_evidence import RowSource, uses_shape
from golem.estimator.environment_fit import require_environment_settings, require_observational
from golem.estimator.golem import Golem, is_counted
from golem.estimator.learned_graph import has_categories
from golem.estimator.settings import checkpoint_path
from golem.graphs.graph_document import GraphDocument
from golem.output.document import Supplement, describe
from golem.output.figures import plot_model, plot_path
from golem.output.notebook import model_html
from golem.output.repeat import Repeat, Run
from golem.output.report import report_document
from golem.output.result_files import RESULT_FILES, path_text, save_document, save_figure
from golem.runtime.files import require_writable, write_text
from golem.runtime.interrupts import holding_interrupts, keep
from golem.runtime.messages import counted, quoted
from golem.runtime.progress import Progress
from golem.runtime.result_folder import result_folder
from golem.runtime.types import Matrix
from golem.solvers import Progress as SolverProgress
from golem.solvers import Status
from golem.solvers.certificate import Certificate
from golem.solvers.order.solver import compile_search
from golem.solvers.paper_recipe import NOISE_MODELS

_SILENT = Progress()

__all__ = ["FitResult", "fit_file", "repeat_fit"]


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
    >>> result.model.edges_, result.bootstrap.consensus, result.diagnosis.findings  # doctest: +SKIP
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
    covariance: bool = False,
    rows: int | None = None,
    environment: str | None = None,
    environments: bool = False,
    targets: Targets | str | Path | None = None,
    drop_dependent: bool = False,
    forbid: Sequence[str] = (),
    require: Sequence[str] = (),
    select: Literal["bic", "cv", "stability"] | None = None,
    bootstrap: int | None = None,
    diagnose: bool = True,
    certificate: bool = False,
    scheduler: str | None = None,
    checkpoint: str | Path | None = None,
    random_state: int = 0,
    progress: Progress = _SILENT,
) -> FitResult:
    r"""Learn a graph from a table in files, check it, and write the results into a folder.

    Parameters
    ----------
    data : path or list of paths
        CSV, Parquet or .npy files, folders or patterns; their rows form one table. "-" is standard input. Or the
        covariance file of Tetrad.
    output : path
        Folder for graph.json, edges.csv, graph.png and report.html; for at most 1000 columns also weights.csv; with
        `select` also path.csv and path.png.
    model : Golem, optional
        Settings, by default `Golem()`. It is not changed; the fitted model is in the result.
    columns, drop, header, na, categorical, numeric
        How the files are read; see `golem.readers.moments_from_file`.
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
        Drop columns that are constant, copies or linear combinations of earlier columns, instead of refusing the table.
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
    scheduler : str, optional
        Address of a Dask scheduler whose workers read the files, or "local".
    checkpoint : path, optional
        File that keeps the state of a long solve of the graph of all rows, so that the same call can continue it; see
        `Golem.fit`.
    random_state : int
        Random seed of the selection and the bootstrap.
    progress : Progress
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
        raise ValueError(f"The model must be a Golem; got {type(model).__name__}. Instead of a GolemCV, use select=...")
    model = Golem() if model is None else clone(model)  # the fit changes it
    paths, folder = list(map(str, listed(data))), Path(output)
    reading = Reading(
        None if columns is None else listed(columns),
        listed(drop),
        header,
        [str(marker) for marker in listed(na)],
        listed(categorical),
        listed(numeric),
        covariance,
        rows,
        environment,
        environments,
    )
    known = read_targets(targets) if isinstance(targets, str | Path) else targets
    search = None if select is None else GolemCV(model, select, random_state=random_state)
    _require_consistent(model, search, bootstrap, certificate, folder, known is not None)
    _require_useful_checkpoint(model, search, checkpoint)
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(spooled(paths))
        divided = bool(bootstrap) or select in ("cv", "stability")
        how: dict[str, Any] = {"divided": divided, "checked": diagnose or uses_shape(model), "scheduler": scheduler}
        how["targets"] = known
        source = open_source(here, reading, **how)
        require_kept(source.paths, folder, RESULT_FILES)
        if source.made_up_names:
            progress.note(f"No header line found. The columns are named {', '.join(source.names[:2])}, ...")
        if drop_dependent and (unusable := source.unusable(model.missing, progress)):
            reading = reading.without(unusable, progress)
            source = open_source(here, reading, **how)
        _add_edges(model, listed(forbid), listed(require), source.names, source.all_names, progress)
        moments = source.read(model.missing, progress)
        if (table := source.summary) is not None:
            progress.table(table.text())
            if table.note:
                progress.note(table.note)
        with naming(paths):
            title = title_of(paths)
            files = {"paths": paths, "folder": _path_to_here(folder)} | vars(reading)
            files["targets"] = str(targets) if isinstance(targets, str | Path) else None
            supplement = Supplement(files, table)
            selection = None
            if search is not None:
                selection = choose(search, model, moments if select == "bic" else source.sample, progress)
            rows_of_fit = source.sample_of_rows
            if isinstance(source, TableSource) and isinstance(moments, Moments) and moments.coding is not None:
                rows_of_fit = source.all_rows
            learn(model, moments, progress, checkpoint, rows_of_fit)
            if selection is not None:
                model.selection_ = selection
            interrupted, found, kept = was_interrupted(model), None, "The best graph so far is"
            more = f" The same command continues from {checkpoint}." if interrupted and checkpoint else ""
            if bootstrap and not interrupted:
                # So that the graph survives a failed bootstrap.
                write(model, folder, describe(model, supplement), "The graph, without the bootstrap, is", title=title)
                found = _resample(model, source.sample, bootstrap, random_state, folder, progress)
                interrupted = found is None or found.interrupted
                kept = f"The graph and {counted(0 if found is None else found.replicates, 'replicate')} are"
            checked = None
            if diagnose and not interrupted:
                try:
                    checked = check(model, lambda: source.few_rows, progress)
                except KeyboardInterrupt:
                    interrupted, kept = True, "The graph, without the checks, is"
            if checked is not None and found is not None:
                checked = Diagnosis.of(
                    [*checked.findings, find_outside_intervals(model, found)], checked.effective_rows
                )
            supplement = dataclasses.replace(supplement, bootstrap=found, diagnosis=checked)
            document = describe(model, supplement)
            write(model, folder, document, kept if interrupted else "The results are", more, title=title)
    return FitResult(
        model,
        folder,
        supplement,
        document,
        selection=selection,
        certificate=model.certify() if certificate else None,
        interrupted=interrupted,
    )


def repeat_fit(
    document: str | Path,
    output: str | Path,
    data: str | Path | Sequence[str | Path] | None = None,
    *,
    bootstrap: int | None = None,
    diagnose: bool = True,
    certificate: bool = False,
    scheduler: str | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress = _SILENT,
) -> FitResult:
    """Repeat the run of a graph.json with its settings, on its files or on others, and compare.

    Parameters
    ----------
    document : path
        The graph.json.
    output, data, bootstrap, diagnose, certificate, scheduler, checkpoint, progress
        As for `fit_file`; by default the files and the number of resamples of the earlier run.

    Examples
    --------
    >>> from golem.workflow import repeat_fit
    >>> result = repeat_fit("out/graph.json", "again")  # doctest: +SKIP
    >>> result.repeat  # what differs  # doctest: +SKIP
    """
    run = Run.read(document)
    result = fit_file(
        data or run.paths(),
        output,
        run.model(),
        columns=run.data.columns,
        drop=run.data.drop,
        header=run.data.header,
        na=run.data.na,
        categorical=run.data.categorical,
        numeric=run.data.numeric,
        covariance=run.data.covariance,
        rows=run.data.rows,
        environment=run.data.environment,
        environments=run.data.environments,
        targets=run.targets,
        bootstrap=bootstrap or run.resamples,
        random_state=run.seed,
        diagnose=diagnose,
        certificate=certificate,
        scheduler=scheduler,
        checkpoint=checkpoint,
        progress=progress,
    )
    return dataclasses.replace(result, repeat=run.compare(result.model))


def _require_consistent(
    model: Golem, search: GolemCV | None, bootstrap: int | None, certificate: bool, output: Path, interventional: bool
) -> None:
    """Raise a ValueError for settings that cannot work, before the rows are read."""
    if bootstrap is not None and (bootstrap < 1 or bootstrap != int(bootstrap)):
        raise ValueError(f"bootstrap must be a positive whole number or None; got {bootstrap!r}.")
    if certificate and model.noise != "ev":
        raise ValueError(f"A certificate needs noise='ev'; got noise={model.noise!r}.")
    _, solver = model.check_settings()
    if interventional:
        require_environment_settings(model, solver)
    else:
        require_observational(model)
    if search is not None:
        search.check_settings()
        search.require_method_for(interventional)
    require_writable(output)


def _require_useful_checkpoint(model: Golem, search: GolemCV | None, checkpoint: str | Path | None) -> None:
    """Raise a ValueError if a checkpoint would not keep most of the work, before the rows are read."""
    checkpoint_path(model, model.check_settings()[1], checkpoint)
    if checkpoint is not None and search is not None:
        raise ValueError(f"A checkpoint keeps one solve and cannot be combined with select={search.select!r}.")


def require_kept(inputs: Sequence[Path], output: Path, results: Collection[str]) -> None:
    """Raise a ValueError if the results would overwrite an input file."""
    written = {(output / name).resolve() for name in results}
    for path in inputs:
        if path.resolve() in written:
            raise ValueError(f"The results would overwrite {str(path)!r}. Choose another folder for them with -o.")


def _add_edges(
    model: Golem,
    forbid: Sequence[str],
    require: Sequence[str],
    columns: Sequence[str],
    all_columns: Sequence[str],
    progress: Progress,
) -> None:
    """Add forbidden and required edges to the knowledge of the model, and check that all names are columns.

    What is known about columns of the file that are not used is left out, with a note.
    """
    known = model.knowledge
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


def choose(
    search: GolemCV,
    model: Golem,
    data: Moments | Environments | Sample | EnvironmentSample,
    progress: Progress = _SILENT,
) -> Selection:
    """Choose the penalties, and set them in the model."""
    compile_kernels(model, (data if isinstance(data, Moments | Environments) else data.moments).d, progress)
    parts = {"bic": "graphs of the path", "cv": "folds", "stability": "halves of the rows"}[search.select]
    with progress.counting(parts) as show:
        search.set_params(callback=show)
        selection = search.choose(data)
    model.set_params(**selection.chosen)
    return selection


def learn(
    model: Golem,
    moments: Moments | Environments,
    progress: Progress = _SILENT,
    checkpoint: str | Path | None = None,
    rows: RowSource = None,
) -> None:
    """Compile the search, then fit with progress; `rows` are for directions by the shape of the noise."""
    if isinstance(moments, Environments) or moments.coding is None:
        compile_kernels(model, moments.d, progress)
    before = model.callback
    with progress.solving() as show:
        listeners = [listener for listener in (show, before) if listener is not None]

        def call_all(state: SolverProgress) -> None:
            for listener in listeners:
                listener(state)

        model.set_params(callback=call_all if listeners else None)
        try:
            model.fit(moments, checkpoint=checkpoint, rows=rows if isinstance(moments, Moments) else None)
        finally:
            model.set_params(callback=before)


def compile_kernels(model: Golem, d: int, progress: Progress = _SILENT) -> None:
    """Compile the search before the first fit, so that the progress shows it."""
    if not is_counted(model):
        return
    text = "Loading the search (compiled at the first use, up to half a minute)"
    with progress.waiting(text):
        compile_search(NOISE_MODELS[model.noise].likelihood(2), d)


def check(model: Golem, rows: Callable[[], Matrix | None], progress: Progress = _SILENT) -> Diagnosis | None:
    """Check the graph; return None if it has a cycle.

    `rows` returns the rows for the checks that need them, or None if they do not fit into memory.
    """
    if not (hasattr(model, "sem_") or has_categories(model)):
        return None
    with progress.waiting("Checking the graph"):
        return diagnose(model, rows())


def _resample(
    model: Golem,
    sample: Sample | EnvironmentSample,
    replicates: int,
    seed: int,
    output: Path,
    progress: Progress,
) -> Bootstrap | None:
    """Bootstrap with progress; return None if Ctrl-C ended it before the first replicate."""
    try:
        with progress.counting("Bootstrap") as show:
            return bootstrap(model, sample, replicates, random_state=seed, callback=show)
    except KeyboardInterrupt:
        return None
    except ValueError as error:
        raise ValueError(
            f"{str(error).rstrip('.')}. The graph of all rows is saved in {output}, without a bootstrap."
        ) from None


def write(
    model: Golem, output: Path, document: GraphDocument, kept: str, more: str = "", **report_options: Any
) -> None:
    """Write the result files, the figures and the report; Ctrl-C waits until they are written.

    `kept` begins the sentence for Ctrl-C that ends with "saved in `output`"; `more` follows it.
    """
    selection = getattr(model, "selection_", None)
    with holding_interrupts():
        with result_folder(output, RESULT_FILES) as folder:
            save_document(document, folder)
            report_document(document, folder / "report.html", **report_options)
            save_figure(lambda figure: plot_model(model, figure), folder / "graph.png")
            if selection is not None:
                write_text(folder / "path.csv", path_text(selection))
                save_figure(lambda figure: plot_path(selection, figure), folder / "path.png")
        keep(f"{kept} saved in {output}.{more}")


def was_interrupted(model: Golem) -> bool:
    """Tell whether Ctrl-C ended the fit."""
    return model.solution_.status is Status.INTERRUPTED


def title_of(paths: Sequence[str]) -> str:
    """Return the title of a table in the report."""
    return Path(source_name(paths[0])).name


def _path_to_here(output: Path) -> str:
    """Return the relative path from the output folder to the current folder, where the paths of this run start."""
    here = Path.cwd()
    try:
        return os.path.relpath(here, output.resolve())
    except ValueError:  # on Windows there is no relative path between two drives
        return str(here)


@contextlib.contextmanager
def naming(data: Sequence[str]) -> Iterator[None]:
    """Begin error messages about the rows with the name of the file."""
    try:
        yield
    except ValueError as error:
        more = f" and {len(data) - 1} more" if len(data) > 1 else ""
        raise ValueError(f"{source_name(data[0])}{more}: {error}") from None
