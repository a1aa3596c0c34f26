"""
Standardize or not?
===================

Some methods use the scales of the columns. Then the result changes with the units. This page shows
how to notice that, on the chemistry of 178 wines.
"""

# %%
# Alcohol is in percent, proline in milligrams, colour in another unit. Change one unit: proline in grams. The wines
# are sorted by cultivar, so neighbouring rows are alike, and golem warns of that. It does not matter on this page.
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import golem

wine = load_wine(as_frame=True).data.rename(columns={"od280/od315_of_diluted_wines": "protein"})
wine = wine[["alcohol", "malic_acid", "total_phenols", "flavanoids", "color_intensity", "hue", "protein", "proline"]]
grams = wine.assign(proline=wine.proline / 1000)
warnings.filterwarnings("ignore", "Neighbouring rows depend")

# %%
# With equal noise variances assumed (``noise="ev"``, as in GOLEM-EV and NOTEARS), the graph depends on the units:
fig, axes = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
by_units = [golem.Golem("ev").fit(table) for table in (wine, grams)]
for ax, model, name in zip(axes, by_units, ("proline in mg", "proline in g"), strict=True):
    golem.plots.plot_graph(model, ax=ax, title=f'noise="ev", {name}')
first, second = (model.adjacency_ | model.adjacency_.T for model in by_units)
print(f"{(first & second).sum() // 2} of {first.sum() // 2} connections are in both graphs")

# %%
# The default looks at the data first. It finds that the noise variances are far apart and does not use them. The
# connections, and the directions that it claims, are the same in all units.
fig, axes = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
default = [golem.Golem().fit(table) for table in (wine, grams)]
for ax, model, name in zip(axes, default, ("proline in mg", "proline in g"), strict=True):
    golem.plots.plot_graph(model, ax=ax, title=f"default, {name}")
print("same equivalence class:", bool((default[0].cpdag_ == default[1].cpdag_).all()))
print(default[0].noise_choice_.reason)

# %%
# The check ``units`` says how much of a graph would be lost:
print(golem.diagnose(by_units[0], wine)["units"])

# %%
# So: leave the columns as they are, and use the default. Standardizing does no harm to the default. With
# ``noise="ev"`` it removes the information that the method uses, and golem warns. Keep original units there, and use
# it only if all columns have the same unit and comparable noise.
