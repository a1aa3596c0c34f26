"""How far a fitted model can be trusted: bootstrap, selection of penalties, diagnostics.

Everything here takes fitted models and data, and returns findings. Nothing here writes files.
"""
