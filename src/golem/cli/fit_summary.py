"""The text that a fit prints: its edges, the bootstrap, the noise model, the score, the findings, and ranked tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from golem.cli.terminal import edge_table, name_cell, out, print_files, print_table
from golem.runtime.dialects import SHELL
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import told

if TYPE_CHECKING:
    from rich.table import Table

    from golem.assessment.bootstrap_result import Bootstrap
    from golem.assessment.diagnostics import Diagnosis
    from golem.assessment.selection import Selection
    from golem.estimator.golem import Golem
    from golem.graphs.graph_document import EnvironmentRecord, GraphDocument
    from golem.graphs.named_graph import EdgeRow
    from golem.output.document import Supplement
    from golem.workflow import FitResult


# With fewer replicates, even the smallest and the largest value are not bounds of a 95 % interval.
_FEW_REPLICATES = 39
_MOST_FINDINGS = 5
_MOST_EDGES = 50
_DIRECTION_MEANINGS = {
    "undecided": ("has no evidence", "have no evidence"),
    "by variance": (
        "depends only on the noise variances, and so on the units of the columns",
        "depend only on the noise variances, and so on the units of the columns",
    ),
    "by shape": (
        "is based on the shape of the noise; Gaussian noise would give such evidence in at most 1% of components",
        "are based on the shape of the noise; Gaussian noise would give such evidence in at most 1% of components",
    ),
    "given by you": ("was given by you", "were given by you"),
    "follows from what you gave": ("follows from what you gave", "follow from what you gave"),
    "by intervention": ("is decided by experiments", "are decided by experiments"),
}
_MOST_ENVIRONMENTS = 12
_MOST_EXPERIMENTS = 5


def print_fit(result: FitResult) -> None:
    """Print the path of penalties, the summary, the certificate, the comparison with an earlier run, the findings."""
    if result.selection is not None:
        _print_path(result.selection)
    print_summary(result.model, result.supplement, result.document)
    proof = result.certificate
    if proof is not None:
        out.print(
            f"Certificate: minimizing the paper's score (l1 and DAG penalties) from this graph gives "
            f"{proof.score:.6g}; the optimality conditions hold to within {proof.stationarity:.1e}.",
        )
    if result.repeat is not None:
        out.print(told(result.repeat.sentence, SHELL))
    _print_next_experiment(result.document)
    print_findings(result.diagnosis)
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


def print_json(document: GraphDocument, more: dict[str, Any]) -> None:
    """Print a document as one line of JSON, without its long lists except for the edges."""
    about = document.plain()
    for key in ("names", "weighted", "noise_variances", "intercepts", "raw_weights", "trace"):
        del about[key]
    for key in ("data", "bootstrap", "diagnostics"):
        if about[key] is None:
            del about[key]
    print(json.dumps(about | {"edge_list": about.pop("edge_table")} | more, allow_nan=False))  # noqa: T201


def print_summary(model: Golem, supplement: Supplement, document: GraphDocument) -> None:
    """Print the edges, the bootstrap, the noise model, and how the solve ended."""
    import msgspec

    from golem.graphs.named_graph import EdgeRow
    from golem.output.document import note_on_weights

    found = msgspec.convert(document.edge_table, list[EdgeRow])
    out.print(f"{counted(len(found), 'edge')} among {document.d} variables, from {document.rows} rows")
    if document.missing is not None:
        out.print(document.missing["sentence"])
    if document.environments:
        _print_environments(document.environments)
    if document.knowledge:
        out.print(_knowledge_sentence(document.knowledge))
    if found:
        _print_edges(found, supplement.bootstrap)
        if note := note_on_weights(document):
            out.print(note)
    out.print()
    if supplement.bootstrap is not None:
        _print_bootstrap(supplement.bootstrap, has_intervals=any(edge.weight is not None for edge in found))
        if document.confidence_overstated:
            out.print(
                f"Rows depend on each other: the {document.rows} rows may carry as little information as "
                f"{document.effective_rows} independent ones. The frequencies are too high and the intervals too "
                "narrow.\n",
                soft_wrap=True,
            )
    if found:
        _print_r2(document.names, document.r2 or [], "" if document.variables is None else "numeric ")
        _print_noise_choice(model)
    if document.cut_edges:
        out.print(f"{counted(document.cut_edges, 'edge')} removed to break cycles.")
    _print_score(model, document.objective or {}, document.bic)
    step = "perturbed order" if model.solver == "order" else "iteration"
    steps = f" {counted(document.iterations, step)}," if document.iterations else ""
    out.print(f"{model.solution_.status.value}{steps} {model.solution_.seconds:.1f} s")


def _print_edges(found: list[EdgeRow], bootstrap: Bootstrap | None) -> None:
    """Print the table of edges."""
    from golem.cli.terminal import width_of
    from golem.output.edge_list import DIRECTIONS

    words = [DIRECTIONS.get(edge.direction_from or "", "") for edge in found]
    headings, cells = _edge_columns(found, bootstrap)
    shown = found[: out.most(_MOST_EDGES)]
    table, narrow = edge_table(*headings), edge_table(*headings)
    table.add_column("direction" if any(words) else "")
    for edge, word in zip(shown, words, strict=False):
        basis = "by structure" if any(words) and edge.direction_from == "structure" else word
        table.add_row(name_cell(edge.source), "->", name_cell(edge.target), *cells(edge), basis)
        arrow = "--" if edge.undecided else "->"
        narrow.add_row(name_cell(edge.source), arrow, name_cell(edge.target), *cells(edge))
    is_narrow = out.is_terminal and width_of(table) > out.width
    print_table(narrow if is_narrow else table)
    if len(found) > len(shown):
        out.print(f"... and {len(found) - len(shown)} more in edges.csv")
    has_categories = found[0].edge_strength is not None
    if bootstrap is not None and "strength" not in headings:
        out.print(f"sorted by {'strength' if has_categories else 'standardized weight'}, which is in edges.csv")
    if bootstrap is None and any(edge.standard_error is not None for edge in found):
        out.print("std. error: standard error of the weight, assuming the graph is right and the rows are independent")
        if "standardized" in headings:
            out.print("standardized: weight in standard deviations of both columns")
    if has_categories:
        out.print("strength: how much worse the fit (deviance) gets without the edge")
        if "loss" in headings:
            out.print("loss: the same for the score, which includes the penalty; near 0, the edge was barely kept")
        out.print("Edges with a category have no weight; their coefficients per level are in coefficients.csv.")
    total = counted(len(found), "direction")
    for word, (one, many) in _DIRECTION_MEANINGS.items():
        if count := words.count(word):
            mark = "-- (undecided)" if is_narrow and word == "undecided" else word
            out.print(f"{mark}: {count} of {total} {one if count == 1 else many}")
    if count := sum(edge.direction_from == "structure" for edge in found):
        same = f"{'is' if count == 1 else 'are'} the same in all graphs of the equivalence class"
        out.print(f"by structure: {count} of {total} {same}")
    if is_narrow and any(words):
        out.print("edges.csv says what each direction is based on")


def _print_r2(names: list[str], r2: list[float | None], kind: str) -> None:
    """Print how much of the variables of a kind their parents explain; a category has no R2."""
    known = sorted((value, name) for name, value in zip(names, r2, strict=True) if value)
    if known:
        middle, (highest, best) = median(value for value, _ in known), known[-1]
        if len(known) == 1:
            out.print(f"R2 of {best!r} (variance explained by its parents): {highest:.2f}")
            return
        few = f"{len(known)} {kind}variables with parents"
        out.print(
            f"R2 (variance explained by the parents): median {middle:.2f} of {few}, highest {highest:.2f} ({best!r})"
        )


def _knowledge_sentence(knowledge: dict[str, list[list[str]]]) -> str:
    """Return the knowledge that the fit obeyed, in one line."""
    parts = []
    for key in ("required", "forbidden"):
        edges = [f"{cause!r} -> {effect!r}" for cause, effect in knowledge.get(key) or []]
        if edges:
            parts.append(f"{key} {shortened(edges, 3)}")
    if tiers := knowledge.get("tiers"):
        parts += [f"tier {number}: {shortened(tier, 3)}" for number, tier in enumerate(tiers, start=1)]
    return f"Knowledge used: {'; '.join(parts)}"


def _print_bootstrap(bootstrap: Bootstrap, has_intervals: bool) -> None:
    """Explain the columns of the bootstrap."""
    from golem.assessment.bootstrap_result import HALVES

    drawn = "random halves of the rows" if bootstrap.unit == "halves" else f"resampled {bootstrap.unit}"
    interval = f"  interval   middle {bootstrap.level:.0%} of the weights (0 if a graph lacks or reverses the edge)"
    wanted = f" (of {bootstrap.requested} requested)" if bootstrap.interrupted else ""
    em = ", with EM on each resample" if bootstrap.em else ""
    few = " This is too few for reliable numbers; use 100." if bootstrap.replicates < _FEW_REPLICATES else ""
    consensus = counted(int(bootstrap.consensus.sum()), "edge")
    half = f" {HALVES}" if bootstrap.unit == "halves" else ""
    for line in (
        f"Bootstrap: {bootstrap.replicates} graphs{wanted} learned from {drawn}{em}.{half}{few}",
        *([interval] if has_intervals else []),
        "  connected  share of the graphs that connect the two variables",
        "  directed   share of the graphs with this direction (undecided edges count half)",
        f"The consensus (pairs that most of these graphs connect) has {consensus}; see graph.json.",
        "These numbers measure stability. They cannot reveal errors that all the graphs share, e.g. from hidden common "
        "causes.\n",
    ):
        out.print(line)


def _print_noise_choice(model: Golem) -> None:
    """Print which noise variances were chosen, and why."""
    if model.graph_.shape_note:
        out.print(model.graph_.shape_note)
    if model.noise_choice_ is not None:
        out.print(model.noise_choice_.reason)


def _print_score(model: Golem, terms: dict[str, float | None], bic: float | None) -> None:
    """Print the score with its terms, and the BIC as `golem compare` prints it."""
    if model.score_ != "gaussian":
        from golem.output.document import SCORE_WORDS

        out.print(f"Score per row {_number(terms['score'])} (lower is better): {SCORE_WORDS[model.score_]}")
        return
    cycles = "" if terms["dag"] == 0 else f" + penalty on cycles {_number(terms['dag'])}"
    out.print(
        f"Score per row {_number(terms['score'])} = likelihood term {_number(terms['likelihood'])} + penalty on edges "
        f"{_number(terms['sparsity'])}{cycles} (lower is better)",
    )
    if bic is not None:
        out.print(
            f"BIC {bic:.1f} (least-squares weights, free noise variances; comparable across methods, but not after a "
            "change of the rows or a transformation of columns)"
        )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.5g}"


def print_findings(diagnosis: Diagnosis | None) -> None:
    """Print the most important findings with their remedies."""
    if diagnosis is None:
        return
    # The fit has already warned of few rows.
    found = [finding for finding in diagnosis.at("warning", "note") if finding.name != "rows"]
    out.print()
    shown = found[: out.most(_MOST_FINDINGS)]
    for finding in shown:
        style = "yellow" if finding.level == "warning" else None
        out.print(f"{finding.level.title()}: {finding}", style=style)
    if len(found) > len(shown):
        out.print(f"{counted(len(found) - len(shown), 'more finding')} in report.html")


def print_saved(output: Path, more: Sequence[str] = ()) -> None:
    """Print where the results of a fit are."""
    written = [
        name
        for name in ("graph.json", "edges.csv", "weights.csv", "coefficients.csv", "graph.png")
        if (output / name).exists()
    ]
    print_files(output, [*written, *more])


def _edge_columns(
    found: list[EdgeRow], bootstrap: Bootstrap | None
) -> tuple[tuple[str, ...], Callable[[EdgeRow], tuple[str, ...]]]:
    """Return the headings of the numbers in the table of edges, and a function that returns the numbers of an edge."""
    texts: dict[str, Callable[[EdgeRow], str]] = {}
    have_weights = any(edge.weight is not None for edge in found)
    have_strengths = any(edge.edge_strength is not None for edge in found)
    # A narrow terminal has no room for all columns; edges.csv has them.
    if have_strengths and not (have_weights and bootstrap is not None):
        texts["strength"] = lambda edge: _written(edge.edge_strength, "#.3g")
        texts["loss"] = lambda edge: _written(edge.drop_loss, "#.3g")
    if have_weights:
        texts["weight"] = lambda edge: _written(edge.weight, "+#.3g")
        if bootstrap is not None:
            texts[f"{bootstrap.level:.0%} interval"] = lambda edge: (
                "" if edge.weight_low is None else f"({_signed(edge.weight_low)}, {_signed(edge.weight_high)})"
            )
        else:
            texts["std. error"] = lambda edge: _written(edge.standard_error, "#.2g")
    if bootstrap is not None:
        texts["connected"] = lambda edge: _written(edge.adjacency_frequency, ".0%")
        texts["directed"] = lambda edge: _written(edge.direction_frequency, ".0%")
    elif not have_strengths:
        texts["standardized"] = lambda edge: _written(edge.standardized_weight, "+.2f")
    return tuple(texts), lambda edge: tuple(text(edge) for text in texts.values())


def _signed(value: float | None) -> str:
    """Return a number with its sign; 0 has none."""
    return _written(value, "+#.3g") if value else "0"


def _written(value: float | None, format: str) -> str:
    """Return a number as text, with its trailing zeros (#); empty if there is none."""
    return "" if value is None else f"{value:{format}}".removesuffix(".")


def _print_environments(environments: Sequence[EnvironmentRecord]) -> None:
    """Print the rows and targets of each environment."""
    out.print(f"{counted(len(environments), 'environment')}:")
    shown = environments[: out.most(_MOST_ENVIRONMENTS)]
    for one in shown:
        targets = f"changes {quoted(one.targets)}" if one.targets else "observational"
        out.print(f"  {one.label!r}: {counted(one.rows, 'row')}, {targets}", soft_wrap=True)
    if len(environments) > len(shown):
        out.print(f"  ... and {len(environments) - len(shown)} more in graph.json")


def _print_path(selection: Selection) -> None:
    """Print the path of penalties as a table, and the choice."""
    score, rule = {
        "bic": ("criterion", "the information criterion (lowest)"),
        "cv": ("log-likelihood", "held-out log-likelihood (sparsest graph within one standard error of the best)"),
        "stability": ("agreement", "agreement between halves of the rows (sparsest graph close to the best)"),
    }[selection.method]
    words = {"edge_penalty": "penalty per edge (deviance)", "expected_false": "expected false edges", "score": score}
    words["standard_error"] = "std. error of difference from best"
    out.print(f"Penalty chosen by {rule}")
    hidden = {"chosen"} | ({"lambda_sparsity"} if "edge_penalty" in selection.path[0] else set())
    columns = [name for name in selection.path[0] if name not in hidden]
    table = _plain_table(*(words.get(name, name.replace("_", " ")) for name in columns))
    table.add_column("")
    for row in selection.path:
        table.add_row(*(_setting(row[name]) for name in columns), "<- chosen" if row["chosen"] else "")
    print_table(table)
    options = " ".join(f"--{name.replace('_', '-')} {_setting(value)}" for name, value in selection.chosen.items())
    unit = " (penalty per edge / 2n, for n rows)" if "lambda_sparsity" in hidden else ""
    out.print(f"To repeat this choice: {options}{unit}")
    if selection.note:
        out.print(f"Note: {told(selection.note, SHELL)}")
    out.print()


def _print_next_experiment(document: GraphDocument) -> None:
    """Print which interventions would decide most of the undecided directions."""
    ranking = document.next_experiment or []
    if not ranking:
        return
    shown = ranking[: out.most(_MOST_EXPERIMENTS)]
    out.print(
        "\nHow many undecided directions would an experiment decide? One row per variable you could intervene on: the "
        "average and the minimum over the graphs that fit equally well.",
        soft_wrap=True,
    )
    table = _plain_table("average", "minimum", first="variable")
    for row in shown:
        table.add_row(name_cell(row.variable), f"{row.decided:.1f}", str(row.least))
    print_table(table)


def _plain_table(*headings: str, first: str | None = None) -> Table:
    """Return a table of numbers without lines; with a column of names if `first` is its heading."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    if first is not None:
        table.add_column(first, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _setting(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
