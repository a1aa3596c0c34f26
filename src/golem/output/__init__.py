"""What a fitted model is written to: the graph document, result files, exports for other tools, figures, the report.

Everything here is a function of a model or of its document. Nothing here learns or judges.
"""

from golem.output.export import export_graph, from_causal_learn, from_networkx, to_causal_learn, to_networkx

__all__ = ["export_graph", "from_causal_learn", "from_networkx", "to_causal_learn", "to_networkx"]
