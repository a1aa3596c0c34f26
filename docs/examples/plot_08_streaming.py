"""
Streaming a large file
======================

The likelihood needs only the number of rows, the means and the covariances: golem reads a file of any size once,
in pieces, and never holds more than a few of them in memory.
"""

# %%
# Write 200 000 rows as Parquet, in five files. Replace the folder by yours.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pyarrow as pa
import pyarrow.parquet as pq

import golem
from golem.datasets import load_sachs
from golem.readers import moments_from_file, shards_from_file

sachs = load_sachs()
truth = golem.Golem().fit(sachs.table).sem_
folder = Path(tempfile.mkdtemp())
for part in range(5):
    rows = truth.sample(40_000, random_state=part)
    pq.write_table(pa.table(dict(zip(truth.names, rows.T, strict=True))), folder / f"part-{part}.parquet")
print(f"{sum(file.stat().st_size for file in folder.iterdir()) / 1e6:.0f} MB")

# %%
# One pass reads them all. The result has the size of a covariance matrix.
moments = moments_from_file(folder)
print(f"{moments.n} rows, {moments.d} columns")
model = golem.Golem().fit(moments)
model.plot()

# %%
# For a bootstrap or a cross-validation, keep the moments of blocks of rows. They are computed in one pass too.
shards = shards_from_file(folder, 40)
again = golem.bootstrap(golem.Golem(), shards, 100, random_state=0)
again

# %%
# Moments add up. Add one block at a time, and see how many rows the graph needs until it stops changing.
from golem.metrics import shd_c

total, sizes, distances = shards[0], [], []
for shard in shards[1:]:
    total = total + shard
    sizes.append(total.n)
    distances.append(shd_c(truth.adjacency, golem.Golem().fit(total).adjacency_))
fig, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
ax.plot(sizes, distances, ".-")
ax.set(xlabel="rows read", ylabel="errors (SHD-C)", ylim=(-0.2, None))

# %%
# From a shell: ``golem fit folder/ -o out/``. On a cluster: ``--scheduler``.
