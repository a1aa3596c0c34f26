"""Output of fitted models: the graph document, result files, exports for other tools, figures, the report.

Everything here is a function of a model or of its document. Nothing here learns or assesses.
"""

from golem.graphs.formats.networkx_formats import from_networkx
from golem.output.document import Supplement, save
from golem.output.edge_list import list_edges
from golem.output.effects import effects_on
from golem.output.export import export_graph, from_causal_learn, to_causal_learn, to_networkx
from golem.output.impulse_responses import impulse_responses
from golem.output.lagged_graph import summary_graph, to_tigramite
from golem.output.saved_model import load

__all__ = [
    "Supplement",
    "effects_on",
    "export_graph",
    "from_causal_learn",
    "from_networkx",
    "impulse_responses",
    "list_edges",
    "load",
    "save",
    "summary_graph",
    "to_causal_learn",
    "to_networkx",
    "to_tigramite",
]
