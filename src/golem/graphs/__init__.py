"""Graphs as such: DAGs, equivalence classes, metrics, adjustment sets, and the file formats of graphs.

A graph here is a boolean matrix, or a `NamedGraph` with weights. Nothing here knows about data or models.
"""
