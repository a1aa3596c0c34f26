"""
Learning from experiments
=========================

Observations alone give few directions. Experiments settle more: where a protein was inhibited, its effects change and
its causes do not. Sachs et al. (2005) measured cells in nine conditions.
"""

# %%
# Each row has the label of its condition, and each condition the proteins that it acts on.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import golem
from golem.datasets import load_sachs

sachs = load_sachs(interventional=True)
cells = np.log(pd.DataFrame(sachs.values, columns=sachs.names))
counts = pd.Series(sachs.environments, name="condition").value_counts()
counts.to_frame("cells").assign(targets=[", ".join(sachs.targets[label]) or "none" for label in counts.index])

# %%
# Compare the graph of the untreated cells with that of all conditions.
untreated = load_sachs()
alone = golem.Golem().fit(np.log(pd.DataFrame(untreated.values, columns=untreated.names)))
model = golem.Golem().fit(cells, environments=list(sachs.environments), targets=sachs.targets)
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 6), layout="constrained")
golem.plots.plot_graph(alone, ax=left, title="one condition: all directions are open")
golem.plots.plot_graph(model, ax=right, title="all conditions")

# %%
# The evidence for each direction:
pd.Series([edge.direction_from for edge in model.edges_], name="direction_from").value_counts().to_frame("edges")

# %%
# Are the directions right? Compare with the consensus of biologists, where it connects the same two proteins.
names = list(sachs.names)
directed = [edge for edge in model.edges_ if edge.direction_from == "interventions"]
places = [(names.index(edge.source), names.index(edge.target)) for edge in directed]
right_way = sum(bool(sachs.truth[i, j]) for i, j in places)
reversed_way = sum(bool(sachs.truth[j, i]) for i, j in places)
print(f"{len(directed)} edges directed by experiments: {right_way} as in the consensus, {reversed_way} reversed")

# %%
# The reversed ones are a reason to look closer: a substance may act on more proteins than its label says, and effects
# are curved. The checks name the conditions that do not behave as declared.
for finding in golem.diagnose(model).at("warning"):
    print("-", finding)

# %%
# What would be the most useful next experiment on the untreated cells?
print(golem.next_experiment(alone))
