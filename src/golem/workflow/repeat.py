"""Repeat the run of a graph.json."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from golem.data.reading import Reading
from golem.output.run_record import RunRecord
from golem.runtime.progress import ProgressDisplay
from golem.workflow.fit import FitResult, fit_file
from golem.workflow.steps import SILENT


def repeat_fit(
    document: str | Path,
    output: str | Path,
    data: str | Path | Sequence[str | Path] | None = None,
    *,
    bootstrap: int | None = None,
    diagnose: bool = True,
    certificate: bool = False,
    scatter: bool = False,
    scheduler: str | None = None,
    checkpoint: str | Path | None = None,
    progress: ProgressDisplay = SILENT,
) -> FitResult:
    """Repeat the run of a graph.json with its settings, on its files or on others, and compare.

    Parameters
    ----------
    document : path
        The graph.json.
    output, data, bootstrap, diagnose, certificate, scatter, scheduler, checkpoint, progress
        As for `fit_file`; by default the files and the number of resamples of the earlier run.

    Examples
    --------
    >>> from golem.workflow import repeat_fit
    >>> result = repeat_fit("out/graph.json", "again")  # doctest: +SKIP
    >>> result.repeat.same_data, result.repeat.same_graph  # doctest: +SKIP
    (True, True)
    """
    run = RunRecord.read(document)
    result = fit_file(
        data or run.paths(),
        output,
        run.model(),
        **{field.name: getattr(run.data, field.name) for field in dataclasses.fields(Reading)},
        targets=run.targets,
        bootstrap=bootstrap or run.resamples,
        random_state=run.seed,
        diagnose=diagnose,
        certificate=certificate,
        scatter=scatter,
        scheduler=scheduler,
        checkpoint=checkpoint,
        progress=progress,
    )
    return dataclasses.replace(result, repeat=run.compare(result.model))
