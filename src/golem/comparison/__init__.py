"""Several methods on one table: the registry of methods, adapters to other packages, tables of results.

The package is not called `compare`, because that name would hide the function `golem.compare`.
"""

from golem.comparison.graph_difference import difference
from golem.comparison.result import Comparison
from golem.comparison.run import compare, compare_file

__all__ = ["Comparison", "compare", "compare_file", "difference"]
