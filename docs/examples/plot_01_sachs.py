"""
Proteins in single cells
========================

Which proteins act on which? Sachs et al. (2005) measured eleven of them in 853 human immune cells. Biologists agree
on 17 arrows between them. Which of these does golem find, and why not the others? :doc:`/tutorial` explains each step.
"""

# %%
# Intensities are positive and skewed, so take logarithms. A weight is then an elasticity: percent per percent.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import golem
from golem.datasets import load_sachs

sachs = load_sachs()
cells = np.log(pd.DataFrame(sachs.values, columns=sachs.names))
model = golem.Golem().fit(cells)
model.plot()

# %%
# All edges are links: the pairs are connected, but these data cannot tell the directions apart. So compare the
# connections. List the 17 arrows of the biologists, each with the correlation in the data.
connected = model.adjacency_ | model.adjacency_.T
correlation = np.corrcoef(cells.to_numpy(), rowvar=False)
arrows = pd.DataFrame(
    [
        (f"{sachs.names[i]} -> {sachs.names[j]}", correlation[i, j], connected[i, j])
        for i, j in np.argwhere(sachs.truth)
    ],
    columns=["arrow", "correlation", "found"],
).sort_values("correlation", key=np.abs)
found, others = arrows["found"].sum(), (connected & ~sachs.truth & ~sachs.truth.T).sum() // 2
print(f"{found} of {len(arrows)} arrows are found, and {others} other connections")

# %%
# golem connects the pairs that the data connect. Ten of the other arrows hardly show in these cells; experiments that
# move these proteins could reveal them (:doc:`plot_14_experiments`). PKA and Erk are correlated, but Akt explains that.
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
colours = np.where(arrows["found"], "tab:blue", "lightgray")
ax.barh(arrows["arrow"], arrows["correlation"].abs(), color=colours)
ax.set(xlabel="size of the correlation of the logarithms (blue: found)")
