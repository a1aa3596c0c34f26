"""The files of a run in addition to its rows: table.csv, figures, verdict.md, command.txt.

`figure.png` has the panels of the paper. If an experiment has more methods, they are in `figure-all.png`.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golem.runtime.files import replacing, write_text
from golem.runtime.messages import counted, shortened
from golem_experiments.analysis.inference import MIN_SEEDS
from golem_experiments.analysis.tables import (
    cell_columns,
    distinct,
    done,
    read_csv,
    read_store,
    restore_store,
    where,
    write_csv,
)
from golem_experiments.engine.store import DONE, Store
from golem_experiments.experiment import Experiment, Grid, Table, Verdict
from golem_experiments.learners import NOTES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMATS: dict[str, dict[str, Any]] = {"png": {"dpi": 130}}
# Columns that the table of every experiment has.
_COLUMNS = ("key", "experiment", "method", "seed", "status", "seconds")


@dataclass(frozen=True)
class Published:
    """The verdicts, the version that was run ("full", "quick" or "tiny"), and the names of the files."""

    verdicts: list[Verdict]
    mode: str
    files: tuple[str, ...]


def publish(experiment: Experiment, folder: Path, command: str = "") -> Published:
    """Write the table of all rows in the folder, the figure and the verdicts; refuse rows of other experiments."""
    table = read_store(folder, experiment.tasks(Grid()))
    _require_experiment(table, experiment, folder / "rows")
    write_csv(table, folder / "table.csv")
    if command and command not in (before := _commands(folder)):
        write_text(folder / "command.txt", "\n".join([*before, command]) + "\n")
    return _draw_and_judge(experiment, table, folder, "table.csv")


def republish(experiment: Experiment, folder: Path) -> Published:
    """Remake the figure and the verdicts without running anything: from the rows, or from table.csv.

    If there are rows the table is remade too, because a killed run left an old one or none. Rows that only the table
    has are kept.
    """
    if Store(folder).keys():
        restore_store(folder)
        return publish(experiment, folder)
    path = folder / "table.csv"
    table = read_csv(path)
    missing = [name for name in _COLUMNS if name not in table[0]]
    if missing:
        raise ValueError(f"{path} is not the table of an experiment: it has no column {', '.join(map(repr, missing))}.")
    _require_experiment(table, experiment, path)
    return _draw_and_judge(experiment, table, folder)


def _require_experiment(table: Table, experiment: Experiment, place: Path) -> None:
    for name in distinct(table, "experiment"):
        if name != experiment.name:
            raise ValueError(f"{place} belongs to {name!r}, not to {experiment.name!r}. Name another folder with -o.")


def _draw_and_judge(experiment: Experiment, table: Table, folder: Path, *written: str) -> Published:
    if not done(table):
        raise ValueError(
            f"No task of {experiment.name!r} was completed; see {folder / 'table.csv'}. Run them again with --retry."
        )
    pictures = _save_figures(experiment, table, folder)
    verdicts = judge(experiment, table)
    write_text(folder / "verdict.md", verdict_text(experiment, table, verdicts, _commands(folder)))
    return Published(verdicts, str(table[0].get("mode") or "full"), (*written, *pictures, "verdict.md"))


def judge(experiment: Experiment, table: Table) -> list[Verdict]:
    """Return the verdicts on a table, each with the mode of the run."""
    modes = [str(mode) for mode in distinct(table, "mode")]
    return [replace(one, mode=" and ".join(modes) or "full") for one in experiment.verdicts(table)]


def _figures(experiment: Experiment) -> dict[str, Callable[[Table], Figure]]:
    """Return what draws each figure, by the name of its files."""
    more = {} if experiment.all_methods is None else {"figure-all": experiment.all_methods}
    return {"figure": experiment.figure} | more


def _save_figures(experiment: Experiment, table: Table, folder: Path) -> list[str]:
    """Draw the figures and return the names of their files."""
    written = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about fonts that lack a letter
        for name, draw in _figures(experiment).items():
            figure = draw(table)
            if gaps := len(_not_run(experiment, table)) + len(table) - len(done(table)):
                figure.suptitle(f"Incomplete: {counted(gaps, 'task')} without results, see verdict.md", fontsize=8)
            for ending, options in _FORMATS.items():
                with replacing(folder / f"{name}.{ending}") as temporary:
                    figure.savefig(temporary, **options)
                written.append(f"{name}.{ending}")
    return written


def verdict_text(experiment: Experiment, table: Table, verdicts: list[Verdict], commands: list[str]) -> str:
    """Return the text of verdict.md: the verdicts, the figures, the numbers behind each verdict, and what was run."""
    lines = [f"# {experiment.name}: {experiment.reproduces}", "", "| Claim | Verdict |", "|---|---|"]
    lines += [f"| {_cell(one.claim)} | **{one.word}** |" for one in verdicts]
    lines += [*_what_is_missing(experiment, table), "", "![figure](figure.png)", ""]
    if experiment.all_methods is not None:
        lines += ["All methods:", "", "![figure](figure-all.png)", ""]
    if any("The paper: " in line for one in verdicts for line in one.details):
        lines += ["The paper shows most of its results only in figures. The numbers of its text are quoted below.", ""]
    for one in verdicts:
        lines += [f"## {one.claim}", "", f"**{one.word.capitalize()}.** {one.why}".rstrip(), ""]
        lines += [*(f"- {line}" for line in one.details or (one.measured,)), ""]
    lines += ["## What was run", "", *_what_was_run(table)]
    if commands:
        lines += ["", "```sh", *commands, "```"]
    lines += [
        "",
        "## How to read the numbers",
        "",
        "Numbers are means ± standard errors over seeds, in which sizes and settings have equal weights. Those with "
        f"fewer than {MIN_SEEDS} seeds decide nothing, and are left out of means with others that have more. "
        "Differences are computed on the data sets that both methods have completed. A difference counts if its 95% "
        "interval (Student's t over seeds) excludes zero. A number meets a criterion if its interval lies within the "
        "stated bounds.",
        "",
    ]
    return "\n".join(lines)


def _what_was_run(table: Table) -> list[str]:
    """Return sentences on sizes, methods, tasks that were not completed, and the machine."""
    mode = table[0].get("mode")
    warning = " A quick run, smaller and with fewer steps than in the paper." if mode in ("quick", "tiny") else ""
    values = "; ".join(f"{name} = {', '.join(map(str, distinct(table, name)))}" for name in cell_columns(table[0]))
    ended, stopped = done(table), [row for row in table if row["status"] != DONE]
    seconds = sum(float(row["seconds"] or 0) for row in table)
    commits = ", ".join(one or "not recorded" for one in distinct(ended, "commit"))
    lines = [
        f"{len(table)} tasks: {values}; {len(distinct(table, 'seed'))} seeds; methods "
        f"{', '.join(distinct(table, 'method'))}.{warning}",
        *(f"{NOTES[name]}." for name in distinct(table, "method") if name in NOTES),
        "",
        f"golem {', '.join(distinct(ended, 'version'))}, commit {commits}; "
        f"{'; '.join(distinct(ended, 'hardware'))}; {seconds:.0f} s of work in total.",
    ]
    if changed := sum(str(row.get("commit") or "").endswith("+") for row in table):
        lines.append(
            f"{counted(changed, 'row')} with a + after the commit ran on a source tree with uncommitted changes."
        )
    if partial := _partly(table):
        lines.insert(
            1,
            f"Not every method was run with all sizes and seeds: {partial}. Methods are compared on the data sets that "
            "all of them have completed.",
        )
    if stopped:
        causes = list(dict.fromkeys(f"{row['method']} {row['status']} ({row['reason']})" for row in stopped))
        more = f", and {len(causes) - 5} more" if len(causes) > 5 else ""
        were = "was" if len(stopped) == 1 else "were"
        lines += ["", f"{counted(len(stopped), 'task')} {were} not completed: {'; '.join(causes[:5])}{more}."]
    return lines


def _not_run(experiment: Experiment, table: Table) -> Table:
    """Return the cells and methods of tasks without a row, of methods and sizes that have rows."""
    mode, names, sizes = table[0].get("mode"), cell_columns(table[0]), tuple(distinct(table, "d"))
    ran = {(row["method"], row.get("d")) for row in table}
    known = {(row["method"], row["seed"], *(row[name] for name in names)) for row in table}
    try:
        tasks = experiment.tasks(Grid(mode == "quick", mode == "tiny", max(distinct(table, "seed")) + 1, sizes or None))
    except ValueError:  # the networks are not on this machine
        return []
    tasks = [task for task in tasks if (task.method, task.cell.get("d")) in ran]
    absent = [task for task in tasks if (task.method, task.seed, *map(task.cell.get, names)) not in known]
    return [{**task.cell, "method": task.method} for task in absent]


def _what_is_missing(experiment: Experiment, table: Table) -> list[str]:
    """Return sentences on tasks without a row: their number by method, and values that no row has."""
    missing = _not_run(experiment, table)
    names, methods = cell_columns(table[0]), distinct(missing, "method")
    unseen = [f"{name} = {x}" for name in names for x in distinct(missing, name) if x not in distinct(table, name)]
    rest = f" No row has {shortened(unseen, 5)}." if unseen else ""
    counts = ", ".join(f"{len(where(missing, method=name))} of {name}" for name in methods)
    text = f"The table is incomplete: {counted(len(missing), 'task')} not run ({counts}).{rest}"
    return ["", text] if missing else []


def _partly(table: Table) -> str:
    """Return the numbers of seeds with completed runs by method and size, unless all methods agree."""
    methods: dict[str, list[str]] = defaultdict(list)
    for method in distinct(table, "method"):
        own = where(table, method=method)
        text = ", ".join(_seeds(where(own, d=d), d) for d in distinct(own, "d"))
        methods[text].append(str(method))
    return "" if len(methods) == 1 else "; ".join(f"{', '.join(names)} {text}" for text, names in methods.items())


def _seeds(rows: Table, d: int) -> str:
    """Write at how many seeds a method was run with a size, and how many runs were not completed."""
    ended = done(rows)
    missing = f" ({len(rows) - len(ended)} of {len(rows)} runs not completed)" if len(ended) < len(rows) else ""
    return f"{len(distinct(ended, 'seed'))} at d = {d}{missing}"


def _commands(folder: Path) -> list[str]:
    path = folder / "command.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "<br>")
