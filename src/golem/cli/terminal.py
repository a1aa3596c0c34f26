"""What the command line prints: warnings, summaries and tables."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from golem.runtime.messages import counted
from golem.score.likelihood import GaussianNV

if TYPE_CHECKING:
    from golem.assessment.bootstrap import Bootstrap
    from golem.assessment.diagnostics import Diagnosis
    from golem.assessment.selection import Selection
    from golem.comparison.result import Comparison
    from golem.estimator.golem import Golem
    from golem.graphs.graph_document import GraphDocument
    from golem.graphs.metrics import GraphScores
    from golem.output.document import Edge, Supplement
    from golem.workflow import FitResult

# No markup: column names are other people's text, and "[red]" is a name like any other.
out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)
# Evidence below this, in units of the deviance, is not strong.
CLOSE_CALL = 10.0
# Replicates below which shares and intervals are too coarse to be read.
_FEW = 20
# Edges of a comparison that are printed; agreement.csv has all.
_MOST_EDGES = 30


@contextlib.contextmanager
def telling_warnings(quiet: bool) -> Iterator[None]:
    """Print warnings as sentences when they come, or nothing."""

    def tell(message: Warning | str, *about: Any) -> None:
        if not quiet:
            err.print(f"Warning: {message}", style="yellow", soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = tell  # type: ignore[assignment]
        yield


def print_summary(model: Golem, supplement: Supplement, document: GraphDocument) -> None:
    """Print the edges, how often they came back, what they rest on, and how the solve went."""
    from rich.table import Table
    from rich.text import Text

    from golem.output.document import Edge

    bootstrap = supplement.bootstrap
    about = document.plain()
    found = [Edge(**row) for row in about["edge_table"]]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("edge", "", ""):
        table.add_column(heading, overflow="fold")
    table.add_column("weight", justify="right")
    # No room for both in a narrow terminal; the standardized weights are in edges.csv.
    for heading in ("standardized",) if bootstrap is None else ("interval", "joined", "directed"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("direction" if any(edge.undecided or edge.by_variance for edge in found) else "")
    listed = found[:50]
    for edge in listed:
        note = "undecided" if edge.undecided else "by variance" if edge.by_variance else ""
        numbers = (f"{edge.standardized_weight:+.2f}",) if bootstrap is None else _confidence(edge)
        table.add_row(Text(edge.source), "->", Text(edge.target), f"{edge.weight:+.3g}", *numbers, note)
    missing = model.missing_
    # EM counts as fewer rows than it has read.
    rows = about["n"] if missing is None or missing.method == "drop" else missing.rows_read
    out.print(f"{counted(about['edges'], 'edge')} among {about['d']} variables, from {rows} rows")
    if missing is not None:
        out.print(missing.sentence, soft_wrap=True)
    if listed:
        out.print(table)
    if len(found) > len(listed):
        out.print(f"... and {len(found) - len(listed)} more in edges.csv")
    out.print()
    if bootstrap is not None:
        _print_bootstrap(bootstrap)
    choice = model.noise_choice_
    if choice is not None and found:
        ahead = {kind: score - choice.scores[choice.kind] for kind, score in choice.scores.items()}
        others = ", ".join(f"{kind} +{more:.0f}" for kind, more in ahead.items() if kind != choice.kind)
        close = " It is a close call: compare --noise ev and nv." if choice.margin < CLOSE_CALL else ""
        out.print(f"{choice.reason} (Deviance of the alternatives: {others}.){close}", soft_wrap=True)
    if supplement.diagnosis is None:
        _print_open_directions(model, about)
    if about["cut_edges"]:
        out.print(f"Removed because they closed cycles: {counted(about['cut_edges'], 'edge')}.")
    terms = about["objective"]
    out.print(
        f"Score {shown(terms['score'])} = likelihood {shown(terms['likelihood'])} + sparsity "
        f"{shown(terms['sparsity'])} + dag {shown(terms['dag'])}; h {shown(terms['h'])}; BIC {shown(about['bic'])}",
        soft_wrap=True,
    )
    step = "perturbation" if model.solver == "order" else "iteration"
    steps = f" {counted(about['iterations'], step)}," if about["iterations"] else ""
    out.print(f"{about['status']['message']}{steps} {about['seconds']:.1f} s", soft_wrap=True)
    if supplement.diagnosis is not None:
        _print_diagnosis(supplement.diagnosis)


def _print_diagnosis(diagnosis: Diagnosis) -> None:
    """Print a line for every finding that is not fine, warnings first."""
    out.print()
    for finding in diagnosis.at("warning"):
        # The fit has warned of few rows already.
        if finding.name != "rows":
            out.print(f"Warning: {finding}", style="yellow", soft_wrap=True)
    for finding in diagnosis.at("note"):
        out.print(f"Note: {finding}", soft_wrap=True)


def _print_open_directions(model: Golem, about: dict[str, Any]) -> None:
    """Print how many directions rest on the noise variances, and how many on nothing."""
    if about["by_variance"]:
        out.print(
            f"{about['by_variance']} of {about['edges']} directions rest on the noise variances alone, and so on the "
            "units of the columns; --noise nv leaves them open.",
            soft_wrap=True,
        )
    if about["undecided"]:
        tie_break = " The arrows shown are a tie-break: equal noise variances would prefer them."
        broken = isinstance(model.likelihood_, GaussianNV) and model.solver == "order"
        out.print(
            f"The data cannot decide the direction of {about['undecided']} of {about['edges']} edges: graphs with some "
            f"of these reversed fit as well.{tie_break if broken else ''}",
            soft_wrap=True,
        )


def _confidence(edge: Edge) -> tuple[str, ...]:
    """Write what a bootstrap says of an edge."""
    return (
        f"({edge.weight_low:+.3g}, {edge.weight_high:+.3g})",
        f"{edge.adjacency_frequency:.0%}",
        f"{edge.direction_frequency:.0%}",
    )


def _print_bootstrap(bootstrap: Bootstrap) -> None:
    """Say what the frequencies are, and what they are not."""
    wanted = f" (of {bootstrap.requested} wanted)" if bootstrap.interrupted else ""
    em = ", with EM on each resample" if bootstrap.em else ""
    consensus = counted(int(bootstrap.consensus.sum()), "edge")
    few = " So few graphs tell little about shares and intervals; 100 are usual." if bootstrap.replicates < _FEW else ""
    out.print(
        f"Bootstrap: {bootstrap.replicates} graphs{wanted} were learned from resampled {bootstrap.unit}{em}. `joined` "
        "is the share of them that joins the two variables, `directed` the share with this direction, undecided ones "
        f"counted half; the interval has the middle {bootstrap.level:.0%} of the weights, 0 where there is no such "
        "edge. They tell how stable an edge is under sampling, not what every graph misses alike, such as hidden "
        f"common causes. The consensus of the graphs, in graph.json, has {consensus}.{few}",
        soft_wrap=True,
    )


def print_comparison(comparison: Comparison) -> None:
    """Print the table of a comparison, what was warned of, and where the methods agree."""
    from rich.table import Table
    from rich.text import Text

    out.print(str(comparison), soft_wrap=True)
    for warning, methods in comparison.warnings.items():
        source = f" ({', '.join(methods)})" if methods else ""
        out.print(f"Warning{source}: {warning}", style="yellow", soft_wrap=True)
    found = comparison.agreement()
    learned = list(comparison.estimates)
    if len(learned) < 2 or not found:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("edge", "", "", f"of {len(learned)} methods", "directed otherwise"):
        table.add_column(heading, overflow="fold")
    for edge in found[:_MOST_EDGES]:
        others = [f"{edge[name]} {name}" for name in learned if edge[name] in ("<-", "--")]
        table.add_row(Text(edge["source"]), "->", Text(edge["target"]), str(edge["methods"]), ", ".join(others))
    out.print("\nWhere they agree:")
    out.print(table)
    if len(found) > _MOST_EDGES:
        out.print(f"... and {len(found) - _MOST_EDGES} more edges in agreement.csv")


def print_consensus(scores: GraphScores, truth: Any, model: Golem) -> None:
    """Print how the demo's graph compares with the reference."""
    found = model.adjacency_
    adjacent = int((found & (truth | truth.T)).sum())
    decided = found & ~model.undecided_
    right, turned = int((truth & decided).sum()), int((truth.T & decided).sum())
    out.print(
        f"\nAgainst the consensus of {int(truth.sum())} edges: {adjacent} of the {scores.edges} edges found join pairs "
        f"that it joins ({right} directed alike, {turned} opposite, {adjacent - right - turned} undecided), "
        f"{scores.edges - adjacent} do not, and {int(truth.sum()) - adjacent} are missing. Taken as drawn: SHD "
        f"{scores.shd:.0f}, SHD-C {scores.shd_c:.0f}, SID {scores.sid:.0f} (the empty graph: SHD {int(truth.sum())}).",
        soft_wrap=True,
    )


def print_saved(output: Path, more: Sequence[str] = ()) -> None:
    """Print where the results are."""
    files = ", ".join(("graph.json", "edges.csv", "weights.csv", "graph.png", *more))
    out.print(f"\nSaved {output}/{files}", soft_wrap=True)
    out.print(f"Open the report in a browser: {output / 'report.html'}", soft_wrap=True)


def print_fit(result: FitResult) -> None:
    """Print everything about a fit: the path, the summary, the certificate, the comparison with an earlier run."""
    if result.selection is not None:
        print_path(result.selection)
    print_summary(result.model, result.supplement, result.document)
    proof = result.certificate
    if proof is not None:
        out.print(
            f"Certificate: from here the paper's score (l1 and DAG penalties) descends to {proof.score:.6g}, where "
            f"its optimality conditions hold to {proof.stationarity:.1e}.",
            soft_wrap=True,
        )
    if result.repeat is not None:
        out.print(result.repeat.sentence, soft_wrap=True)
    print_saved(result.output, () if result.selection is None else ("path.csv", "path.png"))


def print_fit_json(result: FitResult) -> None:
    """Print a fit as one line of JSON."""
    more: dict[str, Any] = {}
    if result.certificate is not None:
        numbers = ("score", "stationarity", "start_score")
        more["certificate"] = {name: getattr(result.certificate, name) for name in numbers}
    if result.repeat is not None:
        more["repeat"] = vars(result.repeat)
    print_json(result.document, more)


def print_path(selection: Selection) -> None:
    """Print the path of settings as a short table, and the choice."""
    from rich.table import Table

    words = {
        "bic": "an information criterion (the lowest)",
        "cv": "held-out likelihood (the fewest edges within a standard error of the highest)",
        "stability": "agreement of halves of the rows with all of them (the fewest edges near the highest)",
    }
    out.print(f"The settings were chosen by {words[selection.method]}:")
    table = Table(box=None, pad_edge=False, header_style="bold")
    headings = [
        name
        for name in selection.path[0]
        if name not in ("chosen", "lambda_sparsity" if "edge_penalty" in selection.path[0] else "")
    ]
    for name in headings:
        table.add_column(name.replace("_", " "), justify="right")
    table.add_column("")
    for row in selection.path:
        cells = [f"{row[name]:.6g}" if isinstance(row[name], float) else str(row[name]) for name in headings]
        table.add_row(*cells, "<- chosen" if row["chosen"] else "")
    out.print(table)
    chosen = ", ".join(
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in selection.chosen.items()
    )
    out.print(f"Chosen: {chosen}", soft_wrap=True)
    if "edge_penalty" in selection.path[0]:
        lam = selection.chosen["lambda_sparsity"]
        out.print(
            f"The penalty per edge is 2 n lambda_sparsity; --lambda-sparsity {lam:.6g} repeats this choice.",
            soft_wrap=True,
        )
    out.print()


def print_json(document: GraphDocument, more: dict[str, Any]) -> None:
    """Print what a document tells, without its long lists but the edges, as one line of JSON."""
    about = document.plain()
    for key in ("names", "weighted", "noise_variances", "intercepts", "raw_weights", "trace"):
        del about[key]
    for key in ("data", "bootstrap", "diagnostics"):
        if about[key] is None:
            del about[key]
    print(json.dumps(about | {"edge_list": about.pop("edge_table")} | more, allow_nan=False))  # noqa: T201


def shown(value: float | None) -> str:
    """Write a number, or that there is none."""
    return "undefined" if value is None else f"{value:.5g}"
