"""
A time series
=============

The American economy, quarter by quarter: what moves first, and what does a shock do later?
"""

# %%
# The table comes with statsmodels. Output, consumption and investment grow over the decades, and two unrelated series
# that grow look related. So we use their growth per quarter in percent, and changes of the unemployment and the
# interest rate.
import numpy as np
import pandas as pd
from statsmodels.datasets import macrodata

import golem

raw = macrodata.load_pandas().data
growth = 100 * np.log(raw[["realgdp", "realcons", "realinv"]]).diff()
growth.columns = ["output", "consumption", "investment"]
changes = raw[["unemp", "tbilrate"]].diff().rename(columns={"unemp": "unemployment", "tbilrate": "interest"})
table = pd.concat([growth, changes], axis=1).dropna().reset_index(drop=True)
table.head(3)

# %%
# Without lags, golem warns that the rows depend on each other. With lags, every variable may depend on the past of all
# variables. The number of lags is chosen from the data.
model = golem.Golem(lags="auto").fit(table)
print(model)

# %%
# A column named ``x@1`` is x one quarter earlier. Arrows from the past need no further evidence for their direction.
# Within a quarter, a direction is drawn only with evidence; the others are links.
pd.DataFrame(model.edges_)[["source", "target", "lag", "weight", "direction_from"]].round(2)

# %%
# Output is the sum of consumption, investment and smaller parts, so the two arrows into it are right. The checks look
# for lags that are missing, drift and seasons. Here they find that the interest rate remembers more than one quarter:
# trust its edges less, or use more lags.
for finding in golem.diagnose(model, table).findings:
    if finding.name in ("more-lags", "stationarity", "seasonality", "windows"):
        print(f"{finding.level}: {finding.finding}")

# %%
# Effects that may run along a link are open. What we know settles all links: output contains consumption and
# investment, and suppose that unemployment only reacts within a quarter. What do higher consumption and investment in
# one quarter do later? The bootstrap for the bands draws blocks of quarters.
effects = [("consumption", "output"), ("investment", "output")]
effects += [(cause, "unemployment") for cause in ("consumption", "investment", "interest")]
informed = golem.Golem(lags=1, knowledge=golem.Knowledge.named(required=effects)).fit(table)
bootstrap = golem.bootstrap(informed, table, 100, random_state=0)
responses = golem.impulse_responses(informed, 8, bootstrap=bootstrap)
golem.plots.plot_responses(responses, ["consumption", "investment"], ["output", "unemployment"])

# %%
# The summary has one edge per pair of variables, with its lags.
summary = golem.output.summary_graph(model).edge_list()
pd.DataFrame([{"cause": cause, "effect": effect, **about} for cause, effect, about in summary])
