"""Conditional prediction and standardized weights against the joint normal distribution and simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem import LinearSEM
from golem.simulate import random_sem


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), d=st.integers(2, 7), data=st.data())
def test_predictions_are_those_of_the_joint_normal(seed, d, data):
    sem = random_sem(d, "ER2", "gaussian-nv", random_state=seed)
    known = data.draw(st.lists(st.integers(0, d - 1), max_size=d - 1, unique=True))
    hidden = [j for j in range(d) if j not in known]
    values = np.random.default_rng(seed).normal(size=len(known))
    found = sem.predict(dict(zip(known, values, strict=True)))
    S, mean = sem.covariance, sem.mean
    gain = np.linalg.solve(S[np.ix_(known, known)], S[np.ix_(known, hidden)])
    np.testing.assert_allclose(found.mean, mean[hidden] + (values - mean[known]) @ gain, rtol=1e-6, atol=1e-6)
    expected = S[np.ix_(hidden, hidden)] - S[np.ix_(hidden, known)] @ gain
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-6, atol=1e-6 * S.max())
    np.testing.assert_array_equal(found.variance, np.diagonal(found.covariance))


@pytest.mark.parametrize("noise", ["gaussian-nv", "exponential"])
def test_predictions_of_rows_leave_the_promised_error(noise):
    sem = random_sem(6, "ER2", noise, random_state=3)
    frame = pd.DataFrame(sem.sample(100_000, random_state=0), columns=list(sem.names))
    found = sem.predict(frame[["x4", "x0"]], targets=["x5", "x2"])
    assert found.names == ("x5", "x2")
    error = frame[["x5", "x2"]].to_numpy() - found.mean
    assert found.mean.shape == (100_000, 2)
    np.testing.assert_allclose(error.mean(axis=0) / np.sqrt(found.variance), 0, atol=0.02)
    np.testing.assert_allclose(np.cov(error.T, bias=True), found.covariance, rtol=0.05, atol=0.05)
    by_array = sem.predict({"x4": frame["x4"].to_numpy(), 0: frame["x0"].to_numpy()}, targets=[5, 2])
    np.testing.assert_allclose(by_array.mean, found.mean)


def test_near_duplicates_keep_their_digits():
    # The effect repeats its cause up to 1e-9; seen together they say no more than the cause.
    sem = LinearSEM([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [1, 1e-18, 1])
    found = sem.predict({0: 1.0, 1: 1.0})
    assert found.mean == pytest.approx([1.0], abs=1e-9)
    assert found.variance == pytest.approx([1.0], abs=1e-9)


def test_standardized_weights_are_the_weights_of_standardized_samples():
    sem = random_sem(5, "ER2", "gaussian-nv", random_state=1)
    X = sem.sample(200_000, random_state=0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for j in range(5):
        parents = np.nonzero(sem.weights[:, j])[0]
        if len(parents):
            slopes = np.linalg.lstsq(Z[:, parents], Z[:, j], rcond=None)[0]
            np.testing.assert_allclose(sem.standardized_weights[parents, j], slopes, atol=0.02)
    assert ((sem.standardized_weights != 0) == sem.adjacency).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"z": 1.0},), "no variable 'z'. The variables are 'a', 'b', 'c'"),
        (({"a": 1.0}, ["a"]), "'a': both given and a target"),
        (({"a": 1.0, "b": 1.0, "c": 1.0},), "nothing to predict"),
        (({"a": 1.0}, []), "nothing to predict"),
        (({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]},), "different lengths: 'a'"),
        (({"a": np.nan},), "finite"),
        ((np.ones((2, 2)),), "mapping of variables"),
    ],
)
def test_questions_without_an_answer_are_refused(arguments, message):
    sem = LinearSEM([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [1, 1, 1], names=["a", "b", "c"])
    with pytest.raises(ValueError, match=message):
        sem.predict(*arguments)
