"""Figures of fitted models, with matplotlib."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.assessment.p_values import p_text
from golem.directions.effect_ranges import open_signs
from golem.graphs.named_graph import LINK_SOURCES
from golem.output.edge_list import edge_counts, fit_of
from golem.output.layout import causal_order, edge_curves, layered_layout
from golem.runtime.files import replacing
from golem.runtime.messages import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from golem.assessment.consistency import Consistency
    from golem.assessment.selection import Selection
    from golem.directions.learned_graph import LearnedGraph
    from golem.estimator.fit import Fit
    from golem.estimator.golem import Golem
    from golem.runtime.types import Vector

# Blue and orange are safe for colour blindness, and differ in lightness in grey print.
POSITIVE, NEGATIVE = "#2166ac", "#d6701c"
NODE_FILL, NODE_EDGE, TEXT = "#f4f1ea", "#5b5b5b", "#1d1d1d"
LARGEST_DRAWN_GRAPH, MOST_DRAWN_EDGES = 60, 500
# The p-values of a check that get a label, and the smallest that is drawn.
_MOST_LABELS, _LEAST_P = 4, 1e-15
LARGEST_HEAT_MAP = 500


def plot_model(model: Golem, ax: Axes | Figure | None = None) -> Axes:
    """Draw the graph, or its weights as a heat map if it has too many nodes or edges.

    Here and in the other functions `ax` is the axes to draw into, or an empty figure, which gets axes and a suitable
    size; by default pyplot makes a new figure.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from golem import Golem
    >>> from golem.plots import plot_model
    >>> from golem.simulate import simulate
    >>> model = Golem().fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> plot_model(model, Figure()).get_title().endswith("among 4 variables")
    True
    """
    edges = fit_of(model).graph
    small = edges.d <= LARGEST_DRAWN_GRAPH and len(edges) <= MOST_DRAWN_EDGES
    return plot_graph(model, ax=ax) if small else plot_weights(model, ax=ax)


def plot_graph(model: Golem, ax: Axes | Figure | None = None, title: str | None = None) -> Axes:
    """Draw the learned graph in layers, causes above effects.

    An arrow has a direction that was given or has evidence; a link, whose direction is open, is a line. The width
    shows the size of the standardized weight, the colour its sign; grey if the sign depends on open directions. In a
    table with categories, the width shows the edge strength, categories have square boxes, and their edges are grey.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from golem import Golem
    >>> from golem.plots import plot_graph
    >>> from golem.simulate import simulate
    >>> model = Golem().fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> plot_graph(model, Figure()).get_title().endswith("among 4 variables")
    True
    """
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    fit = fit_of(model)
    graph, names = fit.graph, fit.table.names
    adjacency, weights, sizes = graph.matrix(), graph.matrix(graph.weights), graph.matrix(_sizes(fit))
    # In points; a letter is about six wide.
    widths = [max(34.0, 6.3 * len(name) + 14) for name in names]
    layout = layered_layout(adjacency, widths, gap=18, layer_height=74)
    # A small graph keeps its scale: stretched to the smallest figure, its arrows would not touch their boxes.
    room = np.maximum(layout.size, (302, 151))
    ax = _axes(ax, (room[0] / 72 + 0.4, room[1] / 72 + 0.9))
    largest = max(float(sizes.max(initial=0)), 1e-300)
    squares = [variable.is_category for variable in fit.table.coding.variables]
    links = _links(graph)
    undecided = np.array([pair in links for pair in graph.pairs()], dtype=bool)
    signless = open_signs(graph, undecided, graph.weights, graph.residual_variances)
    open_pairs = {pair for pair, is_open in zip(graph.pairs(), signless, strict=True) if is_open}

    for (x, y), name, square in zip(layout.positions, names, squares, strict=True):
        box = f"{'square' if square else 'round'},pad=0.35"
        ax.text(
            x, -y, name, parse_math=False, ha="center", va="center", color=TEXT, fontsize=10, zorder=3,
            bbox={"boxstyle": box, "facecolor": NODE_FILL, "edgecolor": NODE_EDGE},
        )  # fmt: skip
    for (i, j), points in edge_curves(layout, widths, adjacency, node_height=18).items():
        curve = Curve(points * [1, -1], [Curve.MOVETO] + [Curve.CURVE4] * (len(points) - 1))
        sign = np.nan if (i, j) in open_pairs else weights[i, j]
        color = POSITIVE if sign >= 0 else NEGATIVE if sign < 0 else NODE_EDGE
        width = 0.8 + 2.6 * sizes[i, j] / largest
        ax.add_patch(
            FancyArrowPatch(
                path=curve, arrowstyle="-" if (i, j) in links else "-|>", mutation_scale=11, linewidth=width,
                color=color, alpha=0.9, zorder=2, capstyle="butt", joinstyle="miter",
            )
        )  # fmt: skip
    _explain_lines(ax, squares, len(links), len(graph), has_open_signs=bool(open_pairs))
    ax.set_title(title or _headline(graph), color=TEXT, fontsize=11)
    (left, top), (width, height) = (room - layout.size) / 2, layout.size
    ax.set_xlim(-left, width + left)
    ax.set_ylim(-height - top, top)
    ax.axis("off")
    return ax


def _links(graph: LearnedGraph) -> set[tuple[int, int]]:
    """Return the edges without a direction; those of a graph with a cycle, and of a baseline, are as drawn."""
    return {pair for pair, source in graph.directions().items() if source in LINK_SOURCES}


def _explain_lines(ax: Axes, squares: list[bool], links: int, edges: int, *, has_open_signs: bool) -> None:
    """Write the legend of a graph: the colours, and arrows and links if it has links."""
    from matplotlib.lines import Line2D

    keys: list[tuple[str, str, str | None]] = []
    if not all(squares):
        keys += [(POSITIVE, "positive", None), (NEGATIVE, "negative", None)]
    if any(squares):
        keys.append((NODE_EDGE, "with a category", None))
    if has_open_signs:
        keys.append((NODE_EDGE, "sign open", None))
    if links < edges and links:
        keys.append((NODE_EDGE, "arrow: from cause to effect", ">"))
    if links:
        keys.append((NODE_EDGE, "line: direction open", None))
    handles = [
        Line2D([], [], color=color, label=label, marker=marker, markersize=5, markevery=[1] if marker else None)
        for color, label, marker in keys
    ]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False, fontsize=9)


def _sizes(fit: Fit) -> Vector:
    """Return what the widths of the arrows show: standardized weights or, with categories, edge strengths."""
    # The deviance grows with the square of a correlation.
    strengths = np.sqrt(np.maximum(fit.strengths, 0))
    return np.where(np.isnan(strengths), np.abs(fit.standardized_weights), strengths)


def plot_weights(model: Golem, ax: Axes | Figure | None = None, title: str | None = None) -> Axes:
    """Draw the standardized weights as a heat map in causal order; arrows lie above the diagonal, links on both sides.

    In a table with categories, which has no weights for some edges, the edge strengths are drawn instead.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from golem import Golem
    >>> from golem.plots import plot_weights
    >>> from golem.simulate import simulate
    >>> model = Golem().fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> plot_weights(model, Figure()).get_title().endswith("among 4 variables")
    True
    """
    from matplotlib.colors import LinearSegmentedColormap

    fit = fit_of(model)
    edges, has_strengths = fit.graph, np.isfinite(fit.strengths).any()
    weights = fit.strengths if has_strengths else fit.standardized_weights
    order = causal_order(edges)
    place = np.argsort(order)
    links = np.zeros(len(edges), dtype=bool) if edges.sources is None else edges.undecided
    rows = place[np.concatenate([edges.causes, edges.children[links]])]
    columns = place[np.concatenate([edges.children, edges.causes[links]])]
    weights = np.concatenate([weights, weights[links]])
    ax = _axes(ax, (7, 6))
    limit = max(float(np.abs(weights).max(initial=0)), 1e-300)
    # The same colours as those of the arrows.
    signs = LinearSegmentedColormap.from_list("signs", [NEGATIVE, "#f7f7f7", POSITIVE])
    if edges.d <= LARGEST_HEAT_MAP:
        B = np.zeros((edges.d, edges.d))
        B[rows, columns] = weights
        image: Any = ax.imshow(B, cmap=signs, vmin=-limit, vmax=limit, interpolation="nearest")
    else:  # a cell would be smaller than a pixel
        image = ax.scatter(columns, rows, s=4, c=weights, marker="s", cmap=signs, vmin=-limit, vmax=limit, linewidths=0)
        ax.set(xlim=(0, edges.d), ylim=(edges.d, 0), aspect="equal")
    ax.figure.colorbar(image, ax=ax, label="edge strength" if has_strengths else "standardized weight", shrink=0.8)
    if len(order) <= 40:
        names = [fit.table.names[j] for j in order]
        ax.set_xticks(range(len(order)), names, rotation=90, fontsize=7)
        ax.set_yticks(range(len(order)), names, fontsize=7)
        for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
            label.set_parse_math(False)
    ax.set_xlabel("effect; links appear twice" if links.any() else "effect, in causal order")
    ax.set_ylabel("cause" if links.any() else "cause, in causal order")
    ax.set_title(title or _headline(edges), fontsize=11)
    return ax


def _axes(ax: Axes | Figure | None, size: tuple[float, float]) -> Axes:
    """Return the axes to draw into; new ones have a size in inches."""
    from matplotlib.figure import Figure

    if ax is None:
        import matplotlib.pyplot as plt

        return plt.subplots(figsize=size, layout="constrained")[1]
    if isinstance(ax, Figure):
        ax.set_size_inches(size)
        ax.set_layout_engine("constrained")
        return ax.add_subplot()
    return ax


def _headline(graph: LearnedGraph) -> str:
    links = _links(graph)
    return f"{edge_counts(pair not in links for pair in graph.pairs())} among {graph.d} variables"


def plot_path(selection: Selection, ax: Axes | Figure | None = None) -> Axes:
    """Draw the score and the number of edges by penalty, and mark the choice.

    There is one line per DAG penalty and threshold. The bars of a cross-validation are the standard errors of the
    differences from the best score, which therefore has none.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from golem import GolemCV
    >>> from golem.plots import plot_path
    >>> from golem.simulate import simulate
    >>> chosen = GolemCV(select="bic").fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> plot_path(chosen.selection_, Figure()).get_xscale()
    'log'
    """
    from matplotlib.ticker import MaxNLocator

    ax = _axes(ax, (7, 4.5))
    rows = selection.path
    penalty = "edge_penalty" if "edge_penalty" in rows[0] else "lambda_sparsity"
    others = [name for name in ("lambda_dag", "threshold") if len({row.get(name) for row in rows}) > 1]
    lines: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(tuple(row[name] for name in others), []).append(row)
    edges = ax.twinx()
    for k, (values, line) in enumerate(lines.items()):
        x, score = ([row[name] for row in line] for name in (penalty, "score"))
        finite = np.where(np.isfinite(score), score, np.nan)
        label = ", ".join(f"{name} {value}" for name, value in zip(others, values, strict=True)) or "score"
        shade = 0.35 + 0.65 * (k + 1) / len(lines)
        bars = [row["standard_error"] for row in line] if "standard_error" in line[0] else None
        ax.errorbar(x, finite, yerr=bars, color=POSITIVE, alpha=shade, marker="o", markersize=4, capsize=2, label=label)
        edges.plot(x, [row["edges"] for row in line], color=NEGATIVE, alpha=shade, linestyle="--", linewidth=1)
    (chosen,) = (row for row in rows if row["chosen"])
    ax.axvline(chosen[penalty], color=NODE_EDGE, linewidth=1, linestyle=":")
    ax.plot(chosen[penalty], chosen["score"], marker="o", markersize=11, color="none", markeredgecolor=TEXT)
    ax.set_xscale("log")
    for set_formatter in (ax.xaxis.set_major_formatter, ax.xaxis.set_minor_formatter):
        set_formatter("{x:g}")
    edges.yaxis.set_major_locator(MaxNLocator(integer=True))
    units = "penalty per edge, in units of the deviance"
    ax.set_xlabel(units if penalty == "edge_penalty" else "weight of the l1 norm")
    way, score_name = {
        "bic": ("information criterion", "criterion (lower is better)"),
        "cv": (
            "cross-validation",
            "mean held-out log-likelihood per row\n(bars: standard error of the difference from the best)",
        ),
        "stability": ("stability", "agreement of halves with all rows"),
    }[selection.method]
    ax.set_ylabel(score_name, color=POSITIVE)
    edges.set_ylabel("edges (dashed)", color=NEGATIVE)
    edges.set_ylim(bottom=0)
    if others:
        ax.legend(frameon=False, fontsize=8)
    ax.set_title(f"{counted(chosen['edges'], 'edge')}, chosen by {way}", fontsize=11)
    return ax


def plot_check(result: Consistency, ax: Axes | Figure | None = None) -> Axes:
    """Draw the p-values of `golem.check`, from the smallest, against those that chance would produce.

    Both axes are logarithmic; p-values below 1e-15 are drawn there. Without violations the points lie near the line.
    Points far above it are violations, and the smallest p-values have the names of their variables.

    Examples
    --------
    >>> import golem
    >>> from matplotlib.figure import Figure
    >>> from golem.plots import plot_check
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> plot_check(golem.check(drawn.sem.adjacency, drawn.data), Figure()).get_title()
    '1 implied independences, global p = 0.96'
    """
    ax = _axes(ax, (5.6, 4.6))
    observed = -np.log10(np.maximum(np.sort(result.p_values), _LEAST_P))
    expected = -np.log10((np.arange(len(observed)) + 0.5) / max(len(observed), 1))
    violated = np.arange(len(observed)) < result.violations
    ax.plot([0, expected.max(initial=1)], [0, expected.max(initial=1)], color=NODE_EDGE, linewidth=1)
    for chosen, color, label in ((~violated, POSITIVE, "as expected"), (violated, NEGATIVE, "violations (corrected)")):
        ax.plot(expected[chosen], observed[chosen], "o", markersize=4, color=color, label=label)
    for k, record in enumerate(result.records(min(result.violations, _MOST_LABELS))):
        ax.annotate(
            f"{record['source']}, {record['target']}  ", (expected[k], observed[k]), rotation=90, ha="center", va="top",
            fontsize=8, color=TEXT, parse_math=False,
        )  # fmt: skip
    ax.set_xlabel("-log10 of the p-value expected by chance")
    ax.set_ylabel("-log10 of the p-value observed")
    ax.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
    kind = " (descriptive)" if result.descriptive else ""
    title = f"{len(observed)} implied independences, global {p_text(result.p_value)}{kind}"
    ax.set_title(title if len(observed) else "No missing edge to test", fontsize=11)
    return ax


def save_figure(draw: Callable[[Figure], Any], path: Path) -> None:
    """Draw into a new figure, which needs no display, and write it."""
    from matplotlib.figure import Figure

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fonts without some letter of a name
        figure = Figure()
        draw(figure)
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=150)


def require_picture(path: Path) -> None:
    """Raise a ValueError, before the work begins, unless a name is that of a figure in a known format."""
    from matplotlib.backend_bases import FigureCanvasBase

    if path.is_dir() or path.suffix[1:].lower() not in FigureCanvasBase.get_supported_filetypes():
        raise ValueError(
            f"A figure cannot be written to {str(path)!r}. Name a file such as 'p.png', 'p.pdf' or 'p.svg'."
        )
