"""
How many rows do I need?
========================

Take a graph learned from real data as the truth, draw tables of different sizes from it, and see what is found again.
"""

# %%
# The truth: the model of the Sachs proteins. Its edges have different strengths.
import matplotlib.pyplot as plt
import numpy as np

import golem
from golem.datasets import load_sachs

sachs = load_sachs()
truth = golem.Golem().fit(golem.Moments.from_rows(np.log(sachs.values), sachs.names)).sem_
sizes = [30, 60, 125, 250, 500, 1000, 2000]

# %%
# Learn a graph from each of 20 tables per size. Count the pairs that are connected rightly and wrongly.
found, wrong = np.zeros((2, len(sizes)))
pairs = truth.adjacency | truth.adjacency.T
for k, n in enumerate(sizes):
    for seed in range(20):
        model = golem.Golem().fit(truth.sample(n, random_state=seed))
        joined = model.adjacency_ | model.adjacency_.T
        found[k] += (joined & pairs).sum() / pairs.sum() / 20
        wrong[k] += (joined & ~pairs).sum() / 2 / 20
fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(sizes, found, "o-", label="share of the connections that are found")
ax.plot(sizes, wrong, "s--", label="wrong connections per table")
ax.set(xscale="log", xlabel="rows", ylim=(0, 1.05))
ax.set_xticks(sizes, [str(n) for n in sizes], minor=False)
ax.minorticks_off()
ax.legend(frameon=False)

# %%
# A rule of thumb says the same. An edge is kept if it improves the fit by more than its penalty. So an edge with the
# partial correlation r needs the n that solves n log(1 / (1 - r²)) = log n + 2 log d. At that n it is found about half
# of the time. For the weakest edge of this model:
from scipy.optimize import brentq


def rows_needed(r: float, d: int) -> int:
    """Return the number of rows at which an edge is worth its penalty."""
    return int(np.ceil(brentq(lambda n: -n * np.log1p(-r * r) - np.log(n) - 2 * np.log(d), 2, 1e7)))


weakest = np.abs(truth.standardized_weights[truth.adjacency]).min()
print(f"rows needed for {weakest:.2f}: {rows_needed(weakest, len(truth.names))}")

# %%
# Replace the two numbers by yours. :doc:`/suitability` has a table for other correlations and numbers of columns.
print(f"rows needed for 0.1 among 100 columns: {rows_needed(0.1, 100)}")
