"""
A network of 1000 variables
===========================

The size of gene expression tables. Learning the graph takes seconds, and a list of edges replaces matrices.
"""

# %%
# Simulate 2000 rows of a random graph with 1000 variables and 2000 edges, with equal noise variances.
import time

import matplotlib.pyplot as plt
import numpy as np

import golem
from golem.simulate import simulate

drawn = simulate(1000, 2000, "ER2", "gaussian-ev", random_state=0)
start = time.perf_counter()
model = golem.Golem("ev").fit(drawn.data)
print(f"{len(model.graph_)} edges in {time.perf_counter() - start:.1f} s on this machine")

# %%
# The matrix of weights in causal order: all edges lie above the diagonal, because the graph has no cycle.
model.plot()

# %%
# Compare with the truth. The structural Hamming distance counts the edges to add, remove or reverse.
from golem.metrics import shd, tpr

print(f"SHD {shd(drawn.sem.adjacency, model.adjacency_):.0f}, TPR {tpr(drawn.sem.adjacency, model.adjacency_):.4f}")

# %%
# Look at the neighbourhood of one variable: the one with the most edges, its causes and its effects.
graph = model.graph_
degree = np.bincount(graph.causes, minlength=graph.d) + np.bincount(graph.children, minlength=graph.d)
hub = int(degree.argmax())
names = np.array(model.moments_.names)
print(names[hub], "causes:", *names[graph.causes[graph.children == hub]])
print(names[hub], "effects:", *names[graph.children[graph.causes == hub]])

# %%
# How large are the weights that were learned, compared with the true ones?
i, j = graph.causes, graph.children
fig, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
ax.plot(drawn.sem.weights[i, j], graph.weights, ".", markersize=3)
ax.axline((0, 0), slope=1, color="gray", linewidth=1)
ax.set(xlabel="true weight", ylabel="learned weight")

# %%
# ``golem.export_graph(model, "graph.graphml")`` writes the network for Cytoscape or Gephi.
