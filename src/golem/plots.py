"""Figures of models, paths and comparisons; a short path to `golem.output.figures` and `golem.comparison.figure`."""

from golem.comparison.figure import plot_comparison
from golem.output.figures import plot_graph, plot_model, plot_path, plot_weights

__all__ = ["plot_comparison", "plot_graph", "plot_model", "plot_path", "plot_weights"]
