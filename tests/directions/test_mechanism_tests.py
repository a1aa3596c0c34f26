"""Tests of equal mechanisms: error rates for heavy tails, against permutations, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest

from golem.directions.mechanism_tests import GroupedRows, dependence_p_value, mechanism_p_values

NOISES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "t4": lambda rng, size: rng.standard_t(4, size=size),
    "lognormal": lambda rng, size: rng.lognormal(size=size),
}


def pair(rng, noise, n):
    """Return rows of y and x, x -> y, with means of their own."""
    x = NOISES[noise](rng, n)
    return np.column_stack([x + NOISES[noise](rng, n), x]) + rng.normal(size=2)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("columns", [[0, 1], [1, 0]])
def test_the_error_rates_do_not_depend_on_the_noise(noise, columns):
    """In the wrong direction the residual depends on the parent."""
    rng = np.random.default_rng(0)
    p = np.array(
        [
            mechanism_p_values(GroupedRows.of([pair(rng, noise, n)[:, columns] for n in (200, 100)]), [1])[0]
            for _ in range(400)
        ]
    )
    # Standard errors are 0.011 and 0.005.
    assert ((p < 0.05).mean(axis=0) < 0.085).all()
    assert ((p < 0.01).mean(axis=0) < 0.03).all()
    assert (p[:, 1] < 0.05).mean() > 0.02


def test_a_parent_that_varies_more_is_not_a_change():
    rng = np.random.default_rng(1)
    p = []
    for _ in range(200):
        x = [rng.lognormal(size=150), 5 * rng.lognormal(size=150)]
        p.append(
            mechanism_p_values(GroupedRows.of([np.column_stack([v + rng.lognormal(size=150), v]) for v in x]), [1])[0]
        )
    assert (np.array(p) < 0.05).mean(axis=0).max() < 0.1


@pytest.mark.parametrize(("slope", "scale", "place"), [(1.5, 1.0, 0), (1.0, 1.5, 1)])
def test_changes_are_found(slope, scale, place):
    rng = np.random.default_rng(2)
    rows = []
    for b, s in ((1.0, 1.0), (slope, scale)):
        x = rng.normal(size=400)
        rows.append(np.column_stack([b * x + s * rng.normal(size=400), x]))
    p = mechanism_p_values(GroupedRows.of(rows), [0, 1])
    assert p[0] == pytest.approx(p[1])  # two groups are compared with each other
    assert p[1, place] < 1e-6
    # The other part is not found to change.
    assert p[1, 1 - place] > 0.001


@pytest.mark.parametrize("noise", ["normal", "lognormal"])
def test_the_scale_test_agrees_with_permutations(noise):
    rng = np.random.default_rng(3)
    for factor in (1.0, 1.2, 1.3):
        parts = [NOISES[noise](rng, 80), factor * NOISES[noise](rng, 60)]
        observed = mechanism_p_values(GroupedRows.of([part[:, None] for part in parts]), [0])[0, 1]
        pooled = np.concatenate([part - np.median(part) for part in parts])
        smaller = 0
        for _ in range(300):
            shuffled = rng.permutation(pooled)
            groups = GroupedRows.of([shuffled[:80, None], shuffled[80:, None]])
            smaller += mechanism_p_values(groups, [0])[0, 1] <= observed
        share = (1 + smaller) / 301
        assert abs(share - observed) < 4 * np.sqrt(observed * (1 - observed) / 300) + 0.02


def test_units_and_the_order_of_rows_and_groups_do_not_matter():
    rng = np.random.default_rng(4)
    parts = [pair(rng, "t4", n) for n in (50, 40, 30)]
    expected = mechanism_p_values(GroupedRows.of(parts), [0, 1, 2])
    others = [rng.permutation(part)[:, :] * [1e-3, 1e5] + [1e3, -7] for part in parts]
    assert mechanism_p_values(GroupedRows.of(others), [0, 1, 2]) == pytest.approx(expected, rel=1e-6)
    assert mechanism_p_values(GroupedRows.of(parts[::-1]), [2, 1, 0]) == pytest.approx(expected, rel=1e-6)


def test_shared_intercepts_are_tested():
    rng = np.random.default_rng(5)
    parts = [rng.normal(size=(300, 2)), rng.normal([0.5, 0.0], 1.0, size=(300, 2))]
    assert mechanism_p_values(GroupedRows.of(parts), [1], shared=True)[0, 0] < 1e-6
    assert mechanism_p_values(GroupedRows.of(parts), [1])[0, 0] > 0.01


def test_a_resample_counts_half():
    rng = np.random.default_rng(6)
    parts = [pair(rng, "normal", 100), 1.3 * pair(rng, "normal", 100)]
    once, twice = (GroupedRows.of([np.repeat(part, k, axis=0) for part in parts]) for k in (1, 2))
    halved = mechanism_p_values(twice, [0], worth=0.5)
    assert halved == pytest.approx(mechanism_p_values(once, [0]), rel=0.1)


def test_constants_have_nothing_to_test():
    rows = np.column_stack([np.zeros(10), np.arange(10.0)])
    assert dependence_p_value(rows) == 1
    assert (mechanism_p_values(GroupedRows.of([rows, rows]), [0]) == 1).all()
    assert dependence_p_value(rows[:, ::-1]) == 1


def test_dependence():
    rng = np.random.default_rng(7)
    assert dependence_p_value(pair(rng, "lognormal", 200)) < 1e-4
    p = [dependence_p_value(rng.lognormal(size=(100, 3))) for _ in range(300)]
    assert (np.array(p) < 0.01).mean() < 0.03
