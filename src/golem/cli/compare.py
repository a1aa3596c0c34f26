"""golem compare: run several methods on one table."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from golem.cli import options
from golem.cli.options import TableOptions, reads_table
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import fail, skip_slow_imports, user_errors
from golem.cli.terminal import out, showing_warnings
from golem.runtime.dialects import SHELL
from golem.runtime.files import require_writable
from golem.runtime.interrupts import holding_interrupts, keep
from golem.runtime.messages import MOST_LINES, WIDTH, one_line, printable
from golem.runtime.problems import told
from golem.runtime.result_folder import result_folder

if TYPE_CHECKING:
    from golem.comparison.result import Comparison

_MOST_PAIRS, _MOST_WARNINGS = 10, 2


@reads_table()
def compare(
    data: Annotated[
        str, typer.Argument(help="CSV (also gzipped), Parquet, .npy or covariance file. Use '-' for standard input.")
    ],
    output: options.OutputFolder = Path("golem-comparison"),
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    as_json: options.Json = False,
    methods: Annotated[
        list[str],
        options.search(
            "--methods",
            metavar="METHODS",
            help="Methods, e.g. order,pc; may be repeated.  [default: all that are installed except the paper's "
            "recipe]",
        ),
    ] = [],  # noqa: B006
    paper: Annotated[
        bool, options.search("--paper", help="Also run the paper's recipe, golem-ev and golem-nv, which takes minutes.")
    ] = False,
    time_limit: Annotated[float, options.search(help="Time limit per method, in seconds.", min=0.001)] = 120.0,
    forbid: options.Forbid = [],  # noqa: B006
    require: options.Require = [],  # noqa: B006
    knowledge: options.KnowledgeFile = None,
    truth: Annotated[
        Path | None, options.data(metavar="FILE", help="True graph: graph.json, CSV, or any format of `golem export`.")
    ] = None,
    table: TableOptions = TableOptions(),  # noqa: B008
    environment: options.EnvironmentColumn = None,
    targets: options.TargetsOption = None,
    lags: options.Lags = None,
    time: options.TimeColumn = None,
    unit: options.UnitColumn = None,
) -> None:
    """Run several methods on one table and compare their graphs.

    For example:

        golem compare data.csv
        golem compare data.csv --truth truth.csv --methods order-ev,notears-l1,pc -o methods
        golem compare experiments/data.csv --environment environment --targets experiments/targets.json

    The methods:

    - `golem-ev`, `golem-nv`: the recipe of the paper (slow; only with --paper or --methods)
    - `order`, `order-ev`, `order-nv`: golem's search over orders; `order` is the default of `golem fit`
    - `order-mixed`, `order-bdeu`, `order-discrete-bic`: golem's scores of tables with categories
    - `notears`, `notears-l1`, `fgs`, `fgs-mbic`, `pc`, `direct-lingam`, `sort-regress-var`, `sort-regress-r2`: other
      methods
    - `dagma`, `gcastle-notears`, `lingam`, `causal-learn-ges`, `causal-learn-pc`, `flopsearch`,
      `flopsearch-mbic`: other packages
    - `order-soft`, `order-hard`, `gies`, `gnies`: methods for experiments; with --environment only these and `order`
      run, and `order` then means `order-soft`
    - `pcmci-plus`, `var-lingam`: other packages, for time series; with --lags only these and `order` run

    Names that end in `-mbic` use the same penalty per edge as `order`, so only the search differs.

    Writes `comparison.csv`, `agreement.csv`, `distances.csv`, `comparison.png` and `report.html` into the output
    folder; open `report.html` in a browser. A method that fails, exceeds its time limit or cannot use the given
    knowledge is reported in the table, and the others still run. Ctrl-C keeps the results so far (exit code 130).
    """
    skip_slow_imports()
    from golem.comparison.registry import PAPER_RECIPE, require_known
    from golem.comparison.result import COMPARISON_FILES, report_comparison
    from golem.comparison.run import compare_source, default_methods, packages_not_installed
    from golem.data.files.standard_input import spooled
    from golem.data.series import with_lags
    from golem.data.series_reading import SeriesChoice
    from golem.data.source import open_table
    from golem.data.targets import read_targets
    from golem.data.typed_edges import with_edges
    from golem.workflow.steps import naming_table, require_kept, title_of

    chosen = [name for name in options.all_names(methods) if name]
    everything = not chosen
    if paper:
        chosen = [*PAPER_RECIPE, *(chosen or default_methods(environment is not None, lags is not None))]
    with options.reading("--methods"):
        require_known(chosen)
    with user_errors(), spooled([data]) as paths:
        require_writable(output)
        known = options.read_knowledge_file(knowledge)
        bars = ProgressBars(not (quiet or as_json), not quiet, verbose and not (quiet or as_json))
        reading = table.reading
        if environment is not None:
            reading = dataclasses.replace(reading, environment=environment)
        with showing_warnings(quiet), naming_table([data], [] if targets is None else [targets]):
            known_targets = None if targets is None else read_targets(targets)
            series = SeriesChoice(options.number_of_lags(lags), time, unit)
            series.check()
            how: Any = (table.drop_dependent, table.missing, bars, known_targets, series)
            source = open_table(paths, reading, *how)
        require_kept([*source.paths, *([truth] if truth else [])], output, COMPARISON_FILES)
        if (output / "graph.json").exists():
            raise ValueError(
                f"The folder {str(output)!r} holds results of `golem fit`, and its report.html would be overwritten. "
                "Choose another folder with -o."
            )
        obeyed = with_edges(known, forbid, require, with_lags(source.names, series.lags))
        others = [file for file in (truth, targets) if file is not None]
        with showing_warnings(quiet), bars.comparing(time_limit) as show, naming_table([data], others):
            how = {"knowledge": obeyed, "missing": table.missing, "time_limit": time_limit, "callback": show}
            result = compare_source(source, chosen or None, truth, bars, **how)
        result = _with_options(result)
        with holding_interrupts():
            with result_folder(output, COMPARISON_FILES) as folder:
                result.save(folder)
                if result.estimates:
                    name = Path(title_of([data])).stem
                    report_comparison(result, folder / "report.html", title=f"Methods compared on {name}")
            finished = sum(row.status not in ("interrupted", "not run") for row in result.rows)
            keep(f"The results of {finished} of {len(result.rows)} methods are saved in {output}.")
    if as_json:
        print(json.dumps([vars(row) for row in result.rows]))  # noqa: T201
    elif not quiet:
        left_out = dict(result.left_out)
        everything = everything and not result.settings.get("score")  # all other methods need numbers
        if everything and not paper and environment is None and lags is None:
            left_out["the paper's recipe takes minutes (add --paper)"] = PAPER_RECIPE
        absent = packages_not_installed(environment is not None, lags is not None)
        if everything and absent:
            left_out["not installed"] = tuple(f"{name} ({command})" for name, command in absent.items())
        for line in _screen(result, output, left_out):
            out.print(line)
        if verbose:
            _print_details(result, left_out)
    if result.interrupted:
        raise KeyboardInterrupt
    if not result.estimates:
        fail("Every method failed. The table above shows why.")


def _with_options(comparison: Comparison) -> Comparison:
    """Return a comparison whose messages name options instead of parameters."""
    rows = tuple(dataclasses.replace(row, message=told(row.message, SHELL)) for row in comparison.rows)
    warnings = {told(warning, SHELL): methods for warning, methods in comparison.warnings.items()}
    left_out = {told(reason, SHELL): methods for reason, methods in comparison.left_out.items()}
    return dataclasses.replace(comparison, rows=rows, warnings=warnings, left_out=left_out)


def _screen(comparison: Comparison, output: Path, left_out: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the methods, the pairs that most of them connect, what was not run, and where the results are."""
    warnings = [f"! {warning}" for warning in comparison.warnings][:_MOST_WARNINGS]
    lines = [one_line(line) for line in (*str(comparison).splitlines(), *warnings)]
    if left_out:
        counts = "; ".join(f"{len(names)}, {reason}" for reason, names in left_out.items())
        lines += textwrap.wrap(f"Not run: {counts}", WIDTH)
    learned, found = list(comparison.estimates), comparison.agreement()
    end = [
        "",
        "Next",
        f"  report   {output / 'report.html'}",
        "  details  --verbose   (columns, what the numbers mean)",
    ]
    room = max(3, MOST_LINES - len(lines) - len(end) - 2)
    if len(learned) > 1 and found:
        shown = found[: min(room, _MOST_PAIRS)]
        of = "Pairs" if len(shown) == len(found) else f"The {len(shown)} most frequent of {len(found)} pairs"
        lines += ["", f"{of} that the {len(learned)} methods connect (see agreement.csv)"]
        width = max(len(_pair(edge)) for edge in shown)
        lines += [_agreement(edge, learned, min(width, 40)) for edge in shown]
    return lines + (end if learned else [])


def _pair(edge: Mapping[str, Any]) -> str:
    return printable(f"{edge['source']}, {edge['target']}").replace("\n", "\\n")


def _agreement(edge: Mapping[str, Any], learned: Sequence[str], width: int) -> str:
    """Return how many methods connect a pair, in which directions."""
    marks = [edge[name] for name in learned]
    ways = {
        f"{edge['source']} --> {edge['target']}": marks.count("->"),
        f"{edge['target']} --> {edge['source']}": marks.count("<-"),
        "open": marks.count("--"),
    }
    told = ", ".join(f"{count} {printable(way)}" for way, count in ways.items() if count)
    return one_line(f"  {_pair(edge)[:width]:<{width}}  {edge['methods']:>2}   {told}")


def _print_details(comparison: Comparison, left_out: Mapping[str, Sequence[str]]) -> None:
    """Print what the numbers mean, what was not run, and the warnings."""
    out.print()
    for reason, names in left_out.items():
        out.print(f"Not run, {reason}: {', '.join(names)}")
    if comparison.settings.get("score"):
        from golem.output.document import SCORE_WORDS

        out.print(f"Score: {SCORE_WORDS[comparison.settings['score']]}, in units of the deviance; lower is better.")
    elif any(row.bic is not None for row in comparison.rows):
        out.print(
            "BIC: with least-squares weights and free noise variances; lower is better. It changes if columns are "
            "transformed."
        )
    if comparison.estimates and comparison.truth is not None:
        out.print(
            "SHD: edges to add, remove or reverse; SHD-C: the same between equivalence classes. SID (only for DAGs): "
            "pairs of variables whose causal effect would be wrong if computed from the learned graph. TPR: share of "
            "the true edges that were found.",
        )
    for row in comparison.rows:
        if row.message:
            out.print(f"{row.method}: {row.message}")
    for warning, methods in comparison.warnings.items():
        source = f" ({', '.join(methods)})" if methods else ""
        out.print(f"Warning{source}: {warning}", style="yellow")
