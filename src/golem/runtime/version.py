"""The version of golem."""

__version__ = "0.1.0"
