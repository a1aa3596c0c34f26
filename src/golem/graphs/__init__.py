"""DAGs, equivalence classes, metrics, adjustment sets, and the file formats of graphs.

A graph is a boolean matrix, or a `NamedGraph` with weights. This package knows nothing about data or models.
"""
