"""Files and clusters to tables, moments and graphs; a short path to `golem.data.readers`."""

from golem.data.readers import (
    NamedGraph,
    Paths,
    Table,
    TableFiles,
    moments_from_dask,
    moments_from_file,
    read_graph,
    read_table,
    rows_of,
    shards_from_file,
    shards_of,
)

__all__ = [
    "NamedGraph",
    "Paths",
    "Table",
    "TableFiles",
    "moments_from_dask",
    "moments_from_file",
    "read_graph",
    "read_table",
    "rows_of",
    "shards_from_file",
    "shards_of",
]
