"""
Six methods on one table
========================

Different methods make different assumptions. Where they agree, the result depends less on any one of them.
"""

# %%
# The data are the proteins of Sachs et al. (2005), as logarithms. The truth is the consensus of biologists.
import numpy as np

import golem
from golem.datasets import load_sachs

sachs = load_sachs()
X = golem.Moments.from_rows(np.log(sachs.values), sachs.names)
methods = ["order", "order-ev", "notears-l1", "fgs", "pc", "sort-regress-var"]
result = golem.compare(X, methods, truth=sachs.truth)
result

# %%
# Which pairs does each method connect, and in which direction? The table of agreement counts links of the
# default (``order``) as drawn, so mark them here.
import pandas as pd

agreement = pd.DataFrame(result.agreement()).set_index(["source", "target"])[["truth", *methods]]
undecided = np.array(sachs.names)[np.argwhere(golem.Golem().fit(X).undecided_)]
for a, b in undecided:
    agreement.loc[[pair for pair in agreement.index if set(pair) == {a, b}], "order"] = "--"
agreement.head(8)

# %%
import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

marks = agreement.to_numpy()
same = marks == marks[:, :1]  # the direction of the truth
kinds = np.where(marks == "", 0, np.where(marks == "--", 1, np.where(same, 2, 3)))
colours = {
    "not connected": "white",
    "connected, no direction": "#bfbfbf",
    "as in the truth": "#2166ac",
    "the other way": "#fbbf8c",
}
fig, ax = plt.subplots(figsize=(7.5, 5.5), layout="constrained")
palette = ListedColormap(list(colours.values()))
ax.pcolormesh(kinds[::-1], cmap=palette, vmin=0, vmax=3, edgecolors="white", linewidth=2)
ax.set_xticks(np.arange(len(agreement.columns)) + 0.5, agreement.columns, rotation=30, ha="right")
ax.set_yticks(np.arange(len(agreement)) + 0.5, [f"{a} - {b}" for a, b in agreement.index[::-1]])
handles = [Patch(facecolor=colour, edgecolor="gray", label=name) for name, colour in colours.items()]
fig.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)

# %%
# Five of six methods connect the same six pairs, and all of these are in the consensus. No method can know the
# directions from these cells: FGS, PC and the default say so. The others take directions from the scales of the
# columns, which mean nothing here: they depend on how brightly a marker shines. ``result.save("folder")`` writes tables
# and a figure.
