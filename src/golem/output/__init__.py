"""Output of fitted models: the graph document, result files, exports for other tools, figures, the report.

Everything here is a function of a model or of its document. Nothing here learns or assesses.
"""

from golem.graphs.formats.networkx_formats import from_networkx
from golem.output.document import Supplement, save
from golem.output.edge_list import list_edges
from golem.output.export import export_graph, from_causal_learn, to_causal_learn, to_networkx

__all__ = [
    "Supplement",
    "export_graph",
    "from_causal_learn",
    "from_networkx",
    "list_edges",
    "save",
    "to_causal_learn",
    "to_networkx",
]
