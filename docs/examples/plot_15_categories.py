"""
A table with categories
=======================

Sex, region or treatment group are not numbers. golem learns from tables that have both kinds of columns.
"""

# %%
# The diabetes table again, now with the sex of the patients as a category.
import pandas as pd
from sklearn.datasets import load_diabetes

import golem

table = load_diabetes(as_frame=True, scaled=False).frame.drop(columns=["s2", "s4"])
names = {"bp": "pressure", "s1": "cholesterol", "s3": "hdl", "s5": "triglycerides"}
table = table.rename(columns=names | {"s6": "glucose", "target": "progression"})
table["sex"] = pd.Categorical(table["sex"].map({1: "group 1", 2: "group 2"}))
table.head(3)

# %%
# Nothing in the table changes age or sex, and neither changes the other. The progression came last.
between = ["bmi", "pressure", "cholesterol", "hdl", "triglycerides", "glucose"]
known = golem.Knowledge.named(
    tiers=[["age", "sex"], between, ["progression"]],
    forbidden=[("age", "sex"), ("sex", "age")],
)
model = golem.Golem(knowledge=known).fit(table)
print("score:", model.score_)
model.plot()

# %%
# An edge from a category has no single weight. It has a strength, and a coefficient per level.
pd.DataFrame(model.edges_)[["source", "target", "weight", "edge_strength", "direction_from"]].round(2)

# %%
pd.DataFrame(model.coefficients_).round(2)

# %%
# The same without the category: what it explained is now explained by other edges.
known = golem.Knowledge.named(tiers=[["age"], between, ["progression"]])
without = golem.Golem(knowledge=known).fit(table.drop(columns="sex"))
with_sex, without_sex = (
    {" - ".join(sorted((edge.source, edge.target))) for edge in one.edges_ if edge.source != "sex"}
    for one in (model, without)
)
print("only with sex in the table:   ", sorted(with_sex - without_sex))
print("only without sex in the table:", sorted(without_sex - with_sex))
