"""Assessment of fitted models: bootstrap, selection of penalties, diagnostics.

Everything here takes fitted models and data, and returns results. Nothing here writes files.
"""
