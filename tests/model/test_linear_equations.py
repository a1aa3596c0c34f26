"""do(...) against simulated interventions and the path sums of total effects."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem import LinearSEM
from golem.simulate import random_sem


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), d=st.integers(2, 7))
def test_total_effects_are_sums_over_paths(seed, d):
    sem = random_sem(d, "ER2", random_state=seed)
    graph = nx.from_numpy_array(sem.adjacency, create_using=nx.DiGraph)
    for i in range(d):
        for j in range(d):
            paths = nx.all_simple_paths(graph, i, j) if i != j else [[i]]
            expected = sum(np.prod([sem.weights[a, b] for a, b in itertools.pairwise(path)]) for path in paths)
            assert sem.total_effect(i, j) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(sem.total_effects, np.linalg.inv(np.eye(d) - sem.weights), rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), d=st.integers(2, 7), value=st.floats(-5, 5))
def test_setting_a_variable_moves_the_others_by_its_total_effects(seed, d, value):
    sem = random_sem(d, "ER2", "gumbel", random_state=seed)
    i = seed % d
    before, after = sem.do({i: value}).mean, sem.do({i: value + 1}).mean
    np.testing.assert_allclose(after - before, sem.total_effects[i], rtol=1e-7, atol=1e-7)
    assert before[i] == pytest.approx(value)
    # At its own mean, setting it changes no mean of what is not downstream, and here not that of the rest either.
    np.testing.assert_allclose(sem.do({i: sem.mean[i]}).mean, sem.mean, rtol=1e-7, atol=1e-7)


def simulate_by_hand(sem, values, n, rng):
    """Draw rows equation by equation, the set variables held: nothing of the package but its parameters."""
    noise = {
        "gaussian": lambda: rng.standard_normal(n),
        "exponential": lambda: rng.exponential(size=n) - 1,
        "gumbel": lambda: (rng.gumbel(size=n) - np.euler_gamma) * np.sqrt(6) / np.pi,
    }[sem.noise]
    X = np.zeros((n, sem.d))
    for j in nx.topological_sort(nx.from_numpy_array(sem.adjacency, create_using=nx.DiGraph)):
        X[:, j] = (
            values[j]
            if j in values
            else sem.intercepts[j] + X @ sem.weights[:, j] + noise() * np.sqrt(sem.noise_variances[j])
        )
    return X


@pytest.mark.parametrize("noise", ["gaussian-nv", "exponential", "gumbel"])
def test_distribution_and_samples_are_those_of_simulated_interventions(noise):
    sem = random_sem(5, "ER2", noise, weight_scale=0.5, random_state=4)
    forced = sem.do({"x1": 2.0, 3: -1.0})
    by_hand = simulate_by_hand(sem, {1: 2.0, 3: -1.0}, 200_000, np.random.default_rng(0))
    X = forced.sample(200_000, random_state=1)
    scale = np.sqrt(np.diagonal(sem.covariance))
    for rows in (X, by_hand):
        assert np.abs((rows.mean(axis=0) - forced.mean) / scale).max() < 0.02
        assert np.abs((np.cov(rows.T) - forced.covariance) / np.outer(scale, scale)).max() < 0.03
    assert (X[:, 1] == 2.0).all()
    assert (X[:, 3] == -1.0).all()
    assert (forced.covariance[[1, 3]] == 0).all()
    # The shape too: third moments, which second moments do not fix.
    third = [((rows - rows.mean(axis=0)) ** 3).mean(axis=0) / scale**3 for rows in (X, by_hand)]
    np.testing.assert_allclose(*third, atol=0.15)
    np.testing.assert_array_equal(forced.sample(5, 3), forced.sample(5, 3))


def test_nothing_set_changes_nothing():
    sem = random_sem(4, "ER1", random_state=0)
    np.testing.assert_allclose(sem.do({}).covariance, sem.covariance)
    np.testing.assert_array_equal(sem.do({}).sample(7, 2), sem.sample(7, 2))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"z": 1.0}, "no variable 'z'. The variables are 'a', 'b'"),
        ({2: 1.0}, "no variable number 2"),
        ({"a": np.nan}, "one finite number"),
        ({"a": [1.0, 2.0]}, "one finite number"),
        ({"a": 1.0, 0: 1.0}, "given twice"),
        ({0.0: 1.0}, r"by its name or its number .*; got 0\.0"),
    ],
)
def test_interventions_that_make_no_sense_are_refused(values, message):
    sem = LinearSEM([[0, 1], [0, 0]], [1, 1], names=["a", "b"])
    with pytest.raises(ValueError, match=message):
        sem.do(values)


def test_effects_of_unknown_variables_are_refused():
    sem = LinearSEM([[0, 1], [0, 0]], [1, 1], names=["a", "b"])
    with pytest.raises(ValueError, match=r"no variable 'c'\. The variables are 'a', 'b'"):
        sem.total_effect("a", "c")
    with pytest.raises(ValueError, match="'b' and 'a': No directed path"):
        sem.adjustment_set("b", "a")


@pytest.mark.parametrize("variable", [0.5, 1.0, True, np.True_, None, ("a",)])
def test_only_whole_numbers_are_positions(variable):
    sem = LinearSEM([[0, 1], [0, 0]], [1, 1], names=["a", "b"])
    for ask in (sem.total_effect, sem.adjustment_set):
        for pair in ((0, variable), (variable, 1)):
            with pytest.raises(ValueError, match="A variable must be given by its name or its number"):
                ask(*pair)
    with pytest.raises(ValueError, match="A variable must be given by its name or its number"):
        sem.predict({"a": 1.0}, [variable])
    assert sem.total_effect(np.int64(0), np.uint8(1)) == 1.0


def test_a_number_that_is_the_name_of_another_variable_is_refused():
    sem = LinearSEM([[0, 2, 0], [0, 0, 3], [0, 0, 0]], [1, 1, 1], names=["2", "1", "7"])
    assert sem.total_effect("2", "7") == 6.0
    assert sem.total_effect(1, "7") == 3.0  # the variable named 1 is the one at 1
    assert sem.total_effect(0, 1) == 2.0  # no variable is named 0
    with pytest.raises(ValueError, match=r"2 is also the name of variable number 0\. .*: '2' or '7' \(number 2"):
        sem.do({2: 1.0})
    with pytest.raises(ValueError, match=r"7 is also the name of variable number 2\. Give the name as text: '7'\.$"):
        sem.predict({"2": 1.0}, [7])


@pytest.mark.parametrize("noise", ["gaussian-nv", "gumbel"])
def test_rows_under_hard_and_soft_interventions_have_the_moments_of_the_changed_equations(noise):
    sem = random_sem(5, "ER2", noise, random_state=3)
    j = int(np.argmax(sem.adjacency.sum(axis=0)))
    hard, soft = sem.randomize({j: (2.0, 0.5)}), sem.change([j], weights=2.0, variance=3.0, shift=1.0)
    B, omega, c = sem.weights.copy(), sem.noise_variances.copy(), sem.intercepts.copy()
    B[:, j], omega[j], c[j] = 0, 0.25, 2.0
    for model, weights, variances, intercepts in (
        (hard, B, omega, c),
        (
            soft,
            sem.weights * np.where(np.arange(5) == j, 2, 1),
            sem.noise_variances * np.where(np.arange(5) == j, 3, 1),
            sem.intercepts + (np.arange(5) == j),
        ),
    ):
        effects = np.linalg.inv(np.eye(5) - weights)
        covariance, mean = effects.T @ np.diag(variances) @ effects, intercepts @ effects
        np.testing.assert_allclose(model.covariance, covariance, atol=1e-9)
        X = model.sample(40_000, 1)
        scale = np.sqrt(np.diagonal(covariance))
        np.testing.assert_allclose(X.mean(axis=0) / scale, mean / scale, atol=0.03)
        np.testing.assert_allclose(np.cov(X.T) / np.outer(scale, scale), covariance / np.outer(scale, scale), atol=0.06)
    assert not hard.adjacency[:, j].any()
    assert (soft.adjacency == sem.adjacency).all()


def test_changes_that_make_no_model_are_refused():
    sem = LinearSEM([[0, 2], [0, 0]], [1, 1], names=["a", "b"])
    for law in (2.0, (2.0, 0.0), (np.nan, 1.0)):
        with pytest.raises(ValueError, match="positive standard deviation for 'b'"):
            sem.randomize({"b": law})
    with pytest.raises(ValueError, match="no variable 'c'"):
        sem.change(["c"], weights=2)
    with pytest.raises(ValueError, match="noise variances positive"):
        sem.change(["b"], variance=0)
