"""
Does a published graph fit the data?
====================================

A missing edge is a claim: two variables are independent given others. Such claims can be tested. Here the consensus
graph of biologists meets the cells of Sachs et al. (2005).
"""

# %%
# The verdict comes with the claims that fail most.
import numpy as np

import golem
from golem.datasets import load_sachs

sachs = load_sachs()
X = golem.Moments.from_rows(np.log(sachs.values), sachs.names)
result = golem.check(sachs.truth, X)
result

# %%
# Each point is one missing edge of the graph. If the graph were right, the points would lie near the line.
golem.plots.plot_check(result)

# %%
# How much does the consensus explain? Require all of its edges and forbid the others: golem then only estimates
# weights.
names = sachs.names
pairs = [(a, b) for a in range(len(names)) for b in range(len(names)) if a != b]
known = golem.Knowledge.named(
    required=[(names[a], names[b]) for a, b in pairs if sachs.truth[a, b]],
    forbidden=[(names[a], names[b]) for a, b in pairs if not sachs.truth[a, b]],
)
for title, model in (("learned", golem.Golem("nv").fit(X)), ("consensus", golem.Golem("nv", knowledge=known).fit(X))):
    bic = model.sem_.bic(X)
    print(f"{title}: {int(model.adjacency_.sum())} edges, BIC {bic:.0f} (lower is better)")

# %%
# The consensus collects what is known from many experiments. That linear effects in these cells contradict some of it
# can mean a missing edge, a curve, or a protein that was not measured. The test says where to look, not which.
