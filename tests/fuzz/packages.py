"""Packages that some inputs need, and that may not be installed."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = {"polars": "polars", "tensor": "torch"}
# Inputs that cannot be made here, with the package that they need.
ABSENT = {reader: package for reader, package in NEEDED.items() if find_spec(package) is None}


def not_tried() -> list[str]:
    """Return a sentence for each input that cannot be made."""
    return [f"Inputs {reader!r} are not tried: {package} is not installed." for reader, package in ABSENT.items()]
