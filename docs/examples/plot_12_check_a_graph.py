"""
Does a published graph fit the data?
====================================

A missing edge is a claim: two variables are independent given others. Such claims can be tested. Here the consensus
graph of biologists meets the cells of Sachs et al. (2005).
"""

# %%
# The graph is not learned from these rows, so the p-values mean what they say.
import numpy as np

import golem
from golem.datasets import load_sachs

sachs = load_sachs()
cells = golem.Moments.from_rows(np.log(sachs.values), sachs.names)
result = golem.check(sachs.truth, cells)
result

# %%
# Each point is one missing edge of the graph. If the graph is right, the points lie near the line, as they do here.
golem.plots.plot_check(result)

# %%
# Would the test notice an error? Leave out one edge of the consensus, Raf -> Mek. The test contradicts the graph and
# names the two.
wrong = sachs.truth.copy()
wrong[sachs.names.index("Raf"), sachs.names.index("Mek")] = False
without = golem.check(wrong, cells)
without

# %%
golem.plots.plot_check(without)

# %%
# Consistent does not mean right. A graph with more edges makes fewer claims, and the consensus has eleven edges that
# these cells do not need. Require all of its edges and forbid the others: golem then only estimates weights.
names = sachs.names
pairs = [(a, b) for a in range(len(names)) for b in range(len(names)) if a != b]
known = golem.Knowledge.named(
    required=[(names[a], names[b]) for a, b in pairs if sachs.truth[a, b]],
    forbidden=[(names[a], names[b]) for a, b in pairs if not sachs.truth[a, b]],
)
models = {"learned": golem.Golem("nv").fit(cells), "consensus": golem.Golem("nv", knowledge=known).fit(cells)}
for title, model in models.items():
    print(f"{title}: {int(model.adjacency_.sum())} edges, BIC {model.sem_.bic(cells):.0f} (lower is better)")
