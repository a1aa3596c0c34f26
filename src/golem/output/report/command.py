"""The command that repeats a fit, for readers of a page who want to add knowledge."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from golem.graphs.graph_document import GraphDocument

# Settings that are options of `golem fit`, with the values that need no option.
_OPTIONS: dict[str, Any] = {
    "noise": "auto", "lambda_sparsity": None, "lambda_dag": None, "threshold": None, "solver": "order", "effort": None,
    "max_iter": None, "time_limit": None, "device": "cpu", "missing": "error", "random_state": 0, "shape": "auto",
    "intervention": "soft", "intercepts": "separate", "score_function": "auto",
}  # fmt: skip
_NAMES = {"random_state": "--seed", "score_function": "--score"}


def fit_words(document: GraphDocument) -> list[str]:
    """Return the words after `golem fit` that give the files and settings of a document, without its knowledge.

    Settings that are not options, such as a solver with parameters of its own, are left out.

    Examples
    --------
    >>> fit_words(GraphDocument(names=["a"], settings={"noise": "nv", "random_state": 0}))
    ['data.csv', '--noise', 'nv']
    """
    source, words = document.data, []
    paths = source.paths if source is not None and source.paths else ["data.csv"]
    for name, usual in _OPTIONS.items():
        value = (document.settings or {}).get(name, usual)
        if isinstance(value, str | int | float) and value != usual:
            words += [_NAMES.get(name, f"--{name.replace('_', '-')}"), str(value)]
    if source is not None:
        words += ["--columns", _listed(source.columns)] if source.columns else []
        words += ["--drop", _listed(source.drop)] if source.drop else []
        words += [] if source.header is None else ["--header" if source.header else "--no-header"]
        words += [word for marker in source.na for word in ("--na", marker)]
        words += ["--categorical", _listed(source.categorical)] if source.categorical else []
        words += ["--numeric", _listed(source.numeric)] if source.numeric else []
        words += [] if source.environment is None else ["--environment", source.environment]
        words += ["--environments"] if source.environments else []
        words += [] if source.targets is None else ["--targets", source.targets]
        words += ["--covariance"] if source.covariance else []
        words += [] if source.rows is None else ["--rows", str(source.rows)]
    return [*paths, *words]


def _listed(names: Iterable[str]) -> str:
    """Join names with commas, as --columns and --drop read them."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
