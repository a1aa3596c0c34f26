"""What a fit prints with --verbose: weights, bootstrap, noise model, score, findings and ranked tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from golem.cli.terminal import edge_table, name_cell, out, print_table
from golem.runtime.dialects import SHELL
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import told

if TYPE_CHECKING:
    from rich.table import Table

    from golem.assessment.bootstrap_result import Bootstrap
    from golem.assessment.selection import Selection
    from golem.estimator.golem import Golem
    from golem.graphs.graph_document import EnvironmentRecord, GraphDocument
    from golem.graphs.named_graph import EdgeRow
    from golem.output.document import Supplement


# With fewer replicates, even the smallest and the largest value are not bounds of a 95 % interval.
_FEW_REPLICATES = 39
_MOST_EDGES = 50
_MOST_ENVIRONMENTS = 12
_MOST_EXPERIMENTS = 5


def print_details(model: Golem, supplement: Supplement, document: GraphDocument) -> None:
    """Print all that the screen of a fit leaves out."""
    from golem.output.document import note_on_weights
    from golem.output.edge_list import edges_of_open_sign

    found, selection = document.edge_rows(), getattr(model, "selection_", None)
    if selection is not None:
        _print_path(selection)
    if document.missing is not None:
        out.print(document.missing["sentence"])
    for column in document.left_out or ():
        out.print(f"Left out: {column.name!r} ({column.reason})")
    if document.environments:
        _print_environments(document.environments)
    if document.knowledge:
        out.print(_knowledge_sentence(document.knowledge))
    if found:
        _print_edges(found, supplement.bootstrap, edges_of_open_sign(document))
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
            )
    if found:
        _print_r2(document.names, document.r2 or [], "" if document.variables is None else "numeric ")
        notes = model.table_.robust_note, model.graph_.shape_note
        for reason in (*notes, None if model.noise_choice_ is None else model.noise_choice_.reason):
            if reason:
                out.print(reason)
    if document.cut_edges:
        out.print(f"{counted(document.cut_edges, 'edge')} removed to break cycles.")
    _print_score(model, document.objective or {}, document.bic)
    step = "perturbed order" if model.solver == "order" else "iteration"
    steps = f" {counted(document.iterations, step)}," if document.iterations else ""
    out.print(f"{model.solution_.status.value}{steps} {model.solution_.seconds:.1f} s")
    _print_next_experiment(document)
    if supplement.diagnosis is not None:
        out.print()
        for finding in supplement.diagnosis.at("warning", "note"):
            style = "yellow" if finding.level == "warning" else None
            out.print(f"{finding.level.title()}: {finding}", style=style)


def _print_edges(found: list[EdgeRow], bootstrap: Bootstrap | None, open_signs: set[tuple[str, str]]) -> None:
    """Print the table of edges with their numbers."""
    headings, cells = _edge_columns(found, bootstrap, open_signs)
    shown = found[: out.most(_MOST_EDGES)]
    table = edge_table(*headings)
    for edge in shown:
        mark = "-->" if edge.directed else "---"
        table.add_row(name_cell(edge.source), mark, name_cell(edge.target), *cells(edge))
    print_table(table)
    if len(found) > len(shown):
        out.print(f"... and {len(found) - len(shown)} more in edges.csv")
    if not all(edge.directed for edge in found):
        out.print("A link (---) has no weight: it would depend on the direction.")
    if bootstrap is None and any(edge.standard_error is not None for edge in found):
        out.print("std. error: of the weight, assuming the graph is right and the rows are independent")
        if "standardized" in headings:
            out.print("standardized: weight in standard deviations of both columns")
    if found[0].edge_strength is not None:
        out.print("strength: how much worse the fit (deviance) gets without the edge")
        if "loss" in headings:
            out.print("loss: the same for the score, which includes the penalty; near 0, the edge was barely kept")
        out.print("Edges with a category have no weight; their coefficients per level are in coefficients.csv.")


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
        "  directed   share of the graphs with this direction (links count half)",
        f"The consensus (pairs that most of these graphs connect) has {consensus}; see graph.json.",
        "These numbers measure stability. They cannot reveal errors that all the graphs share, e.g. from hidden common "
        "causes.\n",
    ):
        out.print(line)


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


def _edge_columns(
    found: list[EdgeRow], bootstrap: Bootstrap | None, open_signs: set[tuple[str, str]]
) -> tuple[tuple[str, ...], Callable[[EdgeRow], tuple[str, ...]]]:
    """Return the headings of the numbers in the table of edges, and a function that returns the numbers of an edge."""
    from golem.output.edge_list import strength_text

    texts: dict[str, Callable[[EdgeRow], str]] = {}
    have_weights = any(edge.weight is not None for edge in found)
    have_strengths = any(edge.edge_strength is not None for edge in found)
    # A narrow terminal has no room for all columns; edges.csv has them.
    if have_strengths and not (have_weights and bootstrap is not None):
        texts["strength"] = lambda edge: _written(edge.edge_strength, "#.3g")
        texts["loss"] = lambda edge: _written(edge.drop_loss, "#.3g")
    if have_weights:
        texts["weight"] = lambda edge: _written(edge.weight if edge.directed else None, "+#.3g")
        if bootstrap is not None:
            texts[f"{bootstrap.level:.0%} interval"] = lambda edge: (
                ""
                if edge.weight_low is None or not edge.directed
                else f"({_signed(edge.weight_low)}, {_signed(edge.weight_high)})"
            )
        else:
            texts["std. error"] = lambda edge: _written(edge.standard_error if edge.directed else None, "#.2g")
    if bootstrap is not None:
        texts["connected"] = lambda edge: _written(edge.adjacency_frequency, ".0%")
        texts["directed"] = lambda edge: _written(edge.direction_frequency if edge.directed else None, ".0%")
    elif not have_strengths:
        texts["standardized"] = lambda edge: strength_text(edge, open_signs)
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
        out.print(f"  {one.label!r}: {counted(one.rows, 'row')}, {targets}")
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
    """Print which interventions would settle most of the open directions."""
    ranking = document.next_experiment or []
    if not ranking:
        return
    shown = ranking[: out.most(_MOST_EXPERIMENTS)]
    out.print(
        "\nHow many open directions would an experiment settle? One row per variable you could intervene on: the "
        "average and the minimum over the graphs that fit equally well."
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
