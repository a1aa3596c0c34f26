"""The numbers in the table of edges that a fit prints."""

from __future__ import annotations

from collections.abc import Callable

from golem.assessment.bootstrap_result import Bootstrap
from golem.graphs.named_graph import EdgeRow


def edge_columns(
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
