"""The methods that the paper compares GOLEM with, and the sanity checks every comparison needs.

Each is a scikit-learn estimator with the attributes of `Golem`; see `golem.baselines.base.Baseline`.
"""
