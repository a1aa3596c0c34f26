"""The linear structural equation model: implied moments, interventions, prediction, and simulation.

Learning a model from data does not belong here.
"""
