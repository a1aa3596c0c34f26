"""Engines of the search over orders: the compiled costs of nodes given their parents, one engine per type of score.

An engine has a Python part, derived from `engine.Engine` and registered by the type of the score, and kernels that
implement those declared in `golem.search.order_kernels`, chosen by the type of its arrays. `correlation` is the fast
one, for one covariance and one column per node. `blocks` and `counts` remember every set of parents (`records`).
"""

from golem.score.gaussian_columns import GaussianColumns
from golem.score.node_scores import Counts, GaussianBlocks

# Where the engine of every type of score is. They import numba, and are imported when they are needed.
ENGINES: dict[type, str] = {
    GaussianColumns: "golem.search.engines.correlation:CorrelationEngine",
    GaussianBlocks: "golem.search.engines.blocks:BlockEngine",
    Counts: "golem.search.engines.counts:CountEngine",
}
