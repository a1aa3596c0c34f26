"""The linear structural equation model: what it implies, predicts and answers, and how to draw a random one.

How a model is learned is not decided here.
"""
