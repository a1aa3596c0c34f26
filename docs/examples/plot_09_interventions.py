"""
What happens if? Effects and interventions
==========================================

A graph with weights is a model of what happens when a variable is set. This page computes effects from a learned
model, and says what they depend on.
"""

# %%
# Learn a model of the diabetes patients, with what is known about time.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import golem

table = load_diabetes(as_frame=True, scaled=False).frame.drop(columns=["sex", "s2", "s4"])
table.columns = ["age", "bmi", "pressure", "cholesterol", "hdl", "triglycerides", "glucose", "progression"]
known = golem.Knowledge.named(
    tiers=[["age"], ["bmi"], ["pressure", "cholesterol", "hdl", "triglycerides", "glucose"], ["progression"]]
)
model = golem.Golem(knowledge=known).fit(table)
model.plot()

# %%
# The direct effect of the body mass index is one arrow; the total effect runs along all paths. Where links are on the
# way, it is a range: `model.effects_on`. What follows takes the directions shown for right.
for effect in model.effects_on("progression")[:3]:
    print(f"{effect.source}: {effect.low:+.2f} to {effect.high:+.2f} ({effect.says})")
sem = model.sem_.assuming_directions()
place = {name: k for k, name in enumerate(sem.names)}
print(f"direct {sem.weights[place['bmi'], place['progression']]:+.2f} per unit of bmi")
print(f"total  {sem.total_effect('bmi', 'progression'):+.2f} per unit of bmi")

# %%
# Setting a variable differs from observing it. Who has a blood pressure of 80 is also younger and slimmer; who is
# *brought* to 80 is not.
seen = sem.predict({"pressure": 80.0}, targets=["progression"])
set_to = sem.do({"pressure": 80.0})
print(f"observed: {seen.mean.item():.0f}, set: {set_to.mean[place['progression']]:.0f}, all patients: ", end="")
print(f"{table.progression.mean():.0f}")

# %%
# How certain is that? The bootstrap learns graph and weights again, and so includes the choice of the graph.
again = golem.bootstrap(golem.Golem(knowledge=known), table, 200, random_state=0)
causes = [name for name in sem.names if name != "progression"]
rows, target = [place[name] for name in causes], place["progression"]
scale = table[causes].std().to_numpy()
low, high = again.effect_interval[:, rows, target] * scale
effect = sem.total_effects[rows, target] * scale
order = np.argsort(effect)
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.hlines(range(len(causes)), low[order], high[order], color="tab:blue")
ax.plot(effect[order], range(len(causes)), "o", color="tab:blue")
ax.axvline(0, color="gray", linewidth=1)
ax.set_yticks(range(len(causes)), [causes[k] for k in order])
ax.set_xlabel("total effect on the progression per standard deviation, with 95 % of the bootstrap")

# %%
# To estimate an effect with another method, adjust for these variables:
for cause in ("bmi", "pressure", "triglycerides"):
    print(cause, "->", sem.adjustment_set(cause, "progression") or "nothing")

# %%
# All of this holds if the graph is right and no common cause is missing. A randomized experiment needs neither.
