"""
Six methods on one table
========================

Different methods make different assumptions. Where they agree, the result depends less on any one of them.
"""

# %%
# The Sachs data, as logarithms, and the consensus of biologists as the truth. Each method runs in a process of its
# own.
import numpy as np

import golem
from golem.datasets import load_sachs

sachs = load_sachs()
X = golem.Moments.from_rows(np.log(sachs.values), sachs.names)
methods = ["order", "order-ev", "notears-l1", "fgs", "pc", "sort-regress-var"]
result = golem.compare(X, methods, truth=sachs.truth)
result

# %%
# Which pairs do they connect? Dark cells are edges; the truth is on top.
golem.plots.plot_comparison(result)

# %%
# The pairs that all methods connect, with the methods that point the other way:
import pandas as pd

agreement = pd.DataFrame(result.agreement())
agreement[agreement["methods"] == len(methods)]

# %%
# All six find the same strong connections. They disagree about directions: `order-ev`, NOTEARS and sorting by variance
# take them from the scales of the columns, and the scales of fluorescent markers mean nothing.
