"""The steps of a fit that show their progress and can be interrupted."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from golem.assessment.bootstrap import bootstrap
from golem.assessment.bootstrap_result import Bootstrap
from golem.assessment.diagnostics import Diagnosis, diagnose, find_outside_intervals
from golem.assessment.second_search import is_repeatable, keep_better
from golem.assessment.selection import GolemCV, Selection
from golem.data.files.standard_input import source_name
from golem.data.source import Source
from golem.data.table import Table
from golem.estimator.golem import Golem
from golem.graphs.graph_document import GraphDocument
from golem.output.document import RESULT_FILES, Supplement, describe, path_text, save_document
from golem.output.figures import plot_model, plot_path, save_figure
from golem.output.report import report_document
from golem.runtime.dialects import FILES
from golem.runtime.files import write_text
from golem.runtime.interrupts import holding_interrupts, keep
from golem.runtime.messages import counted
from golem.runtime.problems import ProblemError, Set, message_of, placed
from golem.runtime.progress import ProgressDisplay
from golem.runtime.result_folder import result_folder
from golem.runtime.types import Matrix
from golem.score.solution import Progress, Status
from golem.score.table_score import score_of
from golem.search.solver import compile_kernels_of

SILENT = ProgressDisplay()


def choose(
    search: GolemCV,
    model: Golem,
    data: Table,
    progress: ProgressDisplay = SILENT,
) -> Selection:
    """Choose the penalties, and set them in the model."""
    compile_kernels(model, data, progress)
    with progress.counting("Choosing the penalty, graphs") as show:
        search.set_params(callback=show)
        selection = search.choose(data)
    model.set_params(**selection.chosen)
    return selection


def learn(
    model: Golem,
    table: Table,
    progress: ProgressDisplay = SILENT,
    checkpoint: str | Path | None = None,
) -> None:
    """Compile the search, then fit with progress."""
    compile_kernels(model, table, progress)
    before = model.callback
    with progress.solving() as show:
        listeners = [listener for listener in (show, before) if listener is not None]

        def call_all(state: Progress) -> None:
            for listener in listeners:
                listener(state)

        model.set_params(callback=call_all if listeners else None)
        try:
            model.fit(table, checkpoint=checkpoint)
        finally:
            model.set_params(callback=before)


def compile_kernels(model: Golem, table: Table, progress: ProgressDisplay = SILENT) -> None:
    """Compile the search before the first fit, so that the progress shows it."""
    if model.settings.counts_edges:
        with progress.waiting("Loading the search (compiled at the first use, up to half a minute)"):
            compile_kernels_of(score_of(table, model.settings.score_settings).engine())


def assess(
    model: Golem,
    source: Source,
    supplement: Supplement,
    output: Path,
    title: str,
    replicates: int | None,
    checks: bool,
    seed: int,
    progress: ProgressDisplay,
) -> tuple[Supplement, str | None]:
    """Bootstrap and check the graph, up to Ctrl-C; return the results, and what is left if it came, for `write`."""
    if was_interrupted(model):
        return supplement, "The best graph so far is"
    try:
        search_again(model, source, progress)
        check_directions(model, source.table, progress)
    except KeyboardInterrupt:
        return supplement, "The graph, without the checks, is"
    if replicates:
        # So that the graph survives a failed bootstrap.
        write(model, output, describe(model, supplement), "The graph, without the bootstrap, is", title=title)
        found = resample(model, source.table, replicates, seed, output, progress)
        supplement = dataclasses.replace(supplement, bootstrap=found)
        if found is None or found.interrupted:
            return supplement, f"The graph and {counted(0 if found is None else found.replicates, 'resample')} are"
    if checks:
        try:
            checked = check(model, lambda: source.checked_rows, progress)
        except KeyboardInterrupt:
            return supplement, "The graph, without the checks, is"
        if checked is not None and supplement.bootstrap is not None:
            outside = find_outside_intervals(model, supplement.bootstrap)
            checked = Diagnosis.of([*checked.findings, outside], checked.effective_rows)
        supplement = dataclasses.replace(supplement, diagnosis=checked)
    return supplement, None


def search_again(model: Golem, source: Source, progress: ProgressDisplay = SILENT) -> None:
    """Search once more, if that may help, and let the model show the better graph."""
    if is_repeatable(model):
        with progress.waiting("Searching again, with the columns in reverse order"):
            keep_better(model, source.table)


def check_directions(model: Golem, table: Table, progress: ProgressDisplay = SILENT) -> None:
    """Check which directions survive, if the rows are at hand; otherwise say why not."""
    sources = model.graph_.sources
    if sources is None or "unchecked" not in sources:
        return
    what = "Directions that follow from the structure"
    if model.evidence == "fast":
        progress.note(f"{what} were not checked (--evidence fast), so they are links.")
        return
    try:
        with progress.counting("Checking directions") as show:
            model.check_directions(table, callback=show)
    except ValueError as error:
        progress.note(f"{what} could not be checked on halves of the rows, so they are links.")
        progress.table(f"Why: {message_of(error)}")


def check(model: Golem, rows: Callable[[], Matrix | None], progress: ProgressDisplay = SILENT) -> Diagnosis | None:
    """Check the graph; return None if it has a cycle.

    `rows` returns the rows for the checks that need them, or a sample; None if there are none that fit into memory.
    """
    if model.graph_.reversible is None:
        return None
    with progress.waiting("Checking the graph"):
        found = diagnose(model, None if model.fit_.score.is_sparse else rows())
    worded = [
        dataclasses.replace(one, finding=progress.worded(one.finding), remedy=progress.worded(one.remedy))
        for one in found.findings
    ]
    return dataclasses.replace(found, findings=worded)


def resample(
    model: Golem,
    sample: Table,
    replicates: int,
    seed: int,
    output: Path,
    progress: ProgressDisplay,
) -> Bootstrap | None:
    """Bootstrap with progress; return None if Ctrl-C ended it before the first replicate."""
    try:
        with progress.counting("Bootstrap") as show:
            return bootstrap(model, sample, replicates, random_state=seed, callback=show)
    except KeyboardInterrupt:
        return None
    except ValueError as error:
        saved = f" The graph of all rows is saved in {output}, without a bootstrap."
        raise ProblemError(message_of(error), saved) from None


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
    """Return whether Ctrl-C ended the fit."""
    return model.solution_.status is Status.INTERRUPTED


def require_kept(inputs: Sequence[Path], output: Path, results: Collection[str]) -> None:
    """Raise a ValueError if the results would overwrite an input file."""
    written = {os.path.realpath(output / name) for name in results}
    for path in inputs:
        if os.path.realpath(path) in written:
            what = f"The results would overwrite {str(path)!r}. Choose another folder ("
            raise ProblemError(what, Set("output"), ").")


def title_of(paths: Sequence[str]) -> str:
    """Return the title of a table in the report."""
    return Path(source_name(paths[0])).name


@contextlib.contextmanager
def naming_table(data: Sequence[str], others: Sequence[object] = ()) -> Iterator[None]:
    """Begin error messages about the rows with the name of the file, unless they are about another file."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith(
            (source_name(data[0]), *(f"{other}{end}" for other in others for end in (": ", " is not")))
        ):
            raise
        more = f" and {len(data) - 1} more" if len(data) > 1 else ""
        raise placed(error, f"{source_name(data[0])}{more}", FILES) from None
