"""golem fit: learn a graph from a table."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from golem.cli import options
from golem.cli.fit_details import print_details
from golem.cli.options import TableOptions, reads_table
from golem.cli.progress_bars import ProgressBars
from golem.cli.running import skip_slow_imports, user_errors
from golem.cli.terminal import err, out, print_json, showing_warnings
from golem.runtime.dialects import SHELL
from golem.runtime.problems import told

if TYPE_CHECKING:
    from golem.output.screen import Screen
    from golem.workflow import FitResult

# Options that go with --from; graph.json holds the values of all others.
_WITH_FROM = (
    "data", "repeat", "output", "certificate", "diagnose", "scatter", "bootstrap", "scheduler", "checkpoint", "quiet",
    "verbose", "as_json",
)  # fmt: skip


@reads_table("missing")
def fit(
    context: typer.Context,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="CSV (also gzipped), Parquet, .npy, Excel, Stata, SPSS or Feather files, folders, or patterns such as "
            "'part-*.parquet'; their rows form one table. Or a covariance file. Use '-' for standard input.  [default: "
            "with --from, the files of that run]",
        ),
    ] = None,
    output: options.OutputFolder = Path("golem-output"),
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    as_json: options.Json = False,
    scatter: Annotated[
        bool,
        options.output(
            "--scatter",
            help="Show a scatter plot per edge in the report, which then contains values of up to 300 rows.",
        ),
    ] = False,
    noise: Annotated[
        Literal["auto", "nv", "ev"],
        options.model(help="Noise variances: free (nv), equal (ev), or chosen from the data (auto)."),
    ] = "auto",
    lambda_sparsity: Annotated[
        str | None,
        options.model(
            metavar="PENALTY",
            help="Penalty per edge: mbic, ebic, bic, or a number per row: the penalty in units of the deviance, as "
            "--select lists it, divided by 2n for n rows (bic is log(n)/(2n)). With categories, a number is per free "
            "parameter. With --solver lbfgs or adam: weight of the l1 norm.  [default: mbic; with --solver lbfgs or "
            "adam 0.002, or 0.02 if --noise is ev]",
        ),
    ] = None,
    select: Annotated[
        Literal["bic", "cv", "stability"] | None,
        options.model(
            help="Choose the penalty per edge from the data, by an information criterion (bic), held-out likelihood "
            "(cv), or agreement between halves of the rows (stability)."
        ),
    ] = None,
    lambda_dag: Annotated[
        float | None, options.model(help="Penalty on cycles (needs --solver lbfgs or adam).  [default: 5]", min=0)
    ] = None,
    threshold: Annotated[
        str | None,
        options.model(
            metavar="NUMBER|lr",
            help="Smallest absolute weight to keep, or `lr`: keep edges whose likelihood ratio exceeds the penalty per "
            "edge (needs --solver lbfgs or adam).  [default: 0.3; lr with --select]",
        ),
    ] = None,
    robust: Annotated[
        Literal["auto", "ranks", "off"],
        options.model(
            help="Learn from correlations of ranks, which withstand outliers: if the table has outliers (auto), always "
            "(ranks), or never (off). Needs all rows in memory and --noise nv or auto."
        ),
    ] = "auto",
    shape: Annotated[
        Literal["auto", "off"],
        options.model(
            help="Let the shape of noise that is not normal settle open directions, where the linear model holds (with "
            "--solver order and --noise nv or auto)."
        ),
    ] = "auto",
    statistics: Annotated[
        Literal["auto", "dense", "sparse"],
        options.model(
            help="Compute the covariances of all pairs of columns (dense), or only those that a screening finds "
            "(sparse; auto from 5000 columns on)."
        ),
    ] = "auto",
    evidence: Annotated[
        Literal["auto", "fast"],
        options.model(
            help="Check on halves of the rows which directions that follow from the structure survive (auto), or show "
            "all of them as links (fast)."
        ),
    ] = "auto",
    intervention: options.InterventionKind = "soft",
    intercepts: options.InterceptsOption = "separate",
    score: Annotated[
        Literal["auto", "gaussian", "mixed", "bdeu", "discrete-bic"],
        options.model(
            help="Score: gaussian (numbers), mixed (numbers and categories), bdeu or discrete-bic (categories), or "
            "auto (chosen by column types)."
        ),
    ] = "auto",
    solver: Annotated[
        Literal["order", "lbfgs", "adam"],
        options.search(help="Search over orders (order), or minimize the paper's score by L-BFGS or Adam."),
    ] = "order",
    effort: Annotated[
        Literal["fast", "default", "thorough"] | None,
        options.search(help="Length of the search (needs --solver order and --noise nv or auto).  [default: default]"),
    ] = None,
    max_iter: Annotated[
        int | None,
        options.search(
            help="Maximum number of iterations (needs --solver lbfgs or adam).  [default: 10000 (lbfgs), 100000 "
            "(adam)]",
            min=1,
        ),
    ] = None,
    time_limit: Annotated[float | None, options.search(help="Time limit per graph, in seconds.", min=0.001)] = None,
    checkpoint: Annotated[
        Path | None,
        options.search(
            metavar="FILE",
            help="Save progress to this file, so that the same command resumes after Ctrl-C, a time limit or a crash "
            "(needs --solver adam).",
        ),
    ] = None,
    device: Annotated[
        str,
        options.search(
            "--device",
            metavar="DEVICE",
            help="cpu, cuda, or auto (use a GPU if that is faster). A GPU needs --solver adam, --solver order with "
            "--noise ev, or --statistics sparse.",
        ),
    ] = "cpu",
    seed: Annotated[int, options.search(help="Random seed.", min=0)] = 0,
    diagnose: Annotated[
        bool,
        options.checks(
            "--diagnose/--no-diagnose", help="Check the assumptions, the table and the stability of the graph."
        ),
    ] = True,
    bootstrap: Annotated[
        int | None,
        options.checks(
            metavar="N",
            help="Learn N more graphs from resampled rows, e.g. 100, and count how often each edge and direction "
            "occurs. Tables with categories use random halves of the rows instead. Files above 256 MB are resampled in "
            "blocks.",
            min=1,
        ),
    ] = None,
    certificate: Annotated[
        bool,
        options.checks(
            "--certificate",
            help="Also minimize the paper's score, starting from the learned graph, and report how well its optimality "
            "conditions hold (needs --noise ev).",
        ),
    ] = False,
    forbid: options.Forbid = [],  # noqa: B006
    require: options.Require = [],  # noqa: B006
    knowledge: options.KnowledgeFile = None,
    tiers: options.Tiers = None,
    exogenous: options.Exogenous = [],  # noqa: B006
    outcome: options.Outcome = [],  # noqa: B006
    missing: options.AutoMissing = "auto",
    strict: options.Strict = False,
    table: TableOptions = TableOptions(),  # noqa: B008
    environment: options.EnvironmentColumn = None,
    environments: options.EnvironmentFiles = False,
    lags: options.Lags = None,
    time: options.TimeColumn = None,
    unit: options.UnitColumn = None,
    targets: options.TargetsOption = None,
    repeat: Annotated[
        Path | None,
        options.data(
            "--from",
            metavar="FILE",
            help="Repeat the run of this graph.json with its settings, on its files or on DATA, and compare.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        options.data(
            metavar="ADDRESS",
            help="Dask scheduler whose workers read the files, e.g. tcp://10.0.0.1:8786; they must see the same paths. "
            "The value local starts one worker per core here. Needs `golem-dag[distributed]`.",
        ),
    ] = None,
) -> None:
    """Learn a graph from a table.

    For example:

        golem fit data.csv -o out
        golem fit data.csv --noise ev --forbid 'A->B' --bootstrap 100
        golem fit experiments/data.csv --environment environment --targets experiments/targets.json
        golem fit data.csv --lags auto
        golem fit --from out/graph.json -o again

    Writes `graph.json`, `edges.csv`, `weights.csv` (only for tables with at most 1000 columns), `graph.png` and
    `report.html` into the output folder; open `report.html` in a browser. Tables with categories have
    `coefficients.csv` instead of `weights.csv`. Ctrl-C keeps the best graph so far (exit code 130).
    """
    skip_slow_imports()
    before = err.lines
    from golem.estimator.golem import Golem
    from golem.runtime.devices import require_device
    from golem.workflow import fit_file, repeat_fit

    if repeat is None and not data:
        raise typer.BadParameter("No table given. Name a file, or use --from to repeat a run.", param_hint="DATA")
    penalty = options.number_or_word(lambda_sparsity, "--lambda-sparsity", "mbic", "ebic", "bic")
    least = options.number_or_word(threshold, "--threshold", "lr")
    with options.reading("--device"):
        if device != "auto":
            require_device(device)
    shared: dict[str, Any] = {
        "bootstrap": bootstrap,
        "diagnose": diagnose,
        "certificate": certificate,
        "scatter": scatter,
        "scheduler": scheduler,
        "checkpoint": checkpoint,
        "progress": ProgressBars(not (quiet or as_json), not quiet, verbose and not (quiet or as_json)),
    }
    with user_errors(), showing_warnings(quiet, brief=not verbose):
        if repeat is not None:
            if given := options.given_options(context, _WITH_FROM):
                raise ValueError(
                    f"--from uses the settings of the earlier run and cannot be combined with {', '.join(given)}."
                )
            result = repeat_fit(repeat, output, data, **shared)
        else:
            model = Golem(
                noise,
                solver,
                lambda_sparsity=penalty,
                lambda_dag=lambda_dag,
                threshold=least,
                effort=effort,
                max_iter=max_iter,
                time_limit=time_limit,
                knowledge=options.all_knowledge(knowledge, tiers, exogenous, outcome),
                missing="error" if missing == "auto" else missing,
                robust=robust,
                shape=shape,
                evidence=evidence,
                statistics=statistics,
                intervention=intervention,
                intercepts=intercepts,
                score_function=score,
                lags=options.number_of_lags(lags),
                time=time,
                unit=unit,
                device=device,
                random_state=seed,
            )
            reading = dataclasses.replace(table.reading, environment=environment, environments=environments)
            result = fit_file(
                data or [],
                output,
                model,
                **vars(reading),
                targets=targets,
                drop_dependent=table.drop_dependent,
                missing="auto" if missing == "auto" and not strict else None,
                strict=strict,
                forbid=forbid,
                require=require,
                select=select,
                random_state=seed,
                **shared,
            )
    if as_json:
        more: dict[str, Any] = {}
        if result.certificate is not None:
            numbers = ("score", "stationarity", "start_score")
            more["certificate"] = {name: getattr(result.certificate, name) for name in numbers}
        if result.repeat is not None:
            more["repeat"] = vars(result.repeat)
        print_json(result.document, more)
    elif not quiet:
        out.print(_screen(result, 0 if verbose else err.lines - before).text())
        if verbose:
            out.print()
            print_details(result.model, result.supplement, result.document)
    if result.interrupted:
        raise KeyboardInterrupt


def _screen(result: FitResult, said: int) -> Screen:
    """Return what to print about a fit, after so many lines of notes."""
    from golem.output.screen import Screen, data_title, learned_sentences
    from golem.workflow.steps import title_of

    document, selection, proof = result.document, result.selection, result.certificate
    sentences = learned_sentences(document)
    if gaps := document.missing:
        how = "the others are used (Gaussian EM)" if gaps["method"] == "em" else "these rows were dropped"
        missing = "1 value is" if gaps["cells"] == 1 else f"{gaps['cells']} values are"
        sentences.append(f"{missing} missing in {gaps['rows']} of {gaps['rows_read']} rows; {how}.")
    if selection is not None:
        chosen = " ".join(f"--{name.replace('_', '-')} {value:.6g}" for name, value in selection.chosen.items())
        sentences.append(f"Penalty chosen by {selection.method}: {chosen}")
        sentences += [told(selection.note, SHELL)] if selection.note else []
    if proof is not None:
        sentences.append(
            f"Certificate: minimizing the paper's score from this graph gives {proof.score:.6g}; the optimality "
            f"conditions hold to within {proof.stationarity:.1e}."
        )
    if result.repeat is not None:
        sentences.append(told(result.repeat.sentence, SHELL))
    paths = [] if document.data is None else document.data.paths
    title = data_title(title_of(paths) if paths else "Table", document, result.supplement)
    return Screen(title, sentences, document, result.supplement, result.output, said)
