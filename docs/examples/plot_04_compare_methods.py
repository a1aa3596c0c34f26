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
# Which pairs do they connect? Dark: the direction of the truth; light: the opposite one; grey: no direction.
import matplotlib.pyplot as plt
import pandas as pd

agreement = pd.DataFrame(result.agreement()).set_index(["source", "target"])
columns = ["truth", *methods]
colours = {"": (1, 1, 1), "--": (0.75, 0.75, 0.75)}
picture = np.ones((len(agreement), len(columns), 3))
for i, (_, row) in enumerate(agreement.iterrows()):
    for j, name in enumerate(columns):
        agrees = row[name] == row["truth"]
        picture[i, j] = colours.get(row[name], (0.13, 0.4, 0.67) if agrees else (0.98, 0.75, 0.55))
fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax.imshow(picture, aspect="auto")
ax.set_xticks(range(len(columns)), columns, rotation=30, ha="right")
ax.set_yticks(range(len(agreement)), [f"{a} - {b}" for a, b in agreement.index])

# %%
# Five of six methods find the same six pairs, and all of these are in the consensus. No method can know the directions
# from these cells. FGS and PC say so; the default draws them dashed. The others take directions from the scales of the
# columns, and the scales of fluorescent markers mean nothing. ``result.save("folder")`` writes the tables and a figure.
print(np.array(sachs.names)[np.argwhere(golem.Golem().fit(X).undecided_)].tolist())
