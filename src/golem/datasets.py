"""Bundled data; a short path to `golem.data.datasets`."""

from golem.data.datasets import Dataset, load_sachs

__all__ = ["Dataset", "load_sachs"]
