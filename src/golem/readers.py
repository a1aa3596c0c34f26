"""Files to tables, moments and graphs; a short path to `golem.data` and `golem.graphs.formats`."""

from golem.data.files.covariance_files import read_covariance
from golem.data.files.table_files import Paths, TableFiles
from golem.data.readers import (
    environments_from_file,
    moments_from_dask,
    moments_from_file,
    read_table,
    rows_of,
    shards_from_file,
)
from golem.data.table import Table
from golem.graphs.formats import read_graph
from golem.graphs.named_graph import NamedGraph

__all__ = [
    "NamedGraph",
    "Paths",
    "Table",
    "TableFiles",
    "environments_from_file",
    "moments_from_dask",
    "moments_from_file",
    "read_covariance",
    "read_graph",
    "read_table",
    "rows_of",
    "shards_from_file",
]
