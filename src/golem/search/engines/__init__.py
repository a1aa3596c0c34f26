"""Engines of the search over orders: the compiled costs of nodes given their parents, one engine per kind of score.

An engine has a Python part, derived from `engine.Engine` and registered by the type of the score, and kernels that
implement those declared in `golem.search.order_kernels`, chosen by the type of its problem. `correlation` is the fast
one, for one covariance and one column per node. `blocks` and `counts` remember every set of parents (`records`).
"""

from golem.search.engines import blocks, correlation, counts
from golem.search.engines.engine import ENGINES, Engine

__all__ = ["ENGINES", "Engine", "blocks", "correlation", "counts"]
