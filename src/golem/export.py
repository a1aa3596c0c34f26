"""Files that hold a fitted model: graph.json, edges.csv, weights.csv. Plain, and safe to read back."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import golem
from golem.knowledge import Knowledge
from golem.likelihood import GaussianEV
from golem.solvers import Status

if TYPE_CHECKING:
    from golem.estimator import Golem
    from golem.selection import Selection


@dataclasses.dataclass(frozen=True)
class Edge:
    """One edge of a fitted model."""

    source: str
    target: str
    weight: float
    standardized_weight: float
    undecided: bool
    by_variance: bool


def edges(model: Golem) -> list[Edge]:
    """List the edges of a fitted model, the strongest (by standardized weight) first."""
    names = model.moments_.names
    scale = np.sqrt(model.moments_.variances)
    # A cyclic graph has neither.
    undecided, by_variance = (getattr(model, name, model.adjacency_ & False) for name in ("undecided_", "by_variance_"))
    found = [
        Edge(
            names[i],
            names[j],
            float(model.weights_[i, j]),
            float(model.weights_[i, j] * scale[i] / scale[j]),
            bool(undecided[i, j]),
            bool(by_variance[i, j]),
        )
        for i, j in np.argwhere(model.adjacency_)
    ]
    return sorted(found, key=lambda edge: -abs(edge.standardized_weight))


def summary(model: Golem) -> dict[str, Any]:
    """Return everything about a fitted model but its matrices, ready for JSON."""
    solution, moments = model.solution_, model.moments_
    return {
        "format": "golem-graph",
        "format_version": 1,
        "golem": golem.__version__,
        "n": moments.n,
        "d": moments.d,
        "edges": len(edges(model)),
        "undecided": sum(edge.undecided for edge in edges(model)),
        "by_variance": sum(edge.by_variance for edge in edges(model)),
        "noise": _noise(model),
        "status": {"name": solution.status.name.lower(), "message": solution.status.value},
        "interrupted": solution.status is Status.INTERRUPTED,
        "objective": {name: _number(value) for name, value in solution.terms.items()},
        "bic": _number(model.sem_.bic(moments, equal_variances=isinstance(model.likelihood_, GaussianEV)))
        if hasattr(model, "sem_")
        else None,
        "cut_edges": solution.cut_edges,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "stationarity": _number(solution.stationarity),
        "settings": settings(model),
        "used": used(model),
        "selection": _selection(model),
        "graph_scores": dict(solution.graph_scores or {}),
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
    }


def _noise(model: Golem) -> dict[str, Any]:
    """Return the noise model used and, where it was chosen, why."""
    choice = model.noise_choice_
    used = {"model": _plain(model.likelihood_)}
    if choice is None:
        return used
    scores = {name: _number(score) for name, score in choice.scores.items()}
    return used | {"kind": choice.kind, "tau": choice.tau, "scores": scores, "reason": choice.reason}


def settings(model: Golem) -> dict[str, Any]:
    """Return the parameters of the estimator as JSON can hold them."""
    return {name: _plain(value) for name, value in model.get_params().items() if name != "callback"}


def used(model: Golem) -> dict[str, Any]:
    """Return the penalties that a fit used, with the defaults filled in."""
    from golem.descent import NOISE_MODELS
    from golem.solvers import Order

    if model.solver == "order" or isinstance(model.solver, Order):
        return {"edge_price": _plain(model.edge_price_)}
    paper = NOISE_MODELS[model.noise]
    return {
        "lambda_sparsity": paper.lambda_sparsity if model.lambda_sparsity is None else model.lambda_sparsity,
        "lambda_dag": paper.lambda_dag if model.lambda_dag is None else model.lambda_dag,
        "threshold": _number(model.threshold_),
        "acyclicity": _plain(model.acyclicity or "expm"),
        "cycles": model.cycles or ("gentle" if model.threshold == "lr" else "paper"),
    }


def _selection(model: Golem) -> dict[str, Any] | None:
    """Return how the settings were chosen, where they were."""
    chosen = getattr(model, "selection_", None)
    if chosen is None:
        return None
    rows = [{name: _json_number(value) for name, value in row.items()} for row in chosen.path]
    return {"method": chosen.method, "chosen": chosen.chosen, "path": rows}


def path_text(selection: Selection) -> str:
    """Text of a CSV file with a row a setting."""
    return csv_text([list(selection.path[0]), *(list(row.values()) for row in selection.path)])


def graph_document(model: Golem) -> dict[str, Any]:
    """Return the whole content of graph.json."""
    sem = getattr(model, "sem_", None)
    return summary(model) | {
        "names": list(model.moments_.names),
        "weights": model.weights_.tolist(),
        "raw_weights": model.raw_weights_.tolist(),
        "noise_variances": None if sem is None else sem.noise_variances.tolist(),
        "intercepts": None if sem is None else sem.intercepts.tolist(),
        "undecided_edges": [[edge.source, edge.target] for edge in edges(model) if edge.undecided],
    }


def save(model: Golem, folder: str | Path) -> list[Path]:
    """Write graph.json, edges.csv and weights.csv into a folder, each whole or not at all."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = model.moments_.names
    header = [field.name for field in dataclasses.fields(Edge)]
    contents = {
        "graph.json": json.dumps(graph_document(model), indent=1, allow_nan=False) + "\n",
        "edges.csv": csv_text([header, *([*dataclasses.astuple(edge)] for edge in edges(model))]),
        "weights.csv": csv_text(
            [["", *names], *([name, *row] for name, row in zip(names, model.weights_, strict=True))]
        ),
    }
    for name, content in contents.items():
        write_text(folder / name, content)
    return [folder / name for name in contents]


def edge_list(weights: Any, names: tuple[str, ...]) -> str:
    """Text of an edge list with the columns source, target, weight."""
    rows = [[names[i], names[j], float(weights[i, j])] for i, j in np.argwhere(weights)]
    return csv_text([["source", "target", "weight"], *rows])


def write_text(path: Path, content: str) -> None:
    """Write a file so that a reader sees the old content or the new, never a part."""
    with replacing(path) as temporary:
        temporary.write_text(content, encoding="utf-8")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when all went well."""
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def csv_text(rows: list[list[Any]]) -> str:
    """Text of a CSV file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    # Full precision: repr of a float reads back as the same number.
    writer.writerows([repr(float(x)) if isinstance(x, float) else x for x in row] for row in rows)
    return buffer.getvalue()


def _json_number(value: Any) -> Any:
    """Return a value of a table as JSON can hold it."""
    return _number(value) if isinstance(value, float) else value


def _number(value: Any) -> float | None:
    """Return a float that JSON can hold; None for what is not finite."""
    return float(value) if np.isfinite(value) else None


def _plain(value: Any) -> Any:
    """Turn a parameter into JSON: settings objects by name and fields, arrays as lists."""
    if isinstance(value, Knowledge):
        return {
            "forbidden": np.argwhere(value.forbidden).tolist(),
            "required": np.argwhere(value.required).tolist(),
        }
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__} | {k: _plain(v) for k, v in dataclasses.asdict(value).items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float | bool | list | type(None)) else repr(value)
