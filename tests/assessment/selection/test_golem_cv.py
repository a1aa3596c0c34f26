"""GolemCV: choices against direct computations, invariances, shards, bad input, scikit-learn's rules."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from golem import DataWarning, Golem, GolemCV, Knowledge, Moments
from golem.assessment.selection import Selection
from golem.data.table_reading import read_table
from golem.score.sparsity import L0
from golem.simulate import simulate
from golem.solvers import LBFGS, Status


@parametrize_with_checks(
    [
        GolemCV(Golem("ev")),
        GolemCV(Golem("ev"), select="cv", cv=2, lambda_sparsity=[0.1, 0.02]),
        GolemCV(Golem("ev", "lbfgs", max_iter=5), select="stability", pairs=1, lambda_sparsity=[0.1]),
    ]
)
def test_scikit_learn_rules(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        check(estimator)


@pytest.fixture(scope="module")
def drawn():
    return simulate(8, 200, "ER2", "gaussian-ev", random_state=4)


def test_a_criterion_buys_no_crowd_of_edges_where_the_likelihood_has_no_bound():
    for seed in range(2):
        noise = Moments.from_rows(np.random.default_rng(seed).normal(size=(10, 25)))
        with pytest.warns(DataWarning, match="n = 10 rows for d = 25"):
            model = GolemCV(select="bic").fit(noise)
        assert model.adjacency_.sum() <= 12
        assert any(row["edges"] > 20 for row in model.path_)


def test_a_choice_at_an_end_of_the_path_is_noted():
    path = [{"lambda_sparsity": value} for value in (0.04, 0.02, 0.01)]
    notes = [Selection("cv", {"lambda_sparsity": row["lambda_sparsity"]}, path).note for row in path]
    assert "highest penalty of the path" in notes[0]
    assert "lambda_sparsity=0.08" in notes[0]
    assert notes[1] == ""
    assert "lowest penalty of the path" in notes[2]
    assert Selection("cv", path[0], path[:1]).note == ""


def test_nothing_of_an_earlier_fit_stays(drawn):
    model = GolemCV(Golem("ev"), select="stability", pairs=2).fit(drawn.data)
    assert model.stable_.shape == (8, 8)
    model.set_params(select="bic", pairs=None).fit(drawn.data[:, :3])
    fresh = GolemCV(Golem("ev"), select="bic").fit(drawn.data[:, :3])
    assert set(vars(model)) == set(vars(fresh))


def test_the_choice_is_a_golem_with_these_parameters(drawn):
    frame = pd.DataFrame(drawn.data, columns=list("abcdefgh"))
    for base in (Golem("ev"), Golem("ev", "lbfgs")):
        model = GolemCV(base).fit(frame)
        alone = clone(base).set_params(**model.best_params_).fit(frame)
        np.testing.assert_array_equal(model.weights_, alone.weights_)
        for name in ("adjacency_", "cpdag_", "undecided_", "sem_", "moments_", "solution_", "raw_weights_"):
            assert getattr(model, name) is getattr(model.estimator_, name)
        assert list(model.feature_names_in_) == list("abcdefgh")
        assert model.score(frame) == pytest.approx(alone.score(frame))
        table = pd.DataFrame(model.path_)
        assert table.chosen.sum() == 1
        chosen = table[table.chosen].iloc[0]
        assert chosen.lambda_sparsity == model.best_params_["lambda_sparsity"]
        assert chosen.score == model.best_score_ == table.score.min()
        assert chosen.edges == model.adjacency_.sum()
        assert model.estimator_.selection_ is model.selection_
        assert not hasattr(model.estimator_.fit(frame), "selection_")  # a new fit has chosen nothing


@pytest.mark.parametrize("criterion", ["bic", "ebic", "mbic"])
@pytest.mark.parametrize("solver", ["order", "lbfgs"])
def test_the_criterion_is_that_of_the_refitted_graph(criterion, solver, drawn):
    model = GolemCV(Golem("nv", solver), criterion=criterion).fit(drawn.data)
    n, d = drawn.data.shape
    centred = drawn.data - drawn.data.mean(axis=0)
    for row in model.path_:
        threshold = {} if solver == "order" else {"threshold": "lr"}
        graph = Golem("nv", solver, lambda_sparsity=row["lambda_sparsity"], **threshold).fit(drawn.data).adjacency_
        expected = 0.0
        for j in range(d):
            parents = centred[:, graph[:, j]]
            residual = centred[:, j] - parents @ np.linalg.lstsq(parents, centred[:, j])[0]
            expected += n * np.log(np.mean(residual**2))
        expected += L0(criterion).graph_penalty(graph.sum(axis=0), n)
        assert row["score"] == pytest.approx(expected, rel=1e-9)
        assert row["edges"] == graph.sum()


def test_higher_penalties_give_fewer_edges_and_a_worse_fit(drawn):
    model = GolemCV(Golem("nv")).fit(drawn.data)  # d <= 12: every point is the exact minimum
    table = pd.DataFrame(model.path_)
    deviance = table.score - L0().penalties(200, 8)[1] * table.edges
    assert table.edge_penalty.is_monotonic_decreasing
    assert table.edges.is_monotonic_increasing
    assert deviance.is_monotonic_decreasing
    np.testing.assert_allclose(table.edge_penalty, 2 * 200 * table.lambda_sparsity)


def test_auto_compares_noise_models_on_one_scale():
    for noise in ("gaussian-ev", "gaussian-nv"):
        data = simulate(8, 300, "ER1", noise, random_state=2).data
        model = GolemCV().fit(data)
        usual = Golem().fit(data)
        np.testing.assert_array_equal(model.adjacency_, usual.adjacency_)
        assert model.noise_choice_.kind == usual.noise_choice_.kind


@pytest.mark.parametrize("solver", ["order", "lbfgs"])
def test_held_out_likelihood_by_hand(solver, drawn):
    penalties, n = [0.1, 0.02], 200
    threshold = {} if solver == "order" else {"threshold": "lr", "lambda_dag": 5.0}
    base = Golem("ev", solver, **({} if solver == "order" else {"lambda_dag": 5.0}))
    model = GolemCV(base, "cv", lambda_sparsity=penalties, cv=4, random_state=3).fit(drawn.data)
    folds = np.array_split(np.random.default_rng(3).permutation(n), 4)
    for row, penalty in zip(model.path_, penalties, strict=True):
        scores = []
        for fold in folds:
            train = np.delete(drawn.data, fold, axis=0)
            factor = n / len(train)
            own = penalty * (factor if solver == "order" else np.sqrt(factor))
            sem = Golem("ev", solver, lambda_sparsity=own, **threshold).fit(train).sem_
            scores.append(multivariate_normal(train.mean(axis=0), sem.covariance).logpdf(drawn.data[fold]).mean())
        assert row["score"] == pytest.approx(np.mean(scores), rel=1e-6)


def test_cross_validation_takes_the_sparsest_within_one_standard_error(drawn):
    model = GolemCV(Golem("ev"), "cv").fit(drawn.data)
    table = pd.DataFrame(model.path_)
    near = table.score.max() - table.score <= table.standard_error
    assert table[table.chosen].edges.item() == table[near].edges.min()
    assert table.standard_error[table.score.idxmax()] == 0


@pytest.mark.parametrize("select", ["bic", "cv", "stability"])
def test_a_choice_among_equal_graphs_is_not_at_their_border(select):
    """Strong edges and many rows: a wide range of penalties gives the true graph."""
    drawn = simulate(6, 2000, "ER1", "gaussian-ev", random_state=1)
    penalties = np.geomspace(10, 100, 9)
    grid = {"lambda_sparsity": list(penalties / 4000)} | ({"pairs": 3} if select == "stability" else {})
    model = GolemCV(Golem("ev"), select, **grid).fit(drawn.data)
    table = pd.DataFrame(model.path_)
    assert table.edges.nunique() == 1
    assert table.chosen[4]


@pytest.mark.parametrize("d", [20, 30])
def test_halves_confirm_no_edges_of_noise(d):
    X = np.random.default_rng(1).normal(size=(200, d)) * np.arange(1, d + 1)
    model = GolemCV(Golem("nv"), "stability", pairs=5)
    with pytest.warns(DataWarning, match="no more than pure noise would"):
        model.fit(X)
    assert model.best_params_ == GolemCV(Golem("nv"), "bic").fit(X).best_params_
    assert model.adjacency_.sum() <= 1


def test_the_fewest_edges_among_agreements_that_hardly_differ():
    drawn = simulate(12, 100, "ER2", "gaussian-ev", random_state=15)
    table = pd.DataFrame(GolemCV(Golem("ev"), "stability", pairs=6).fit(drawn.data).path_)
    near = 1 - table.score <= 1.05 * (1 - table.score.max())
    assert table[table.chosen].edges.item() == table[near].edges.min() < table.edges[table.score.idxmax()]


def test_graphs_that_cannot_differ_are_no_reason_for_a_warning():
    x = np.random.default_rng(0).normal(size=200)
    X = np.column_stack([x, x + 0.1 * np.random.default_rng(1).normal(size=200)])
    model = GolemCV(Golem("nv"), "stability", pairs=3).fit(X)
    assert all(row["score"] == -np.inf for row in model.path_)
    assert model.adjacency_.sum() == 1


def test_cross_validation_goes_over_both_penalties(drawn):
    model = GolemCV(Golem("ev", LBFGS(tolerance=1e-2)), "cv", cv=2, lambda_sparsity=[0.05, 0.02]).fit(drawn.data)
    assert [(row["lambda_sparsity"], row["lambda_dag"]) for row in model.path_] == [
        (penalty, dag) for penalty in (0.05, 0.02) for dag in (1.0, 5.0, 25.0)
    ]
    assert set(model.best_params_) == {"lambda_sparsity", "lambda_dag", "threshold"}


def test_thresholds_share_the_solve(drawn):
    model = GolemCV(Golem("ev", "lbfgs"), lambda_sparsity=[0.02], threshold=[0.1, 0.3, 0.5, "lr"]).fit(drawn.data)
    for row in model.path_:
        alone = Golem("ev", "lbfgs", lambda_sparsity=0.02, threshold=row["threshold"]).fit(drawn.data)
        assert row["edges"] == alone.adjacency_.sum()
    edges = [row["edges"] for row in model.path_ if row["threshold"] != "lr"]
    assert edges == sorted(edges, reverse=True)
    assert model.best_params_["threshold"] in (0.1, 0.3, 0.5, "lr")


@pytest.mark.parametrize("noise", ["ev", "nv"])
def test_frequencies_are_those_of_a_plain_loop(noise, drawn):
    penalty, n = 0.02, 199
    data = drawn.data[:n]  # an odd row is left out of every pair
    model = GolemCV(Golem(noise), "stability", lambda_sparsity=[penalty], pairs=5, stable=0.7, random_state=9).fit(data)
    rng, joined, directed = np.random.default_rng(9), np.zeros((8, 8)), np.zeros((8, 8))
    by_content = read_table(data).parts[0].units.by_content()
    for _ in range(5):
        shuffled = by_content[rng.permutation(n)]
        for half in (shuffled[:99], shuffled[99:198]):
            one = Golem(noise, lambda_sparsity=penalty * n / 99, shape="off").fit(data[half])
            graph, undecided = one.adjacency_, one.graph_.matrix(one.graph_.directed_by("none"))
            for i in range(8):
                for j in range(8):
                    directed[i, j] += 0.5 if undecided[i, j] or undecided[j, i] else graph[i, j]
                    joined[i, j] += graph[i, j] or graph[j, i]
    np.testing.assert_allclose(model.adjacency_frequency_, joined / 10)
    np.testing.assert_allclose(model.direction_frequency_, directed / 10)
    np.testing.assert_array_equal(model.stable_, model.adjacency_ & (joined >= 7))
    row, edges, above = model.path_[0], np.triu(joined / 10).sum(), np.triu_indices(8, 1)
    f, g = (joined / 10)[above], (model.adjacency_ | model.adjacency_.T)[above]
    seen, chance = np.mean(np.where(g, f, 1 - f)), f.mean() * g.mean() + (1 - f.mean()) * (1 - g.mean())
    assert row["score"] == pytest.approx((seen - chance) / (1 - chance))
    assert row["stable_edges"] == (np.triu(joined) >= 7).sum()
    assert row["expected_false"] == pytest.approx(edges**2 / (0.4 * 28))


@pytest.mark.parametrize("select", ["bic", "cv", "stability"])
def test_permuting_the_columns_changes_no_choice(select, drawn, rng):
    order = rng.permutation(8)
    options = {"pairs": 5} if select == "stability" else {}
    model, permuted = (GolemCV(Golem("nv"), select, **options).fit(X) for X in (drawn.data, drawn.data[:, order]))
    assert permuted.best_params_ == pytest.approx(model.best_params_)
    for one, other in zip(model.path_, permuted.path_, strict=True):
        assert one == pytest.approx(other, rel=1e-6)


@pytest.mark.parametrize("select", ["cv", "stability"])
def test_seeds_processes_and_the_count_of_graphs(select, drawn):
    options = {"pairs": 3} if select == "stability" else {}
    told = []
    first = GolemCV(Golem("ev"), select, random_state=1, callback=lambda *state: told.append(state), **options)
    second = GolemCV(Golem("ev"), select, random_state=1, n_jobs=2 if select == "cv" else None, **options)
    other = GolemCV(Golem("ev"), select, random_state=2, **options)
    paths = [model.fit(drawn.data).path_ for model in (first, second, other)]
    assert paths[0] == paths[1] != paths[2]
    length, parts = len(paths[0]), 5 if select == "cv" else 6
    counts = [*range(1, length + 1), *(length * (k + 2) for k in range(parts))]
    assert told == [(count, length * (parts + 1)) for count in counts]


def test_shards_take_the_place_of_rows(drawn):
    shards = [Moments.from_rows(part) for part in np.array_split(drawn.data, 20)]
    for select in ("bic", "cv", "stability"):
        model = GolemCV(Golem("ev"), select, lambda_sparsity=[0.1, 0.02]).fit(shards)
        np.testing.assert_allclose(model.moments_.covariance, Moments.from_rows(drawn.data).covariance, atol=1e-12)
        assert model.adjacency_.sum() > 0
    with pytest.raises(ValueError, match="5 folds need at least 5 shards; got shards = 3"):
        GolemCV(Golem("ev"), "cv").fit(shards[:3])
    with pytest.raises(ValueError, match="shards_from_file"):
        GolemCV(select="cv").fit(Moments.from_rows(drawn.data))


def test_an_interrupted_path_is_no_answer(drawn):
    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GolemCV(Golem("ev", "lbfgs", callback=interrupt)).fit(drawn.data)
    with pytest.warns(ConvergenceWarning):  # the last fit of all is kept, and marked
        model = GolemCV(Golem("ev", "lbfgs", max_iter=2), lambda_sparsity=[0.02]).fit(drawn.data)
    assert model.solution_.status is Status.MAX_ITER


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (GolemCV(select="aic"), "select must be one of"),
        (GolemCV(cv=3), "needs select='cv'"),
        (GolemCV(select="cv", criterion="bic"), "needs select='bic'"),
        (GolemCV(select="cv", cv=1), "at least 2"),
        (GolemCV(select="stability", pairs=0), "at least 1"),
        (GolemCV(select="stability", stable=0.5), "above 0.5"),
        (GolemCV(criterion="aic"), "Unknown penalty per edge 'aic'"),
        (GolemCV(Golem(lambda_sparsity="bic")), "replaces lambda_sparsity='bic'. Omit one"),
        (GolemCV(Golem(solver="lbfgs", threshold=0.3), threshold=[0.1]), "Leave one of them out"),
        (GolemCV(Golem(solver="lbfgs", cycles="none")), "cycles='none'"),
        (GolemCV(threshold=[0.1]), "needs solver='adam' or 'lbfgs'"),
        (GolemCV(lambda_sparsity=[]), r"a list of values to choose from; got \[\]"),
        (GolemCV(lambda_sparsity=1.0), "a list of values to choose from; got 1.0"),
        (GolemCV(lambda_sparsity=[-1.0]), "at least 0"),
        (GolemCV(Golem(threshold=0.1)), "solver='order' does not use it"),
        (GolemCV("order"), "golem.Golem"),
    ],
)
def test_contradictions_are_refused(model, words, drawn):
    with pytest.raises(ValueError, match=words):
        model.fit(drawn.data)


@pytest.mark.parametrize("select", ["cv", "stability"])
def test_em_without_missing_values_changes_nothing(select, drawn):
    options = {"lambda_sparsity": [0.1, 0.02], "random_state": 1} | ({"pairs": 2} if select == "stability" else {})
    plain, em = (GolemCV(Golem("ev", missing=m), select, **options).fit(drawn.data) for m in ("error", "em"))
    assert plain.path_ == em.path_


def test_held_out_likelihood_is_that_of_what_was_observed(drawn):
    X = np.where(np.random.default_rng(0).random(drawn.data.shape) < 0.1, np.nan, drawn.data)
    model = GolemCV(Golem("ev", missing="em"), "cv", lambda_sparsity=[0.02], cv=4, random_state=3).fit(X)
    scores = []
    for fold in np.array_split(np.random.default_rng(3).permutation(200), 4):
        train = Moments.from_rows(np.delete(X, fold, axis=0), missing="em")
        penalty = 0.02 * model.moments_.n / train.n
        sem, total = Golem("ev", lambda_sparsity=penalty).fit(train).sem_, 0.0
        for row in X[fold]:
            seen = ~np.isnan(row)
            if seen.any():
                normal = multivariate_normal(sem.mean[seen], sem.covariance[np.ix_(seen, seen)])
                total += normal.logpdf(row[seen])
        scores.append(total / len(fold))
    assert model.path_[0]["score"] == pytest.approx(np.mean(scores), rel=1e-4)


@pytest.mark.parametrize("select", ["cv", "stability"])
def test_with_little_missing_the_choice_is_near_that_of_complete_rows(select, drawn):
    X = np.where(np.random.default_rng(0).random(drawn.data.shape) < 0.02, np.nan, drawn.data)
    more = {"pairs": 5} if select == "stability" else {}
    complete, em = (
        GolemCV(Golem("ev", missing=missing), select, **more).fit(rows)
        for missing, rows in (("error", drawn.data), ("em", X))
    )
    assert (em.adjacency_ != complete.adjacency_).sum() <= 1
    assert em.missing_.method == "em"


def test_knowledge_is_obeyed_along_the_path(drawn):
    known = Knowledge.of(8, tiers=[[0, 1, 2, 3], [4, 5, 6, 7]], required=[(0, 7)])
    model = GolemCV(Golem("nv", knowledge=known), "stability", pairs=3).fit(drawn.data)
    assert model.adjacency_[0, 7]
    assert not np.any(model.adjacency_ & known.forbidden)
    assert not np.any(model.direction_frequency_[known.forbidden])
