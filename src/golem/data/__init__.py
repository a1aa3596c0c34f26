"""From tables and files to `Moments`, the sufficient statistics that solvers work on.

Also here: missing values, prior knowledge, resampling, the checks of the input, and the bundled data. `files/` reads
CSV, Parquet and Dask. Nothing here knows about scores.
"""
