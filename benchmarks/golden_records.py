"""How golden.py records a fit: the graph document, or what was said instead, and the warnings.

A record is a dictionary for JSON. What changes from run to run (times, versions, folders) is left out. Only public
names of golem are used, so that the same jobs run with any version.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl

import golem
from golem import Golem, Moments, output

Record = dict[str, Any]
Job = Callable[[], Record]
# Keys of the graph document that change from run to run or with the installed packages.
CHANGING = {"seconds", "versions", "golem"}
# Printed only before kernels are in numba's cache.
COMPILING = "Compiling the search."


def cleaned(document: Any, folder: Path) -> Any:
    """Remove what changes from run to run."""
    if isinstance(document, Mapping):
        kept = {key: value for key, value in document.items() if key not in CHANGING}
        if kept.get("trace"):
            kept["trace"] = kept["trace"][-1:]  # points before the last are taken by the clock
        return {key: cleaned(value, folder) for key, value in kept.items()}
    if isinstance(document, list):
        return [cleaned(value, folder) for value in document]
    return _plain_text(document, folder) if isinstance(document, str) else document


def _plain_text(text: str, folder: Path) -> str:
    """Replace folders and times."""
    text = text.replace(str(folder.resolve()), "FOLDER").replace(str(folder), "FOLDER")
    text = re.sub(r"\b\d+(\.\d+)? (ms|s)\b", "TIME", text)
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(line for line in lines if not line.startswith(COMPILING))


def _said(caught: Sequence[warnings.WarningMessage], folder: Path) -> list[str]:
    """List the warnings."""
    ours = [one for one in caught if not issubclass(one.category, DeprecationWarning | ResourceWarning)]
    return sorted({f"{one.category.__name__}: {_plain_text(str(one.message), folder)}" for one in ours})


def attempt(make: Callable[[Path], Record]) -> Record:
    """Return the record of a call, or its refusal, and the warnings."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        folder = Path(name)
        try:
            record = make(folder)
        except Exception as error:  # noqa: BLE001  the record says which
            public = next(one for one in type(error).__mro__ if not one.__module__.startswith("golem"))
            record = {"refused": public.__name__, "message": _plain_text(str(error), folder)}
        return record | {"warnings": _said(caught, folder)}


def memory(
    table: Callable[[], Any],
    model: Callable[[], Any] = Golem,
    *,
    diagnose: bool = False,
    bootstrap: int = 0,
    **given: Any,
) -> Job:
    """Return a job that fits a table in memory, and writes the document of the model."""

    def make(folder: Path) -> Record:
        X = table()
        fitted = model().fit(X, **given)
        rows = {key: value for key, value in given.items() if key in ("environments", "targets")}
        again = golem.bootstrap(fitted, X, bootstrap, random_state=0, n_jobs=1, **rows) if bootstrap else None
        given_again = () if isinstance(X, Moments) else (X.drop(columns=rows["environments"]) if rows else X,)
        diagnosis = fitted.diagnose(*given_again) if diagnose else None
        chosen = getattr(fitted, "estimator_", fitted)
        output.save(chosen, folder, output.Supplement(bootstrap=again, diagnosis=diagnosis))
        record = {"document": _document(folder)}
        if chosen is not fitted:
            record["selected"] = _path(fitted)
        return record

    return lambda: attempt(make)


def _document(folder: Path) -> Any:
    """Read the graph document of a folder."""
    return cleaned(json.loads((folder / "graph.json").read_text(encoding="utf-8")), folder)


def _path(fitted: Any) -> list[Record]:
    """Return the path of a selection for JSON."""
    return json.loads(json.dumps(fitted.path_, default=lambda value: value.item()))


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Change the current folder, and the width of the terminal."""
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.pop("COLUMNS")
        if columns is not None:
            os.environ["COLUMNS"] = columns


def typed(folder: Path, *arguments: str) -> Record:
    """Run a command in this process, as a user types it in that folder."""
    from typer.testing import CliRunner

    from golem.cli import app

    with inside(folder):
        ended = CliRunner().invoke(app, list(arguments), env={"NO_COLOR": "1", "TERM": "dumb"})
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    printed = {"stdout": ended.stdout, "stderr": ended.stderr}
    return {"exit": ended.exit_code} | {key: _plain_text(text, folder) for key, text in printed.items()}


def command(write: Callable[[Path], Any], *arguments: str, read: str = "out") -> Job:
    """Return a job that writes files, runs `golem` there, and reads what it writes."""

    def make(folder: Path) -> Record:
        write(folder)
        record = typed(folder, *arguments)
        written = folder / read
        if (written / "graph.json").exists():
            record["document"] = _document(written)
            record["files"] = sorted(path.name for path in written.iterdir())
            record["edges.csv"] = (written / "edges.csv").read_text(encoding="utf-8").splitlines()[0]
        if (written / "comparison.csv").exists():
            methods = pd.read_csv(written / "comparison.csv").drop(columns="seconds")
            record["comparison"] = json.loads(methods.to_json(orient="records"))
            record["stdout"] = record["stdout"].partition("\n\n")[2]  # after the table with the times
        if record["stdout"].startswith("{"):
            record["stdout"] = cleaned(json.loads(record["stdout"]), folder)
        return record

    return lambda: attempt(make)


def process(*arguments: str) -> Job:
    """Return a job that runs `golem` in a process of its own, and reads the document it writes into the folder out."""

    def make(folder: Path) -> Record:
        source = str(Path(golem.__file__).parents[1])
        environment = os.environ | {"PYTHONPATH": source, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
        line = [sys.executable, "-m", "golem", *arguments, "-o", "out"]
        ended = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)
        printed = {"stdout": _plain_text(ended.stdout, folder), "stderr": _plain_text(ended.stderr, folder)}
        return {"exit": ended.returncode, **printed, "document": _document(folder / "out")}

    return lambda: attempt(make)


def csv(table: Callable[[], pd.DataFrame], name: str = "data.csv") -> Callable[[Path], None]:
    """Return a function that writes a table as a CSV file."""
    return lambda folder: table().to_csv(folder / name, index=False, na_rep="")


def refused(table: Callable[[], pd.DataFrame], shell: Sequence[str] = (), **settings: Any) -> Job:
    """Return a job that fits a table in every library and in the shell, which have different words."""

    def job() -> Record:
        given = table()
        records = {"pandas": given, "polars": pl.from_pandas(given), "pyarrow": pl.from_pandas(given).to_arrow()}
        if all(map(pd.api.types.is_numeric_dtype, given.dtypes)):
            records["numpy"] = given.to_numpy()
        made = {name: memory(lambda X=X: X, lambda: Golem(**settings))() for name, X in records.items()}
        made["shell"] = command(csv(table), "fit", "data.csv", "-o", "out", "--no-diagnose", "--strict", *shell)()
        return made

    return job


def calls(**jobs: Callable[[], Any]) -> Job:
    """Return a job of several calls that are refused at once."""

    def refusal(call: Callable[[], Any]) -> Record:
        return attempt(lambda folder: {"result": str(call())})

    return lambda: {name: refusal(call) for name, call in jobs.items()}


def commands(write: Callable[[Path], Any], **lines: Sequence[str]) -> Job:
    """Return a job of several commands on the same files."""
    return lambda: {name: command(write, *line)() for name, line in lines.items()}
