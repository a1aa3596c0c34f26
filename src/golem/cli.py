"""The command line: golem fit | demo | simulate | score | compare."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import warnings
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

import golem
from golem.terminal import (
    comparison_progress,
    err,
    out,
    print_comparison,
    print_consensus,
    print_json,
    print_saved,
    print_summary,
    progress,
    reading,
    telling_warnings,
)

if TYPE_CHECKING:
    from golem.estimator import Golem
    from golem.moments import Moments

app = typer.Typer(
    name="golem",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learn linear directed acyclic graphs from data.",
    epilog="Try `golem demo`, or `golem fit data.csv -o out/`.",
)
INTERRUPTED_EXIT_CODE = 130


class Noise(StrEnum):
    """Choices of --noise for fit."""

    auto = "auto"
    nv = "nv"
    ev = "ev"


class Solver(StrEnum):
    """Choices of --solver."""

    order = "order"
    lbfgs = "lbfgs"
    adam = "adam"


class Effort(StrEnum):
    """Choices of --effort."""

    fast = "fast"
    default = "default"
    thorough = "thorough"


class SimulatedNoise(StrEnum):
    """Choices of --noise for simulate."""

    gaussian_ev = "gaussian-ev"
    gaussian_nv = "gaussian-nv"
    exponential = "exponential"
    gumbel = "gumbel"


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is random.", min=0)]


def _version(value: bool) -> None:
    if value:
        out.print(f"golem {golem.__version__}")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn linear directed acyclic graphs from data."""


@app.command(epilog="Example: `golem fit data.csv -o out/ --noise ev --lambda-sparsity bic`")
def fit(
    data: Annotated[
        list[str],
        typer.Argument(
            help="CSV (separator and header are found, gzip is read) or Parquet: files, folders or patterns such as "
            "'part-*.parquet', whose rows make one table. They are read once, in bounded memory.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("golem-output"),
    noise: Annotated[
        Noise, typer.Option(help="Noise variances: free (nv), all equal (ev), or what the data speak for.")
    ] = Noise.auto,
    solver: Annotated[
        Solver, typer.Option(help="Count edges over orders (order), or the paper's score (lbfgs, adam).")
    ] = Solver.order,
    lambda_sparsity: Annotated[
        str | None,
        typer.Option(
            help="Price of edges: order takes mbic, ebic, bic or a number; lbfgs and adam the weight of the l1 norm."
            "  [default: mbic; 0.02 (ev), 0.002 (others)]"
        ),
    ] = None,
    lambda_dag: Annotated[
        float | None, typer.Option(help="Penalty on cycles (lbfgs, adam).  [default: 5]", min=0)
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Drop edges with smaller |weight| (lbfgs, adam).  [default: 0.3]", min=0)
    ] = None,
    effort: Annotated[Effort | None, typer.Option(help="How long to search (order).  [default: default]")] = None,
    max_iter: Annotated[
        int | None, typer.Option(help="Most iterations.  [default: 10000 (lbfgs), 100000 (adam)]", min=1)
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Most seconds for a solve.", min=0.001)] = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, or auto: a GPU where it gains (adam; order with ev).")
    ] = "cpu",
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Also polish the paper's score to a stationary point (ev).")
    ] = False,
    columns: Annotated[
        str | None, typer.Option(help="Use these columns alone, in this order: a,b,c.  [default: all]")
    ] = None,
    drop: Annotated[list[str], typer.Option(help="Leave out a column; repeat for more.")] = [],  # noqa: B006
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.  [default: found]")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Read the files on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786, which must see them "
            "under the same paths; `local` starts one worker a core here. Needs golem-dag[distributed].",
        ),
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn a graph from a table, in one file or many.

    `golem fit 'parts/*.parquet' --columns a,b,c` takes three columns of many files, and with
    `--scheduler tcp://10.0.0.1:8786` the workers of a Dask cluster read them.

    Writes `graph.json`, `edges.csv`, `weights.csv` and `graph.png` into the output folder. Ctrl-C stops the solver
    and keeps the best graph so far, marked as interrupted (exit code 130).
    """
    from golem.estimator import Golem
    from golem.readers import TableFiles, shards_of

    with _user_errors():
        model = Golem(
            noise.value,
            solver.value,
            lambda_sparsity=_number_or_word(lambda_sparsity),
            lambda_dag=lambda_dag,
            threshold=threshold,
            effort=None if effort is None else effort.value,
            max_iter=max_iter,
            time_limit=time_limit,
            device=device,
            random_state=seed,
        )
        if certificate and noise is not Noise.ev:
            raise ValueError("--certificate is for --noise ev: the paper's score with equal noise variances")
        # Whatever can be known to be wrong without the rows is told before they are read.
        model.check_settings()
        _require_writable(output)
        with telling_warnings(quiet):
            table = TableFiles.open(data, columns=_names(columns), drop=drop, header=header)
            if table.made_up_names and not quiet:
                err.print(f"No header line found: the columns are named {', '.join(table.names[:2])}, ...")
            with reading(table.size, not (quiet or as_json)) as show:
                (moments,) = shards_of(table, 1, progress=show, scheduler=scheduler)
        with _naming_data(data):
            _learn(model, moments, output, quiet=quiet, bar=not (quiet or as_json))
        proof = model.certify() if certificate else None
    if as_json:
        numbers = ("score", "stationarity", "start_score")
        print_json(model, {"certificate": {name: getattr(proof, name) for name in numbers}} if proof else None)
    elif not quiet:
        print_summary(model)
        if proof is not None:
            out.print(
                f"Certificate: from here the paper's score (l1 and DAG penalties) descends to {proof.score:.6g}, where "
                f"its optimality conditions hold to {proof.stationarity:.1e}.",
                soft_wrap=True,
            )
        print_saved(output)
    _exit_if_interrupted(model)


@app.command(epilog="Example: `golem demo -o demo-output`")
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo-output"),
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn a graph from the bundled Sachs protein data and compare it with the consensus of biologists.

    The intensities are positive with heavy right tails, so their logarithms are used; a weight is then an
    elasticity.
    """
    import numpy as np

    from golem import metrics
    from golem.datasets import load_sachs
    from golem.estimator import Golem
    from golem.moments import Moments

    with _user_errors():
        sachs = load_sachs()
        model = Golem()
        moments = Moments.from_rows(np.log(sachs.values), sachs.names)
        _learn(model, moments, output, quiet=quiet, bar=not (quiet or as_json))
    scores = metrics.evaluate(sachs.truth, model.adjacency_)
    if as_json:
        print_json(model, {"consensus": vars(scores)})
    elif not quiet:
        out.print("Sachs et al. (2005): 853 cells, 11 proteins and phospholipids, log intensities\n")
        print_summary(model)
        print_consensus(scores, sachs.truth, model)
        print_saved(output)
    _exit_if_interrupted(model)


@app.command(epilog="Example: `golem simulate --graph ER --degree 2 --d 20 --n 1000 --noise gaussian-ev -o sim/`")
def simulate(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for data.csv and truth.csv.")] = Path("."),
    graph: Annotated[str, typer.Option(help="ER or SF; `ER2` sets the degree as well.")] = "ER",
    degree: Annotated[int | None, typer.Option(help="Edges a node.  [default: 2]", min=1)] = None,
    d: Annotated[int, typer.Option("--d", "-d", help="Number of variables.", min=1)] = 20,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of rows.", min=2)] = 1000,
    noise: Annotated[SimulatedNoise, typer.Option(help="Noise.")] = SimulatedNoise.gaussian_ev,
    weight_scale: Annotated[float, typer.Option(help="Multiplies the weights, drawn from +-[0.5, 2].")] = 1.0,
    noise_std: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Draw the noise's standard deviations log-uniformly from LOW HIGH."),
    ] = None,
    standardize: Annotated[bool, typer.Option("--standardize", help="Scale the columns to variance 1.")] = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Draw a random graph and data from it, as in the paper's experiments: data.csv and truth.csv."""
    from golem import export
    from golem.simulate import simulate as draw

    with _user_errors():
        if degree is not None and graph.upper() not in ("ER", "SF"):
            raise ValueError(f"give the degree once: --graph {graph} already has one")
        named = f"{graph}{degree or 2}" if graph.upper() in ("ER", "SF") else graph
        drawn = draw(
            d, n, named, noise.value, weight_scale=weight_scale, noise_std=noise_std, standardize=standardize,
            random_state=seed,
        )  # fmt: skip
        _require_writable(output)
        output.mkdir(parents=True, exist_ok=True)
        names = drawn.sem.names
        rows = "\n".join(",".join(map(repr, row)) for row in drawn.data.tolist())
        export.write_text(output / "data.csv", ",".join(names) + "\n" + rows + "\n")
        export.write_text(output / "truth.csv", export.edge_list(drawn.sem.weights, names))
    if not quiet:
        edges = int(drawn.sem.adjacency.sum())
        out.print(f"{n} rows of {d} variables, {edges} edges ({named.upper()}, {noise.value}, seed {seed})")
        out.print(f"{output / 'data.csv'}\n{output / 'truth.csv'}", soft_wrap=True)


@app.command(epilog="Example: `golem score sim/truth.csv out/edges.csv`")
def score(
    truth: Annotated[Path, typer.Argument(help="The true graph: an edge list, a weight matrix or graph.json.")],
    estimate: Annotated[Path, typer.Argument(help="The estimated graph, in the same formats.")],
    cpdag: Annotated[
        bool,
        typer.Option(
            "--cpdag",
            help="Edges given in both directions are undirected, and right where the truth has one.",
        ),
    ] = False,
    normalize: Annotated[bool, typer.Option("--normalize", help="Divide SHD, SHD-C and SID by the nodes.")] = False,
    nodes: Annotated[
        int | None, typer.Option(help="Number of variables, where edge lists leave out isolated ones.", min=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare an estimated graph with the truth: SHD, SHD-C, SID, TPR, FDR, precision, F1."""
    from golem import metrics
    from golem.moments import quoted
    from golem.readers import read_graph

    with _user_errors():
        first, second = read_graph(truth), read_graph(estimate)
        names = tuple(dict.fromkeys(first.names + second.names))
        if not names and nodes is None:
            raise ValueError("neither graph names a variable; give --nodes, or graph.json, which lists isolated ones")
        if first.names and second.names and not set(first.names) & set(second.names):
            raise ValueError(f"the two graphs share no variable: {quoted(first.names)} and {quoted(second.names)}")
        if nodes is not None:
            if nodes < len(names):
                raise ValueError(f"--nodes {nodes}, but the two graphs name {len(names)} variables")
            # Isolated variables count in normalized metrics alone, whatever their names.
            names += tuple(f"\0{k}" for k in range(nodes - len(names)))
        result = metrics.evaluate(first.aligned(names), second.aligned(names), cpdag=cpdag, normalize=normalize)
    values = {name: None if value != value else value for name, value in vars(result).items()}
    if as_json:
        print(json.dumps({"nodes": len(names)} | values))  # noqa: T201
    else:
        for name, value in values.items():
            shown = "undefined" if value is None else f"{value:.4g}"
            out.print(f"{name.replace('_', '-').upper():<10} {shown}")


@app.command(epilog="Example: `golem compare data.csv --truth truth.csv --methods order-ev,notears-l1,pc -o out/`")
def compare(
    data: Annotated[Path, typer.Argument(help="CSV (separator and header are found) or Parquet file of numbers.")],
    truth: Annotated[
        Path | None, typer.Option(help="The true graph: an edge list, a weight matrix or graph.json.")
    ] = None,
    methods: Annotated[
        list[str],
        typer.Option(help="Names with commas between them.  [default: all, and those of installed packages]"),
    ] = [],  # noqa: B006
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("golem-comparison"),
    time_limit: Annotated[float, typer.Option(help="Most seconds for each method.", min=0.001)] = 120.0,
    drop: Annotated[list[str], typer.Option(help="Leave out a column; repeat for more.")] = [],  # noqa: B006
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.  [default: found]")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run several methods on one table, and show what each finds and where they agree.

    Methods: golem-ev, golem-nv (the paper's recipe), order-ev, order-nv, order (its likelihoods with edges counted),
    notears, notears-l1, fgs, pc, direct-lingam, sort-regress-var, sort-regress-r2; and of other packages, where they
    are installed, dagma, gcastle-notears, lingam, causal-learn-ges, causal-learn-pc, flopsearch. A method that exceeds
    its time or fails is reported as such, and the others go on. Writes `comparison.csv`, `agreement.csv`,
    `distances.csv` and `comparison.png` into the output folder. Ctrl-C keeps what is there (exit code 130).
    """
    from golem.comparison import compare_file, missing_peers

    chosen = [name.strip() for part in methods for name in part.split(",") if name.strip()]
    with _user_errors():
        _require_writable(output)
        with comparison_progress(not (quiet or as_json), time_limit) as show:
            result = compare_file(
                data, chosen or None, truth=truth, time_limit=time_limit, drop=drop, header=header, callback=show
            )
        with _holding_interrupts():
            result.save(output)
    if as_json:
        print(json.dumps([vars(row) for row in result.rows]))  # noqa: T201
    elif not quiet:
        print_comparison(result)
        if not chosen and missing_peers():
            listed = ", ".join(f"{name} ({command})" for name, command in missing_peers().items())
            out.print(f"\nNot installed, and so left out: {listed}", soft_wrap=True)
        out.print(f"\nSaved {output}/comparison.csv, agreement.csv, distances.csv, comparison.png", soft_wrap=True)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)
    if not result.estimates:
        _fail("no method came to an end; the table says why")


def _names(text: str | None) -> list[str] | None:
    """Read a list of names with commas between them; quotes protect a comma in a name."""
    return None if text is None else [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


@contextlib.contextmanager
def _naming_data(data: list[str]) -> Iterator[None]:
    """Put the files before what is wrong with their rows."""
    try:
        yield
    except ValueError as error:
        more = f" and {len(data) - 1} more" if len(data) > 1 else ""
        raise ValueError(f"{data[0]}{more}: {error}") from None


def _number_or_word(text: str | None) -> Any:
    """Read an option that takes a number or a word."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _learn(model: Golem, moments: Moments, output: Path, *, quiet: bool, bar: bool) -> None:
    """Fit with a progress bar, and write the result files and the picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from golem import export
    from golem.plots import plot_model

    _require_writable(output)
    _compile(model, moments.d, bar)
    with telling_warnings(quiet), progress(model, bar):
        model.fit(moments)
    # A second Ctrl-C waits until the results are safe.
    with _holding_interrupts(), warnings.catch_warnings():
        export.save(model, output)
        warnings.simplefilter("ignore")  # of fonts that lack a letter of a name
        axes: Any = plot_model(model)
        with export.replacing(output / "graph.png") as temporary:
            axes.figure.savefig(temporary, dpi=150)
        plt.close(axes.figure)


def _require_writable(output: Path) -> None:
    """Raise before the work, not after it, where the results cannot be written."""
    existing = output
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir():
        raise ValueError(f"{existing} is a file; name a folder for the results with -o")
    if not os.access(existing, os.W_OK):
        raise ValueError(f"{existing} cannot be written to; name another folder for the results with -o")


def _compile(model: Golem, d: int, talk: bool) -> None:
    """Compile the search before the first fit, and say so; numba cannot be interrupted half-way."""
    from golem.descent import NOISE_MODELS
    from golem.solvers.order import compile_search

    if model.solver != "order":
        return
    spinner = err.status("Loading the search (the first time it is compiled, up to half a minute)")
    with spinner if talk else contextlib.nullcontext(), _holding_interrupts():
        compile_search(NOISE_MODELS[model.noise].likelihood(2), d)


@contextlib.contextmanager
def _holding_interrupts() -> Iterator[None]:
    """Keep Ctrl-C waiting until the block has ended."""
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt


def _exit_if_interrupted(model: Golem) -> None:
    from golem.solvers import Status

    if model.solution_.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)


@contextlib.contextmanager
def _user_errors() -> Iterator[None]:
    """Turn what a user can mend into one sentence and exit code 1."""
    try:
        yield
    except (ValueError, OSError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        err.print("Interrupted.")
        raise typer.Exit(INTERRUPTED_EXIT_CODE) from None


def _fail(message: str) -> NoReturn:
    err.print(f"Error: {message}", style="red", soft_wrap=True)
    raise typer.Exit(1)


def main() -> None:
    """Run the command line."""
    app(prog_name="golem")


if __name__ == "__main__":
    main()
