"""The bootstrap: against a plain loop of fits, its seeds, its end by Ctrl-C, and what its numbers mean."""

import json
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone

import golem
from golem import DataWarning, Golem, GolemCV, Knowledge, Moments
from golem.assessment.bootstrap import bootstrap
from golem.assessment.bootstrap_result import Replicate, summarize
from golem.data.resampling import Rows
from golem.data.table import Table
from golem.directions.equivalence_class import random_member
from golem.graphs.dag import is_dag
from golem.output.document import Supplement, describe
from golem.output.edge_list import list_edges
from golem.score.likelihood import GaussianNV
from golem.simulate import simulate

# A chain with strong weights: its class leaves all directions open.
CHAIN = np.diag([1.0, 1.0, 1.0], k=1)


def chain_rows(n: int, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(n, 4)) * [1.0, 0.7, 1.3, 0.9]
    return noise @ np.linalg.inv(np.eye(4) - CHAIN)


def arrays(result: golem.assessment.bootstrap_result.Bootstrap) -> list[np.ndarray]:
    return [
        result.adjacency_frequency,
        result.direction_frequency,
        result.weight_interval,
        result.effect_interval,
        result.consensus,
    ]


def in_class(model: Golem) -> np.ndarray:
    """Return the directions without evidence other than the class, of a model that was not checked."""
    return model.graph_.matrix(model.graph_.directed_by("none"))


def plain_loop(model: Golem, X: np.ndarray, replicates: int, seed: int) -> Iterator[tuple[Golem, np.random.Generator]]:
    """Fit a model to each resample, which counts as half its rows."""
    n = len(X)
    for k in range(replicates):
        rng = np.random.default_rng([seed, k])
        which = rng.integers(n, size=n)
        S = np.cov(X[which].T, bias=True)
        again = clone(model).set_params(random_state=int(rng.integers(2**31)))
        yield again.fit(Table.single(Moments.from_covariance(S, n // 2), X[which])), rng


def test_frequencies_and_intervals_are_those_of_a_plain_loop():
    X = simulate(6, 150, "ER2", "gaussian-nv", random_state=4).data
    result = bootstrap(Golem(), X, 12, level=0.8, random_state=5, n_jobs=1)
    joined, directed, weights, effects = np.zeros((6, 6)), np.zeros((6, 6)), [], []
    for model, rng in plain_loop(Golem(), X, 12, seed=5):
        joined += model.adjacency_ | model.adjacency_.T
        undecided = in_class(model)
        directed += model.adjacency_ - undecided / 2 + undecided.T / 2
        B = model.weights_
        if undecided.any():
            # Directions that the class has, but that have no evidence, are not drawn.
            member = random_member(model.adjacency_, undecided & model.cpdag_.T, rng)
            S, B = model.moments_.covariance, np.zeros((6, 6))
            for j in range(6):
                parents = np.nonzero(member[:, j])[0]
                B[parents, j] = np.linalg.lstsq(S[np.ix_(parents, parents)], S[parents, j])[0]
        weights.append(B)
        effects.append(np.linalg.inv(np.eye(6) - B))
    assert (result.replicates, result.requested, result.unit, result.seed) == (12, 12, "rows", 5)
    np.testing.assert_allclose(result.adjacency_frequency, joined / 12, atol=1e-12)
    np.testing.assert_allclose(result.direction_frequency, directed / 12, atol=1e-12)
    # Of 12 values, the 10 % are at 1.3: between the smallest (at 1) and the next one.
    weights, effects = (np.sort(values, axis=0) for values in (weights, effects))
    for found, values in ((result.weight_interval, weights), (result.effect_interval, effects)):
        np.testing.assert_allclose(found[0], 0.7 * values[0] + 0.3 * values[1], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[1], 0.7 * values[-1] + 0.3 * values[-2], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        result.direction_frequency + result.direction_frequency.T, result.adjacency_frequency, atol=1e-12
    )
    assert is_dag(result.consensus)


@pytest.mark.parametrize(("noise", "shape"), [("auto", "normal"), ("ev", "normal"), ("auto", "exponential")])
def test_replicates_claim_what_a_fit_of_the_same_rows_claims(noise, shape):
    """Also with equal and tied variances a direction without evidence counts half, and one by shape counts fully."""
    rng = np.random.default_rng(4)
    X = getattr(rng, "standard_" + shape)((150, 3))
    X[:, 1] += 0.4 * X[:, 0]
    X[:, 2] += 0.4 * X[:, 1]
    result = bootstrap(Golem(noise), X, 12, random_state=5, n_jobs=1)
    fits = [model for model, _ in plain_loop(Golem(noise), X, 12, seed=5)]
    directed = sum(model.adjacency_ - in_class(model) / 2 + in_class(model).T / 2 for model in fits)
    np.testing.assert_allclose(result.direction_frequency, directed / 12, atol=1e-12)
    judged = [model for model in fits if not isinstance(model.likelihood_, GaussianNV)]
    assert any((in_class(model) if shape == "normal" else model.by_shape_).any() for model in judged)


def test_an_interval_contains_a_further_value_as_often_as_it_says():
    """Of 40 values of one distribution, the last lies between the other 39 with probability 38/40."""
    d, rng = 50, np.random.default_rng(0)
    graph, nothing = np.triu(np.ones((d, d), dtype=bool), 1), np.zeros((d, d), dtype=bool)
    edges = np.nonzero(graph)

    def drawn() -> Replicate:
        effects = rng.normal(size=(d, d)).astype(np.float32)
        return Replicate(graph, nothing, edges, rng.normal(size=len(edges[0])), effects, True)

    source = Table.single(Moments.from_covariance(np.eye(d), 10), np.zeros((10, d)))
    result = summarize([drawn() for _ in range(39)], source, 39, 0, 0.95)
    inside = np.concatenate(
        [
            (interval[0][graph] <= values) & (values <= interval[1][graph])
            for interval in (result.weight_interval, result.effect_interval)
            for values in [rng.normal(size=len(edges[0])) for _ in range(5)]
        ]
    )
    assert np.mean(inside) == pytest.approx(0.95, abs=0.01)


def test_the_seed_decides_and_the_number_of_threads_does_not():
    X = simulate(15, 200, "ER2", "gaussian-nv", random_state=1).data
    first, second, other = (bootstrap(Golem(), X, 8, random_state=s, n_jobs=j) for s, j in ((3, 1), (3, 3), (4, 1)))
    for one, two in zip(arrays(first), arrays(second), strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first.weight_interval, other.weight_interval)


def test_open_directions_are_as_frequent_both_ways():
    result = golem.bootstrap(Golem("nv"), chain_rows(2000), 40)
    edges = CHAIN != 0
    assert result.adjacency_frequency[edges].min() == 1
    np.testing.assert_allclose(result.direction_frequency[edges], 0.5, atol=0.1)
    # Neither may the weights look certain: no edge at all in that direction is among the possibilities.
    assert (result.weight_interval[0][edges] <= 0).all()
    assert (result.effect_interval[0][edges] <= 0).all()
    assert (result.weight_interval[1][edges] > 0.7).all()
    assert is_dag(result.consensus)
    np.testing.assert_array_equal(result.consensus | result.consensus.T, edges | edges.T)


def test_knowledge_is_obeyed_in_every_replicate_and_decides_directions():
    X = chain_rows(500)
    knowledge = Knowledge.of(4, forbidden=[(1, 0)], required=[(0, 3)])
    result = bootstrap(Golem("nv", knowledge=knowledge), X, 20)
    assert result.direction_frequency[1, 0] == 0
    assert result.direction_frequency[0, 3] == 1
    assert result.direction_frequency[0, 1] == result.adjacency_frequency[0, 1] == 1
    assert result.consensus[0, 1]
    assert result.consensus[0, 3]


def test_shards_give_about_what_rows_give():
    drawn = simulate(8, 4000, "ER1", random_state=2)
    shards = [Moments.from_rows(part) for part in np.array_split(drawn.data, 40)]
    rows, blocks = bootstrap(Golem(), drawn.data, 30), bootstrap(Golem(), shards, 30)
    assert blocks.unit == "shards"
    np.testing.assert_allclose(rows.adjacency_frequency, blocks.adjacency_frequency, atol=0.2)
    np.testing.assert_array_equal(rows.consensus, blocks.consensus)
    width = [np.diff(one.weight_interval, axis=0)[0][drawn.sem.adjacency] for one in (rows, blocks)]
    assert 0.6 < np.median(width[1] / width[0]) < 1.6


def test_the_model_is_left_alone_and_its_settings_are_used():
    X = simulate(5, 300, "ER1", random_state=1).data
    model = Golem("ev", lambda_sparsity=10.0, callback=threading.Lock().acquire)
    before = dict(model.__dict__)
    assert not bootstrap(model, X, 5).adjacency_frequency.any()
    assert model.__dict__ == before
    descent = bootstrap(Golem("ev", "lbfgs", threshold=100.0), X, 3)
    assert not descent.adjacency_frequency.any()


class StopsAt:
    """A callback that presses Ctrl-C."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, done: int, wanted: int) -> None:
        """Count, and press it."""
        assert wanted == 50
        if done == self.count:
            raise KeyboardInterrupt


def test_ctrl_c_keeps_what_is_done():
    X = simulate(15, 200, "ER2", random_state=1).data
    result = bootstrap(Golem(), X, 50, n_jobs=2, callback=StopsAt(5))
    assert result.interrupted
    assert 5 <= result.replicates <= 8
    assert result.requested == 50
    assert "of 50 replicates" in repr(result)
    assert result.adjacency_frequency.max() == 1


def test_ctrl_c_ends_the_searches_that_run(monkeypatch):
    # The second search would go on for ever; it hears of the Ctrl-C through its callback. Threads of the interrupted
    # bootstrap of another test may still begin a fit; it has no time limit.
    X = simulate(15, 200, "ER2", random_state=1).data
    fit, calls = Golem.fit, iter(range(100))

    def endless(self: Golem, moments: Moments, **options: Any) -> Golem:
        if self.time_limit is None or next(calls) == 0:
            return fit(self, moments, **options)
        while True:
            self.callback(None)

    monkeypatch.setattr(Golem, "fit", endless)
    assert bootstrap(Golem(time_limit=1000), X, 50, n_jobs=2, callback=StopsAt(1)).replicates == 1


def test_ctrl_c_before_the_first_replicate_is_a_ctrl_c(monkeypatch):
    def interrupted(self: Golem, moments: Moments, **options: Any) -> Golem:
        raise KeyboardInterrupt

    monkeypatch.setattr(Golem, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bootstrap(Golem(), simulate(4, 50, random_state=1).data, 3)


def test_a_rare_value_is_drawn_until_it_is_there():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 2] = 0
    X[0, 2] = 1  # in a third of all resamples this column is constant
    assert bootstrap(Golem("nv"), X, 20).replicates == 20


def test_a_resample_that_never_can_be_fitted_is_told(monkeypatch):
    X = simulate(3, 50, random_state=1).data
    monkeypatch.setattr(Rows, "repeated", lambda *which: Moments.from_covariance(np.diag([1.0, 0.0, 1.0]), 50))
    with pytest.raises(ValueError, match=r"Resampled rows cannot be fitted.* (Constant columns|is constant)"):
        bootstrap(Golem("nv"), X, 2)


def test_what_makes_no_sense_is_refused():
    X = simulate(4, 50, random_state=1).data
    for words, wrong in (
        ("replicates must be a positive integer", {"replicates": 0}),
        ("between 0 and 1", {"level": 95}),
        ("n_jobs must be positive", {"n_jobs": 0}),
    ):
        with pytest.raises(ValueError, match=words):
            bootstrap(Golem(), X, **wrong)
    with pytest.raises(ValueError, match="cycles='none'"):
        bootstrap(Golem("ev", "lbfgs", cycles="none"), X)
    with pytest.raises(ValueError, match="is constant"):
        bootstrap(Golem(), np.column_stack([X, np.ones(50)]))


def test_rows_with_missing_values_are_left_out_where_that_is_the_choice():
    X = simulate(4, 80, random_state=1).data
    holed = np.vstack([X, np.where(np.arange(4) == 2, np.nan, X[:30])])
    for one, two in zip(
        arrays(bootstrap(Golem(), X, 4)), arrays(bootstrap(Golem(missing="drop"), holed, 4)), strict=True
    ):
        np.testing.assert_array_equal(one, two)
    with pytest.raises(ValueError, match=r"Missing values \(NaN\) in 1 of 4 columns"):
        bootstrap(Golem(), holed, 4)


def test_em_without_missing_values_is_the_plain_bootstrap():
    X = simulate(4, 80, random_state=1).data
    plain, em = bootstrap(Golem(), X, 4), bootstrap(Golem(missing="em"), X, 4)
    for one, two in zip(arrays(plain), arrays(em), strict=True):
        np.testing.assert_array_equal(one, two)
    assert not em.em


def test_em_is_run_on_every_resample():
    X = simulate(5, 120, "ER1", "gaussian-ev", random_state=3).data
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    result = bootstrap(Golem("ev", missing="em"), X, 8, random_state=6, n_jobs=1)
    directed = np.zeros((5, 5))
    for k in range(8):
        drawn = X[np.random.default_rng([6, k]).integers(120, size=120)]
        moments = Moments.from_rows(drawn, missing="em")
        directed += Golem("ev").fit(Moments.from_covariance(moments.covariance, moments.n // 2)).adjacency_
    np.testing.assert_allclose(result.direction_frequency, directed / 8)
    assert result.em
    assert result.unit == "rows"


def test_em_with_little_missing_is_near_the_complete_data():
    drawn = simulate(6, 400, "ER1", "gaussian-ev", random_state=2)
    X = drawn.data
    holed = np.where(np.random.default_rng(1).random(X.shape) < 0.02, np.nan, X)
    complete = bootstrap(Golem("ev"), X, 60)
    em = bootstrap(Golem("ev", missing="em"), holed, 60)
    assert np.abs(em.direction_frequency - complete.direction_frequency).max() < 0.15
    true = drawn.sem.adjacency
    np.testing.assert_allclose(em.weight_interval[:, true], complete.weight_interval[:, true], atol=0.1)


def test_intervals_know_what_missing_values_leave_open():
    """A chain of two, a third of one column gone: the interval widens as that of so many complete rows does."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=600)
    X = np.column_stack([x, x + rng.normal(size=600)])
    holed = X.copy()
    holed[rng.random(600) < 0.5, 1] = np.nan
    widths = [
        np.ptp(bootstrap(Golem("ev", missing=missing), rows, 300).weight_interval[:, 0, 1])
        for missing, rows in (("error", X), ("em", holed), ("drop", holed))
    ]
    assert widths[1] > 1.2 * widths[0]
    assert widths[1] == pytest.approx(widths[2], rel=0.2)  # the other column alone tells nothing of the slope


def test_few_rows_are_warned_of_once():
    X = simulate(20, 25, "ER1", random_state=1).data
    with pytest.warns(DataWarning, match="n = 25 rows for d = 20") as caught:
        bootstrap(Golem("ev"), X, 3)
    assert len(caught) == 1
    with pytest.warns(DataWarning, match="n = 25 rows for d = 20"):
        fitted = Golem("ev").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bootstrap(fitted, X, 3)


@pytest.mark.slow
def test_intervals_cover_the_truth_at_about_their_rate():
    # Two columns whose direction is known: the weight is a regression coefficient, its interval the classical one.
    knowledge = Knowledge.of(2, forbidden=[(1, 0)])
    covered = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=100)
        X = np.column_stack([x, 0.8 * x + rng.normal(size=100)])
        low, high = bootstrap(Golem("nv", knowledge=knowledge), X, 60, level=0.9, n_jobs=1).weight_interval[:, 0, 1]
        covered.append(low <= 0.8 <= high)
    assert stats.binomtest(sum(covered), 150, 0.9).pvalue > 1e-2


@pytest.mark.parametrize("noise", ["ev", "nv"])
def test_a_price_as_a_number_is_that_of_its_criterion(noise):
    """The penalty 2 n lambda of an edge stays that of the data, though a resample is said to have n/2 rows."""
    d, n = 12, 300
    X = simulate(d, n, "ER1", "gaussian-nv", random_state=1).data
    penalty = np.log(n // 2) + 2 * np.log(d)
    by_word = bootstrap(Golem(noise), X, 20, random_state=2)
    by_number = bootstrap(Golem(noise, lambda_sparsity=penalty / (2 * n)), X, 20, random_state=2)
    np.testing.assert_allclose(by_number.adjacency_frequency, by_word.adjacency_frequency)


def test_numbers_of_numpy_are_numbers():
    X = simulate(4, 60, "ER1", random_state=3).data
    expected = bootstrap(Golem(lambda_sparsity=0.25), X, 4, level=0.5)
    found = bootstrap(Golem(lambda_sparsity=np.float32(0.25)), X, np.int64(4), level=np.float32(0.5))
    np.testing.assert_array_equal(found.direction_frequency, expected.direction_frequency)
    model = Golem().fit(X)
    stored = [json.loads(describe(model, Supplement(bootstrap=one)).text())["bootstrap"] for one in (found, expected)]
    assert stored[0] == stored[1]


def test_a_search_over_settings_is_resampled_at_its_choice():
    X = simulate(5, 200, "ER1", random_state=0).data
    search = GolemCV(Golem("ev"), select="bic")
    with pytest.raises(ValueError, match="a Golem or a fitted GolemCV"):
        bootstrap(search, X, 2)
    search.fit(X)
    first, second = bootstrap(search, X, 5), bootstrap(search.estimator_, X, 5)
    assert np.array_equal(first.direction_frequency, second.direction_frequency)


@pytest.mark.parametrize("missing", ["error", "em"])
def test_columns_are_those_of_the_model_by_name(missing):
    X = simulate(5, 300, "ER1", random_state=1).data
    if missing == "em":
        X[::9, 2] = np.nan
    table = pd.DataFrame(X, columns=list("abcde"))
    model = Golem("ev", missing=missing, knowledge=Knowledge.of(5, forbidden=[(0, 2)])).fit(table)
    expected = bootstrap(model, table, 5)
    turned = bootstrap(model, table[list("edcba")], 5)
    unnamed = bootstrap(model, X, 5)
    for found in (turned, unnamed):
        assert found.names == expected.names == tuple("abcde")
        np.testing.assert_array_equal(found.direction_frequency, expected.direction_frequency)
        np.testing.assert_allclose(found.weight_interval, expected.weight_interval, atol=1e-6)
        assert [edge.direction_frequency for edge in list_edges(model, found)] == [
            edge.direction_frequency for edge in list_edges(model, expected)
        ]
    with pytest.raises(ValueError, match="The columns are 'v', 'w', 'x', 'y', 'z', not 'a'"):
        bootstrap(model, table.set_axis(list("vwxyz"), axis=1), 5)
    with pytest.raises(ValueError, match="The bootstrap has the columns 'x0'"):
        list_edges(model, bootstrap(Golem("ev", missing=missing), X, 5))


def test_shards_are_those_of_the_model_by_name():
    X = simulate(4, 400, "ER1", random_state=1).data
    model = Golem("ev").fit(Moments.from_rows(X, "abcd"))
    parts = np.split(X, 20)
    expected = bootstrap(model, [Moments.from_rows(part, "abcd") for part in parts], 5)
    turned = bootstrap(model, [Moments.from_rows(part[:, ::-1], "dcba") for part in parts], 5)
    np.testing.assert_array_equal(turned.direction_frequency, expected.direction_frequency)
    unnamed = bootstrap(model, [Moments.from_rows(part) for part in parts], 5)
    assert unnamed.names == tuple("abcd")
    np.testing.assert_array_equal(unnamed.direction_frequency, expected.direction_frequency)


def test_other_columns_than_those_of_the_fit_are_refused():
    X = simulate(5, 200, "ER1", random_state=0).data
    with pytest.raises(ValueError, match="4 columns, but the model was fitted to 5"):
        bootstrap(Golem("ev").fit(X), X[:, :4], 2)
