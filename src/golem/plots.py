"""Figures of models, checks, paths, comparisons; a short path to `golem.output.figures`, `golem.comparison.result`."""

from golem.comparison.result import plot_comparison
from golem.output.figures import plot_check, plot_graph, plot_model, plot_path, plot_weights
from golem.output.impulse_responses import plot_responses

__all__ = ["plot_check", "plot_comparison", "plot_graph", "plot_model", "plot_path", "plot_responses", "plot_weights"]
