"""
Sparse or dense? Choosing the penalty
=====================================

A small penalty per edge gives many edges, some of them false; a large one misses weak effects. Let the data choose.
"""

# %%
# Measurements of 569 cell nuclei: their mean radius, texture and so on. Logarithms make effects more linear.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import golem

nuclei = load_breast_cancer(as_frame=True).data.filter(like="mean")
nuclei = np.log(nuclei.drop(columns=["mean area", "mean perimeter"]) + 1e-3)
nuclei.columns = [name.removeprefix("mean ") for name in nuclei]

# %%
# Cross-validation: which penalty predicts held-out rows best? The blue line is the score, the orange one counts edges.
by_likelihood = golem.GolemCV(golem.Golem("nv"), select="cv", random_state=0).fit(nuclei)
golem.plots.plot_path(by_likelihood.selection_)

# %%
# Stability: which penalty gives edges that halves of the rows confirm?
stable = golem.GolemCV(golem.Golem("nv"), select="stability", random_state=0).fit(nuclei)
golem.plots.plot_path(stable.selection_)

# %%
# Prediction tolerates false edges with small weights, so cross-validation chooses more edges than the default and than
# stability. For a graph that you want to interpret, prefer the default or stability.
default = golem.Golem("nv").fit(nuclei)
for name, model in (("default", default), ("cv", by_likelihood), ("stability", stable)):
    print(f"{name}: {int(model.adjacency_.sum())} edges")

fig, axes = plt.subplots(1, 2, figsize=(13, 7), layout="constrained")
golem.plots.plot_graph(default, ax=axes[0], title="default")
golem.plots.plot_graph(stable.estimator_, ax=axes[1], title="stability")
