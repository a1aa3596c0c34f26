"""Data with a violated assumption, and the shares of right directions by kind of evidence."""

import numpy as np
import pytest

from golem.graphs.dag import topological_order
from golem_experiments import Grid, load
from golem_experiments.robustness import NOISES, SOURCES, VIOLATIONS, draw, draw_violated, real, right


def drawn(violation, noise="gaussian", n=4000, seed=1):
    return draw_violated(violation, noise, "ER1", 12, n, seed)


def residuals(data):
    """Regress every variable on its true parents."""
    X = data.rows - data.rows.mean(axis=0)
    E = X.copy()
    for j in range(X.shape[1]):
        P = X[:, data.graph[:, j]]
        E[:, j] -= P @ np.linalg.lstsq(P, X[:, j])[0]
    return E


@pytest.mark.parametrize("violation", VIOLATIONS)
@pytest.mark.parametrize("noise", NOISES)
def test_a_seed_has_the_same_graph_in_every_case(violation, noise):
    data = drawn(violation, noise, n=20)
    assert (data.graph == drawn("none", n=20).graph).all()
    topological_order(data.graph)
    assert data.rows.shape == (20, 12)


def test_without_a_violation_residuals_are_independent_noise():
    E = residuals(drawn("none"))
    assert (E.std(axis=0) > 0.9).all()
    assert (E.std(axis=0) < 2.1).all()
    R = np.corrcoef(E.T) - np.eye(12)
    assert np.abs(R).max() < 0.07


def test_hidden_common_causes_correlate_a_quarter_as_many_pairs_as_variables():
    R = np.triu(np.abs(np.corrcoef(residuals(drawn("confounded", "laplace", 20_000)).T)), k=1)
    truth = drawn("confounded").graph
    # Parents take up part of what a hidden cause shares with their children.
    assert 1 <= (R > 0.1).sum() <= 3 + (truth | truth.T).sum()


def test_rows_that_depend_on_each_other_have_the_stated_autocorrelation():
    E = residuals(drawn("dependent rows", n=20_000))
    lagged = [np.corrcoef(e[1:], e[:-1])[0, 1] for e in E.T]
    np.testing.assert_allclose(lagged, 0.8, atol=0.05)


def test_one_percent_of_the_rows_are_outliers():
    data, clean = drawn("outliers"), drawn("none")
    scale = np.median(np.abs(clean.rows), axis=0)
    far = (np.abs(data.rows) > 15 * scale).any(axis=1).mean()
    assert 0.003 < far < 0.02


def test_measurement_errors_are_a_fifth_of_the_variance():
    ratio = drawn("measurement error", n=20_000).rows.var(axis=0) / drawn("none", n=20_000).rows.var(axis=0)
    np.testing.assert_allclose(ratio, 1.25, rtol=0.12)


def test_standardized_columns_share_the_draw():
    tasks = load("robustness").tasks(Grid(quick=True, seeds=1, methods=("order",)))
    raw, standardized = (next(t for t in tasks if t.cell["columns"] == c) for c in ("raw", "standardized"))
    X, Z = draw(raw)[1], draw(standardized)[1]
    np.testing.assert_allclose((X - X.mean(axis=0)) / X.std(axis=0), Z)


def made(violation, right_, reversed_, absent, seeds=6):
    """Return rows in which all directions rest on the shape of the noise."""
    rows = []
    for seed in range(seeds):
        counts = {f"{source}_{what}": 0 for source in SOURCES for what in ("edges", "right", "reversed")}
        counts |= {"shape_edges": right_ + reversed_ + absent, "shape_right": right_, "shape_reversed": reversed_}
        found = {f"finds_{name}": False for name in ("linearity", "independence", "outliers")}
        about = {"experiment": "robustness", "violation": violation, "d": 20, "method": "order", "seed": seed, "shd": 0}
        rows.append(about | {"status": "done"} | counts | found)
    return rows


def test_shares_are_ratios_of_sums():
    table = made("none", 8, 2, 10)
    table[0]["shape_right"], table[0]["shape_edges"] = 18, 30
    assert right(table, "shape").value == pytest.approx(58 / 70)
    assert real(table, *SOURCES).value == pytest.approx(70 / 130)
    assert right(table, "shape").error > 0
    assert not right(table, "variances").count


@pytest.mark.parametrize(
    ("counts", "right_holds", "real_holds"),
    [
        ((20, 0, 0), True, True),
        ((10, 10, 0), False, True),
        ((10, 0, 10), True, False),
        ((0, 0, 0), None, None),
        ((1, 0, 0), None, None),
        ((26, 3, 3), None, None),
    ],
)
def test_the_verdicts_follow_the_rows(counts, right_holds, real_holds):
    verdicts = load("robustness").verdicts(made("confounded", *counts) + made("none", 20, 0, 0))
    assert verdicts[0].holds is True
    assert verdicts[4].holds is right_holds
    assert verdicts[5].holds is real_holds
    assert verdicts[6].holds is None


def test_a_violation_without_directions_by_shape_is_left_out():
    table = made("confounded", 20, 0, 0) + made("outliers", 0, 0, 0)
    assert [load("robustness").verdicts(table)[k].holds for k in (4, 5)] == [True, True]
    assert "outliers" not in load("robustness").verdicts(table)[4].measured.partition("Criterion")[0]
    # Hardly any edge is directed by shape, but half of these are not real.
    for row in (table := made("confounded", 5, 0, 5)):
        row["structure_edges"] = row["structure_right"] = 1000
    assert load("robustness").verdicts(table)[5].holds is False


def test_error_bars_of_shares_end_at_0_and_1():
    table = [row | {"columns": "raw"} for row in made("none", 1, 0, 0) + made("outliers", 0, 1, 0)]
    for axes in load("robustness").figure(table).axes:
        ends = [y for bars in axes.containers for segment in bars.lines[2][0].get_segments() for _, y in segment]
        assert all(0 <= y <= 1 for y in ends if not np.isnan(y))
