"""From tables and files to `Moments`, the sufficient statistics that solvers use.

Missing values, prior knowledge, resampling, checks of the input and the bundled data belong here, too. `files/` reads
CSV and Parquet files and Dask collections. Scores do not belong here.
"""
