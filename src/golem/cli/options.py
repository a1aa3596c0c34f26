"""Options that several commands share, and functions that read their values."""

from __future__ import annotations

import contextlib
import csv
import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, fields
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from golem.runtime.dialects import SHELL
from golem.runtime.problems import told

if TYPE_CHECKING:
    from golem.data.knowledge import NamedKnowledge
    from golem.data.reading import Reading

# Options under one heading of the help, e.g. `model(help="...")`.
output = partial(typer.Option, rich_help_panel="Output")
model = partial(typer.Option, rich_help_panel="Model")
search = partial(typer.Option, rich_help_panel="Search")
checks = partial(typer.Option, rich_help_panel="Checks")
knowledge = partial(typer.Option, rich_help_panel="Knowledge")
experiments = partial(typer.Option, rich_help_panel="Experiments")
series = partial(typer.Option, rich_help_panel="Time series and panels")
data = partial(typer.Option, rich_help_panel="Data")

# The options that the help of a command with many options shows first; --help-all shows all.
EVERYDAY = (
    "output", "verbose", "bootstrap", "require", "forbid", "tiers", "outcome", "exogenous", "missing", "categorical",
    "drop", "log", "methods", "truth", "environment", "targets", "lags", "unit",
)  # fmt: skip


def path(text: str) -> Path:
    """Return the path that an option names; an empty one would be the current folder."""
    if not text:
        raise typer.BadParameter("The name is empty. The current folder is '.'.")
    return Path(text)


output_path = partial(output, "--output", "-o", parser=path)
OutputFolder = Annotated[Path, output_path(metavar="FOLDER", help="Folder for the results.")]
Quiet = Annotated[bool, output("--quiet", "-q", help="Print only errors.")]
Verbose = Annotated[
    bool, output("--verbose", "-v", help="Also print columns, weights, scores, noise model, search and all findings.")
]
Json = Annotated[bool, output("--json", help="Print the summary as JSON.")]
Forbid = Annotated[list[str], knowledge(metavar="EDGE", help="Forbidden edge, e.g. 'A->B'; may be repeated.")]
Require = Annotated[list[str], knowledge(metavar="EDGE", help="Required edge, e.g. 'A->B'; may be repeated.")]
KnowledgeFile = Annotated[
    Path | None,
    knowledge(
        "--knowledge",
        metavar="FILE",
        help='JSON file with forbidden edges, required edges and tiers: {"forbidden": [["A", "B"]], "required": [], '
        '"tiers": [["A"], ["B", "C"]]}. Or a knowledge file of Tetrad.',
    ),
]
MissingOption = Annotated[
    Literal["error", "drop", "em"],
    data(
        help="Treatment of missing values: stop (error), drop their rows (drop), or estimate means and covariances by "
        "Gaussian EM (em). Empty cells, NA, N/A, NaN, null, none and the marks * ? . - count as missing (but - is a "
        "value in a column that also contains +)."
    ),
]
Tiers = Annotated[
    str | None,
    knowledge(
        metavar="TIERS",
        help="Groups of columns in order of time, e.g. 'age,sex; *; income': nothing causes a column of an earlier "
        "group. The pattern * stands for all other columns.",
    ),
]
Exogenous = Annotated[
    list[str], knowledge(metavar="COLUMNS", help="Columns that no other column causes, e.g. age,sex; may be repeated.")
]
Outcome = Annotated[
    list[str], knowledge(metavar="COLUMNS", help="Columns that cause no other column, e.g. income; may be repeated.")
]
AutoMissing = Annotated[
    Literal["auto", "error", "drop", "em"],
    data(
        "--missing",
        help="Missing values: Gaussian EM (em), drop their rows (drop), stop (error), or EM where it applies and else "
        "drop if most rows are complete (auto). Empty cells, NA, NaN, null, none and * ? . - are missing (but - is a "
        "value next to +).",
    ),
]
Strict = Annotated[
    bool,
    data(
        "--strict",
        help="Stop if values are missing or columns cannot be used. Otherwise columns that are constant, determined by "
        "others or identify rows are left out, with a note.",
    ),
]
NotAvailable = Annotated[
    list[str],
    data(
        "--na",
        metavar="MARKER",
        help="Additional missing-value marker, e.g. unknown or -999; for one column only, e.g. age=-999; may be "
        "repeated. Numbers match by value.",
    ),
]
Categorical = Annotated[
    list[str],
    data(
        metavar="COLUMNS",
        help="Columns of numbers that are categories, e.g. a,b or 'T*' or all; may be repeated. A column of text is a "
        "category anyway. A name is stronger than a pattern: --categorical all --numeric age.",
    ),
]
Numeric = Annotated[
    list[str],
    data(
        metavar="COLUMNS",
        help="Columns to treat as numbers, e.g. a,b or 'T*' or all; may be repeated. Columns of numbers are numbers "
        "anyway, but golem no longer asks whether they are codes.",
    ),
]
Log = Annotated[
    list[str],
    data(
        "--log",
        metavar="COLUMNS",
        help="Columns of which to take the logarithm, e.g. a,b or 'T*'; may be repeated. All values must be positive.",
    ),
]
Columns = Annotated[
    str | None, data("--columns", metavar="COLUMNS", help="Columns to use, in this order, e.g. a,b,c.  [default: all]")
]
DropDependent = Annotated[
    bool,
    data(
        "--drop-dependent",
        help="Leave out columns that are constant, and those that others determine: copies, linear combinations.",
    ),
]
Covariance = Annotated[
    bool, data("--covariance", help="The file is a covariance or correlation matrix with names; needs --rows.")
]
RowsOption = Annotated[
    int | None, data("--rows", metavar="N", help="Number of rows behind the covariance matrix.", min=2)
]
Drop = Annotated[list[str], data(metavar="COLUMNS", help="Columns to leave out, e.g. a,b or 'T*'; may be repeated.")]
Header = Annotated[
    bool | None,
    data("--header/--no-header", help="Whether the first line holds column names.  [default: detected]"),
]

Transpose = Annotated[
    bool,
    data("--transpose", help="Variables are in rows, as in tables of gene expression; a first column can name them."),
]

Lags = Annotated[
    str | None,
    series(
        "--lags",
        metavar="N|auto",
        help="Number of steps back that causes may lie, or auto: chosen by BIC. A lagged column is named 'x@1'.",
    ),
]
TimeColumn = Annotated[
    str | None,
    series("--time", metavar="COLUMN", help="Column with the time.  [default: the order of the rows]"),
]
UnitColumn = Annotated[
    str | None,
    series(
        "--unit",
        metavar="COLUMN",
        help="Column with the units of a panel: lags never cross units, and each has its own intercept.",
    ),
]
EnvironmentColumn = Annotated[
    str | None,
    experiments("--environment", metavar="COLUMN", help="Column with the experiment of each row."),
]
EnvironmentFiles = Annotated[
    bool,
    experiments(
        "--environments",
        help="Treat each file as one experiment, named after the file without its extension, e.g. golem fit "
        "--environments runs/*.csv --targets targets.json.",
    ),
]
TargetsOption = Annotated[
    Path | None,
    experiments(
        "--targets",
        metavar="FILE",
        help='JSON file with the columns that each experiment changed: {"control": [], "knockout": ["A"]}.',
    ),
]
InterventionKind = Annotated[
    Literal["soft", "hard"],
    experiments(
        "--intervention",
        help="Effect of an experiment on its targets: soft changes how a target depends on its parents; hard removes "
        "the influence of the parents.",
    ),
]
InterceptsOption = Annotated[
    Literal["separate", "shared"],
    experiments("--intercepts", help="Means of the columns: one per experiment (separate), or common to all (shared)."),
]


def names(text: str | None) -> list[str] | None:
    """Split a list of names at its commas; quotes protect a comma in a name."""
    return None if text is None else [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def all_names(texts: list[str]) -> list[str]:
    """Split the values of an option that may be repeated at their commas."""
    return [name for text in texts for name in names(text) or []]


def given_options(context: typer.Context, but: Collection[str]) -> dict[str, Any]:
    """Return the options that the user typed, with their values, except those in `but`."""
    given = {}
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name not in but and source is not None and source.name == "COMMANDLINE":
            given[min(option.opts, key=len)] = context.params[str(option.name)]
    return given


def number_or_word(text: str | None, option: str, *words: str) -> Any:
    """Return a number if the text is one, else the text, which must be one of the words."""
    try:
        return None if text is None else float(text)
    except ValueError:
        if text in words:
            return text
        known = ", ".join(["a number", *words[:-1]]) + f" or {words[-1]}"
        raise typer.BadParameter(f"{text!r} is not {known}.", param_hint=option) from None


def number_of_lags(text: str | None) -> Any:
    """Return the number of lags, or auto."""
    if text is None or text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number or auto.", param_hint="--lags") from None


@contextlib.contextmanager
def reading(option: str) -> Iterator[None]:
    """Turn a ValueError about the value of an option into an error in the command."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(told(error, SHELL), param_hint=option) from None


def read_knowledge_file(path: Path | None) -> NamedKnowledge | None:
    """Read the file of --knowledge, if there is one."""
    from golem.data.knowledge import Knowledge

    return None if path is None else Knowledge.read(path)


def all_knowledge(
    path: Path | None, tiers: str | None, exogenous: list[str], outcome: list[str]
) -> NamedKnowledge | None:
    """Return what is known from --knowledge, --tiers, --exogenous and --outcome; only one of them can have tiers."""
    from golem.data.knowledge import Knowledge, NamedKnowledge, known_order

    known = read_knowledge_file(path) or NamedKnowledge()
    if tiers is not None:
        known = known.joined(Knowledge.named(tiers=[names(tier) or [] for tier in tiers.split(";")]))
    if exogenous or outcome:
        known = known.joined(known_order(all_names(exogenous), all_names(outcome)))
    return None if known.is_empty else known


@dataclass(frozen=True)
class TableOptions:
    """What was typed about a table."""

    missing: MissingOption = "error"
    na: NotAvailable = field(default_factory=list)
    categorical: Categorical = field(default_factory=list)
    numeric: Numeric = field(default_factory=list)
    log: Log = field(default_factory=list)
    columns: Columns = None
    drop: Drop = field(default_factory=list)
    drop_dependent: DropDependent = False
    header: Header = None
    covariance: Covariance = False
    rows: RowsOption = None
    transpose: Transpose = False

    @property
    def reading(self) -> Reading:
        """How the files are read."""
        from golem.data.reading import Reading

        return Reading(
            names(self.columns),
            all_names(self.drop),
            self.header,
            self.na,
            all_names(self.categorical),
            all_names(self.numeric),
            self.covariance,
            self.rows,
            log=all_names(self.log),
            transpose=self.transpose,
        )


def reads_table(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one option per field of `TableOptions`, except some, in the place of its parameter `table`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(TableOptions, include_extras=True)
        shared = [
            inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name], default=default)
            for one, default in ((one, getattr(TableOptions(), one.name)) for one in fields(TableOptions))
            if one.name not in without
        ]
        own = get_type_hints(command, include_extras=True)
        parameters: list[inspect.Parameter] = []
        for one in inspect.signature(command).parameters.values():
            plain = one.replace(annotation=own[one.name], kind=inspect.Parameter.KEYWORD_ONLY)
            parameters += shared if one.name == "table" else [plain]

        @wraps(command)
        def run(**given: Any) -> None:
            table = TableOptions(**{one.name: given.pop(one.name) for one in shared})
            command(table=table, **given)

        # Typer takes the options from these two.
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate
