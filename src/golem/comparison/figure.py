"""The figure of a comparison: errors, times, and distances between the methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from golem.comparison.result import Comparison
from golem.output.figures import NEGATIVE, NODE_EDGE, POSITIVE, TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_comparison(comparison: Comparison) -> Figure:
    """Draw the errors (or the numbers of edges, without a truth), the times, and the pairwise SHD.

    Examples
    --------
    >>> from golem.comparison import Comparison
    >>> from golem.plots import plot_comparison
    >>> len(plot_comparison(Comparison(("a", "b"), (), {}, None, {})).axes)
    3
    """
    from matplotlib.figure import Figure

    rows = [row for row in comparison.rows if row.edges is not None][::-1]
    names, distances = comparison.distances()
    figure = Figure(figsize=(13, max(3.2, 0.34 * len(names) + 1.8)), layout="constrained")
    errors, times, pairs = figure.subplots(1, 3, width_ratios=[1, 1, 1.3])
    places = np.arange(len(rows))
    if comparison.truth is None:
        errors.barh(places, [row.edges for row in rows], color=POSITIVE)
        errors.set_xlabel("edges")
    else:
        bars = (("SHD", "shd", POSITIVE, 0.2), ("SHD-C", "shd_c", NEGATIVE, -0.2))
        for label, key, colour, offset in bars:
            values = [np.nan if getattr(row, key) is None else getattr(row, key) for row in rows]
            errors.barh(places + offset, values, height=0.4, color=colour, label=label)
        errors.legend(frameon=False, fontsize=8)
        errors.set_xlabel("errors compared with the truth")
    errors.set_yticks(places, [row.method for row in rows], fontsize=8)
    times.barh(places, [row.seconds for row in rows], color=NODE_EDGE)
    times.set_yticks(places, [""] * len(rows))
    times.set_xlabel("seconds")
    if rows:
        times.set_xscale("log")
    if names:
        pairs.imshow(distances, cmap="Blues", interpolation="nearest", aspect="auto")
    pairs.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    pairs.set_yticks(range(len(names)), names, fontsize=7)
    middle = distances.max(initial=0) / 2
    for (a, b), value in np.ndenumerate(distances):
        pairs.text(b, a, str(value), ha="center", va="center", fontsize=6, color="white" if value > middle else TEXT)
    pairs.set_title("number of different edges, for each pair of methods", fontsize=9)
    for axes in (errors, times):
        axes.spines[["top", "right"]].set_visible(False)
    return figure
