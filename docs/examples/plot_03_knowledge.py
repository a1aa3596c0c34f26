"""
Tiers and required edges
========================

Data alone give few directions. Often you know an order in time. Say so, and arrows cannot point back.
"""

# %%
# In the diabetes table, nothing changes the age, and the progression was measured a year after everything else.
from sklearn.datasets import load_diabetes

import golem

table = load_diabetes(as_frame=True, scaled=False).frame.drop(columns=["sex", "s2", "s4"])
table.columns = ["age", "bmi", "pressure", "cholesterol", "hdl", "triglycerides", "glucose", "progression"]
plain = golem.Golem().fit(table)
print(sum(edge.directed for edge in plain.edges_), "arrows of", len(plain.edges_), "edges")

# %%
# Tiers are groups of columns in order of time. An edge can be required or forbidden by name as well.
known = golem.Knowledge.named(
    tiers=[["age"], ["bmi"], ["pressure", "cholesterol", "hdl", "triglycerides", "glucose"], ["progression"]],
    required=[("bmi", "pressure")],
    forbidden=[("cholesterol", "hdl")],
)
model = golem.Golem(knowledge=known).fit(table)

import matplotlib.pyplot as plt

fig, (left, right) = plt.subplots(1, 2, figsize=(12, 7), layout="constrained")
golem.plots.plot_graph(plain, ax=left, title="data alone")
golem.plots.plot_graph(model, ax=right, title="with knowledge")

# %%
# The evidence for each direction:
import pandas as pd

pd.DataFrame(model.edges_)[["source", "target", "weight", "direction_from"]].round(3)

# %%
# Does the knowledge contradict the data? A graph that obeys it fits a little worse. Compare the BIC (lower is better).
for name, one in (("data alone", plain), ("with knowledge", model)):
    print(f"{name}: BIC {one.sem_.bic(one.moments_):.1f}")
