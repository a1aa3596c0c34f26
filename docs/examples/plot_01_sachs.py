"""
Proteins in single cells
========================

Which proteins act on which? Sachs et al. (2005) measured eleven of them in 853 human immune cells. Biologists agree
on 17 of the arrows, so we can compare.
"""

# %%
# Intensities are positive and skewed, so take logarithms. A weight is then an elasticity: percent per percent.
import numpy as np
import pandas as pd

import golem
from golem.datasets import load_sachs

sachs = load_sachs()
cells = np.log(pd.DataFrame(sachs.values, columns=sachs.names))
model = golem.Golem().fit(cells)
model.plot()

# %%
# All arrows are dashed: the pairs are connected, but these data cannot tell the directions apart. Compare the
# connections with those of the biologists.
connected = model.adjacency_ | model.adjacency_.T
agreed = sachs.truth | sachs.truth.T
print(f"{(connected & agreed).sum() // 2} of {connected.sum() // 2} connections are in the consensus")

# %%
# How stable is that? Draw the cells again with replacement, learn again, and count.
again = golem.bootstrap(golem.Golem(), cells, 100, random_state=0)
pairs = [
    (sachs.names[i], sachs.names[j], again.adjacency_frequency[i, j])
    for i, j in np.argwhere(np.triu(again.adjacency_frequency) > 0.2)
]
pd.DataFrame(pairs, columns=["one", "other", "connected"]).sort_values("connected", ascending=False)

# %%
# What are reasons for doubt? Curved effects remain after the logarithms. They explain why only six of the 17 arrows
# were found: a linear model does not see the others.
for finding in golem.diagnose(model, cells).at("warning"):
    print("-", finding)
