"""Time series and panels: lags are columns, and nothing points into the past."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

import golem
from golem import Golem
from golem.data.checks import DataWarning
from golem.data.panels import unit_means
from golem.data.series import blocks_of, row_order
from golem.score.sparsity import L0


def draw(B, A, n, seed=0, noise=None):
    """Draw n rows of x_t = x_t B + sum_k x_(t-k) A_k + noise."""
    rng = np.random.default_rng(seed)
    d, p = len(B), len(A)
    e = rng.normal(size=(n + 200, d)) if noise is None else noise(rng, (n + 200, d))
    X, inverse = np.zeros((n + 200, d)), np.linalg.inv(np.eye(d) - B)
    for t in range(p, n + 200):
        X[t] = (sum(X[t - k - 1] @ A[k] for k in range(p)) + e[t]) @ inverse
    return X[200:]


B = np.array([[0, 0.6, 0], [0, 0, -0.7], [0, 0, 0]])
A = np.array([[[0.5, 0, 0], [0, 0.3, 0], [0.4, 0, 0.4]]])


def windows(X, p):
    return np.hstack([X[p - k : len(X) - k] for k in range(p + 1)])


def test_the_graph_of_a_series_is_found():
    model = Golem(lags=1).fit(draw(B, A, 2000))
    np.testing.assert_allclose(model.weights_ + model.weights_.T, B + B.T, atol=0.1)
    np.testing.assert_array_equal(model.lag_weights_ != 0, A != 0)
    assert {edge.direction_from for edge in model.edges_ if edge.lag} == {"time"}
    assert all(edge.source.endswith("@1") == (edge.lag == 1) for edge in model.edges_)
    assert model.weights_.shape == (3, 3)
    assert "The order of the rows is taken for time." in str(model)


def test_a_full_graph_has_the_coefficients_of_least_squares():
    """With all lagged edges required and no contemporaneous ones, the weights are those of a VAR."""
    X = draw(B, A, 300)
    names = [f"x{j}" for j in range(3)]
    known = {
        "required": [[f"{a}@{k}", b] for a in names for b in names for k in (1, 2)],
        "forbidden": [[a, b] for a in names for b in names if a != b],
    }
    model = Golem(lags=2, knowledge=known).fit(X)
    W = windows(X, 2)
    W = W - W.mean(axis=0)
    expected = np.linalg.lstsq(W[:, 3:], W[:, :3], rcond=None)[0].reshape(2, 3, 3)
    np.testing.assert_allclose(model.lag_weights_, expected, atol=1e-9)
    assert not model.weights_.any()


@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_the_best_of_all_graphs(seed):
    X = draw(B, A, 80, seed)
    model = Golem("nv", lags=1).fit(X)
    W = windows(X, 1)
    S, n = np.cov(W.T, bias=True), len(W)
    penalties = L0("ebic").penalties(n, 6)

    def cost(j, parents):
        S_pp = S[np.ix_(parents, parents)]
        rest = S[j, j] - S[j, parents] @ np.linalg.solve(S_pp, S[parents, j]) if parents else S[j, j]
        return n * np.log(rest) + penalties[len(parents)]

    def best(j, before):
        sets = itertools.chain.from_iterable(itertools.combinations([*before, 3, 4, 5], k) for k in range(6))
        return min(cost(j, list(parents)) for parents in sets)

    orders = itertools.permutations(range(3))
    expected = min(sum(best(j, order[:k]) for k, j in enumerate(order)) for order in orders)
    found = sum(cost(j, np.flatnonzero(model.graph_.matrix()[:, j]).tolist()) for j in range(3))
    assert found == pytest.approx(expected, abs=1e-8)


def test_nothing_points_into_the_past():
    graph = Golem(lags=2).fit(draw(B, A, 200)).graph_
    assert (graph.children < 3).all()


def test_a_missing_lagged_edge_gives_a_direction_of_the_structure():
    """x@1 -> x - y without x@1 -> y: the class has x -> y, and the check claims it."""
    edges, past = np.zeros((5, 5)), np.diag([0.8, 0, 0.5, 0.5, 0.5])
    edges[0, 1] = 0.8
    X = draw(edges, past[None], 2000)
    (edge,) = [edge for edge in Golem("nv", lags=1).fit(X).edges_ if edge.lag == 0]
    assert (edge.source, edge.target, edge.direction_from) == ("x0", "x1", "structure")


def test_bic_chooses_the_number_of_lags():
    two = np.array([np.diag([0.3, 0.3, 0.3]), np.diag([0.5, 0.5, 0.5])])
    for lags, expected in ((A, 1), (two, 2), (np.zeros((1, 3, 3)), 0)):
        assert Golem(lags="auto").fit(draw(B, lags, 1000)).table_.series.lags == expected


def test_time_sorts_rows_and_gaps_end_a_stretch():
    X = draw(B, A, 300)
    frame = pd.DataFrame(X, columns=list("abc")).assign(day=pd.date_range("2024-01-01", periods=300))
    shuffled = frame.sample(frac=1, random_state=0)
    plain, sorted_ = Golem(lags=1).fit(frame.drop(columns="day")), Golem(lags=1, time="day").fit(shuffled)
    np.testing.assert_allclose(sorted_.lag_weights_, plain.lag_weights_)
    short = Golem(lags=2, time="day").fit(frame.drop(index=range(100, 110)))
    assert (short.table_.series.stretches, short.table_.n) == (2, 300 - 10 - 2 * 2)
    with pytest.raises(ValueError, match="occurs more than once"):
        Golem(lags=1, time="day").fit(pd.concat([frame, frame[:1]]))


def panel(units, periods, seed=0, A=A, B=B):
    rng = np.random.default_rng(seed)
    X = draw(B, A, units * (periods + 30), seed).reshape(units, periods + 30, 3)[:, 30:]
    X = X + 5 * rng.normal(size=(units, 1, 3))
    return pd.DataFrame(X.reshape(-1, 3), columns=list("abc")).assign(who=np.repeat(np.arange(units), periods))


@pytest.mark.parametrize(
    "dates", [pd.date_range("2024-01-31", periods=300), pd.period_range("2000-01", periods=300, freq="M")]
)
def test_an_index_of_dates_is_time(dates):
    ordered = pd.DataFrame(draw(B, A, 300), columns=list("abc"))
    expected = Golem(lags=1).fit(ordered)
    shuffled = ordered.set_axis(dates).sample(frac=1, random_state=0)
    model = Golem(lags=1).fit(shuffled)
    np.testing.assert_allclose(model.lag_weights_, expected.lag_weights_)
    assert "The dates of the index are taken for time" in model.table_.series.notes[0]
    numbered = Golem(lags=1).fit(shuffled.reset_index(drop=True))
    assert numbered.table_.series.notes == ("The order of the rows is taken for time.",)
    gap = Golem(lags=1).fit(ordered.set_axis(dates).drop(dates[100]))
    assert gap.table_.series.stretches == 2


def test_lags_never_cross_units_and_units_have_intercepts():
    frame = panel(40, 150)
    model = Golem(lags=1, unit="who").fit(frame)
    assert model.table_.n == 40 * 149 - 40
    np.testing.assert_array_equal(model.lag_weights_ != 0, A != 0)
    shifted = frame.assign(a=frame.a + 100.0 * frame.who)
    np.testing.assert_allclose(Golem(lags=1, unit="who").fit(shifted).lag_weights_, model.lag_weights_, atol=1e-8)


def test_units_without_lags_are_centred():
    frame = panel(100, 5, A=np.zeros((1, 3, 3)))
    model = Golem(unit="who").fit(frame)
    assert len(model.table_.names) == 3
    assert sorted(map(sorted, ((e.source, e.target) for e in model.edges_))) == [["a", "b"], ["b", "c"]]


def test_short_panels_are_corrected():
    """The expected covariance of centred windows plus the bias is that of the series, whatever the length of units."""
    frame = panel(20_000, 6, seed=1)
    with pytest.warns(DataWarning, match="Nickell"):
        model = Golem(lags=1, unit="who").fit(frame)
    np.testing.assert_array_equal(model.lag_weights_ != 0, A != 0)
    np.testing.assert_allclose(model.lag_weights_, A, atol=0.05)


@pytest.mark.parametrize("periods", [6, 25])
def test_panels_of_many_units_have_no_false_edges(periods):
    """The bias falls with the rows per unit, and the errors with the number of units."""
    own = np.diag([0.85, 0.85, 0.85])[None]
    frame = panel(20_000 // periods, periods, A=own, B=np.zeros((3, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = Golem(lags=1, unit="who").fit(frame)
    np.testing.assert_array_equal(model.lag_weights_ != 0, own != 0)
    np.testing.assert_allclose(np.diag(model.lag_weights_[0]), 0.85, atol=0.05)
    assert not model.weights_.any()


def test_errors_of_effects_in_panels_are_as_large_as_the_rows_say():
    """Over panels, estimates deviate by their standard error; the units' means take most of what short ones say."""
    rng, units, size = np.random.default_rng(0), 400, 9
    found = []
    for _ in range(60):
        X = np.zeros((units, 60, 2))
        for t in range(1, 60):
            X[:, t] = 0.8 * X[:, t - 1] + rng.normal(size=(units, 2))
        W = np.concatenate([X[:, -size:], X[:, -size - 1 : -1]], axis=2)
        W = (W - W.mean(axis=1, keepdims=True)).reshape(-1, 4)
        means = unit_means(W.T @ W / len(W), np.full(units, float(size)), 2, 1)
        S, n = W.T @ W / len(W) + means.bias, means.share * len(W)
        effects = np.linalg.solve(S[2:, 2:], S[2:, :2])
        left = np.diag(S[:2, :2] - S[:2, 2:] @ effects)
        errors = np.sqrt(np.outer(np.diag(np.linalg.inv(S[2:, 2:])), left) / n)
        found.append((effects - 0.8 * np.eye(2)) / errors)
    assert np.abs(np.mean(found)) < 0.2
    assert 0.8 < np.std(found) < 1.2


def test_null_panels_have_no_edges():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000 * 5, 4)) + np.repeat(rng.normal(size=(10_000, 4)), 5, axis=0)
    with pytest.warns(DataWarning, match="Nickell"):
        model = Golem(lags=1, unit=np.repeat(np.arange(10_000), 5)).fit(X)
    assert len(model.graph_) == 0


def test_the_bias_of_independent_rows_is_exact():
    """Of independent rows with variance 1, W centred windows have the covariance -(W - 1) / W^2 with their lag."""
    size = 4
    raw = np.array([[1 - 1 / size, -(size - 1) / size**2], [-(size - 1) / size**2, 1 - 1 / size]])
    found = unit_means(raw, np.full(10, float(size)), 1, 1)
    np.testing.assert_allclose(raw + found.bias, np.eye(2), atol=1e-6)


def test_knowledge_holds_at_every_lag_unless_one_is_named():
    X = draw(B, A, 1000)
    assert not Golem(lags=1, knowledge={"forbidden": [["x2", "x0"]]}).fit(X).lag_weights_[0, 2, 0]
    one = Golem(lags=1, knowledge={"forbidden": [["x2@1", "x0"]], "required": [["x1@1", "x0"]]}).fit(X)
    assert not one.lag_weights_[0, 2, 0]
    assert one.lag_weights_[0, 1, 0]
    tiers = Golem(lags=1, knowledge={"tiers": [["x0"], ["x1"], ["x2"]]}).fit(X)
    assert not tiers.lag_weights_[0, 2, 0]


def test_blocks_and_units_are_resampled_together():
    assert blocks_of(np.repeat([0, 1], [5, 4]), 2).tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3]
    frame = panel(30, 25)
    model = Golem(lags=1, unit="who").fit(frame)
    found = golem.bootstrap(model, frame, 20)
    names = list(found.names)
    assert found.adjacency_frequency[names.index("c@1"), names.index("a")] > 0.9


def test_settings_without_meaning_are_refused():
    X = draw(B, A, 100)
    for settings, said in (
        ({"lags": -1}, "whole number"),
        ({"lags": 1, "noise": "ev"}, "noise='ev'"),
        ({"lags": 1, "solver": "adam"}, "solver='order'"),
        ({"time": np.arange(100)}, "needs lags"),
        ({"lags": 1, "score_function": "bdeu"}, "score_function"),
        ({"lags": 99}, "Use fewer lags"),
        ({"lags": 200}, "Only 0 rows have 200 earlier rows"),
        ({"unit": np.arange(100)}, "two units with at least 2 rows without a gap, and there is none"),
    ):
        with pytest.raises(ValueError, match=said):
            Golem(**settings).fit(X)
    with pytest.raises(ValueError, match="'x0' -> 'x1@1' points into the past"):
        Golem(lags=1, knowledge={"required": [["x0", "x1@1"]]}).fit(X)
    with pytest.raises(ValueError, match="Column 'x1' is constant"):
        Golem(lags=1).fit(X * [1, 0, 1])
    frame = pd.DataFrame({"a": X[:, 0], "a@1": X[:, 1]})
    with pytest.raises(ValueError, match="has the name of a lag"):
        Golem(lags=1).fit(frame)
    with pytest.raises(ValueError, match="need a table of numbers"):
        Golem(lags=1).fit(frame[["a"]].assign(b=list("xy") * 50))
    with pytest.raises(AttributeError, match="impulse_responses"):
        Golem(lags=1).fit(X).sem_  # noqa: B018


def test_times_are_read_in_many_forms():
    for time in ([3, 1, 2], ["3", "1", "2"], ["2024-03-01", "2024-01-01", "2024-02-01"], [3.0, 1.0, 2.0],
                 pd.to_datetime(["2024-03-01", "2024-01-01", "2024-02-01"]).tz_localize("Asia/Tokyo"),
                 pd.to_timedelta([3, 1, 2], unit="D")):  # fmt: skip
        assert row_order(3, time).order.tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="neither a number nor a date"):
        row_order(2, ["soon", "later"])
    with pytest.raises(ValueError, match="missing in row 2"):
        row_order(2, [1.0, np.nan])
    for missing in ("", " ", None, np.nan):
        with pytest.raises(ValueError, match="The unit is missing in row 2"):
            row_order(3, unit=["x", missing, "y"])


def test_incomplete_windows_are_dropped():
    X = draw(B, A, 300)
    X[50, 1] = np.nan
    assert Golem(lags=1, missing="drop").fit(X).table_.n == 297
    assert Golem(lags=1, missing="em").fit(X).table_.parts[0].moments.rows == 299
