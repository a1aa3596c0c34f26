"""
Handing over to NetworkX, pgmpy and DoWhy
=========================================

golem learns the graph; other packages do other things with it. This page passes a model to three of them, and checks
that they give the same answers.
"""

# %%
# A model of the Sachs proteins, with two facts from textbooks.
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import golem
from golem.datasets import load_sachs
from golem.output import to_networkx

sachs = load_sachs()
cells = np.log(pd.DataFrame(sachs.values, columns=sachs.names))
known = golem.Knowledge.named(required=[("Raf", "Mek")], forbidden=[("P38", "PKC"), ("Jnk", "PKC")])
model = golem.Golem(knowledge=known).fit(cells)
sem = model.sem_

# %%
# NetworkX: paths, centrality, drawing. Edges keep the columns of ``edges.csv`` as attributes.
import networkx as nx

graph = to_networkx(model)
print(graph.edges["PKC", "P38"])
print("downstream of PKC:", sorted(nx.descendants(graph, "PKC")))
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
layout = nx.circular_layout(graph)
nx.draw_networkx(graph, layout, ax=ax, node_color="#dde8f3", node_size=1100, font_size=9)
ax.axis("off")

# %%
# pgmpy: queries and simulation in a linear Gaussian Bayesian network.
warnings.simplefilter("ignore")  # those of the other packages
from pathlib import Path
from tempfile import mkdtemp

from pgmpy.models import LinearGaussianBayesianNetwork

file = Path(mkdtemp()) / "model.json"
golem.export_graph(model, file, "pgmpy")
network = LinearGaussianBayesianNetwork.load(str(file))
print(network.get_cpds("P38"))

# %%
# DoWhy: estimate an effect from the data, with the graph as assumption, and try to refute it.
from dowhy import CausalModel

causal = CausalModel(cells, treatment="PKC", outcome="P38", graph=to_networkx(model))
estimand = causal.identify_effect(proceed_when_unidentifiable=True)
estimate = causal.estimate_effect(estimand, method_name="backdoor.linear_regression")
print(f"DoWhy {estimate.value:.3f}, golem {sem.assuming_directions().total_effect('PKC', 'P38'):.3f}")

# %%
# pgmpy and DoWhy need a DAG, so a link has an arbitrary direction there. NetworkX has its attribute ``directed``.
print([edge for edge in graph.edges if not graph.edges[edge]["directed"]])
