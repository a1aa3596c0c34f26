"""FGS against causal-learn's GES, against greedy search by its definition, and on populations."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from golem.baselines.fgs import FGS
from golem.data.checks import DataWarning
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.graphs.dag import cpdag, is_dag, topological_order
from golem.metrics import shd_c
from golem.simulate import random_sem, simulate

ORACLE = np.load(Path(__file__).parents[1] / "oracles" / "fgs_pc.npz")


def stored(name, k):
    d = ORACLE["d"][k]
    return ORACLE[name][k][:d, :d]


def node_score(v, parents, S, n, penalty):
    """Score of a node by regression, independent of the code under test."""
    parents = list(parents)
    r = S[v, v]
    if parents:
        r = r - S[v, parents] @ np.linalg.lstsq(S[np.ix_(parents, parents)], S[parents, v], rcond=None)[0]
    return n * np.log(r) + penalty * len(parents)


def total_score(dag, S, n, penalty):
    return sum(node_score(v, np.nonzero(dag[:, v])[0], S, n, penalty) for v in range(len(dag)))


# causal-learn's score per node is -n/2 (1 + log r) - lambda (k + 1) log n; ours is -2 times it without the constant.
# There is nothing to explain: ties between different classes do not occur in random data, so both take the same steps.
def test_answers_and_scores_are_those_of_causal_learns_ges_on_120_problems():
    for k in range(len(ORACLE["d"])):
        d, n, discount = int(ORACLE["d"][k]), int(ORACLE["n"][k]), float(ORACLE["discount"][k])
        S = stored("covariance", k)
        model = FGS(discount).fit(Moments.from_covariance(S, n))
        np.testing.assert_array_equal(model.cpdag_, stored("ges", k), err_msg=f"problem {k}")
        np.testing.assert_array_equal(cpdag(model.adjacency_), model.cpdag_)
        expected = total_score(model.adjacency_, S, n, discount * np.log(n)) + d * (n + discount * np.log(n))
        assert ORACLE["ges_score"][k] == pytest.approx(expected, rel=1e-9)


def greedy_by_definition(S, n, penalty, dags):
    """GES as it is defined: every single-edge change of every member of the present class, the best one each time."""
    classes = {}
    for dag in dags:
        classes.setdefault(cpdag(dag).tobytes(), []).append(dag)
    score = {key: total_score(group[0], S, n, penalty) for key, group in classes.items()}
    edges = {key: int(group[0].sum()) for key, group in classes.items()}
    known = {dag.tobytes() for dag in dags}
    present = cpdag(np.zeros_like(dags[0])).tobytes()
    for step in (1, -1):
        while True:
            reached = set()
            for member in classes[present]:
                for i, j in np.argwhere(~np.eye(len(member), dtype=bool)):
                    changed = member.copy()
                    changed[i, j] = not changed[i, j]
                    if changed.sum() - member.sum() == step and changed.tobytes() in known:
                        reached.add(cpdag(changed).tobytes())
            best = min(reached, key=score.__getitem__, default=present)
            assert all(edges[key] == edges[present] + step for key in reached)
            if score[best] >= score[present]:
                break
            present = best
    return np.frombuffer(present, dtype=bool).reshape(dags[0].shape)


@pytest.mark.parametrize("penalty", [0.5, 5.0])
def test_the_search_is_the_greedy_search_of_its_definition(penalty, all_dags, rng):
    dags = all_dags(4)
    n = 100
    for _ in range(12):
        X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4))
        moments = Moments.from_rows(X)
        model = FGS(penalty / np.log(n)).fit(moments)
        np.testing.assert_array_equal(model.cpdag_, greedy_by_definition(moments.covariance, n, penalty, dags))


def test_a_population_gives_the_true_class():
    for seed in range(30):
        sem = random_sem(6 + seed % 7, ["ER1", "ER2", "SF2"][seed % 3], "gaussian-nv", random_state=seed)
        model = FGS().fit(Moments.from_covariance(sem.covariance, 10**8))
        np.testing.assert_array_equal(model.cpdag_, cpdag(sem.adjacency), err_msg=f"seed {seed}")


def test_no_operator_is_lost_that_would_lower_the_score():
    # What waits for a path to close, or was not computed again, must not be worth anything in the end.
    from golem.baselines.fgs import EdgeScores, GreedySearch
    from golem.graphs.pdag import members

    for seed in range(4):
        moments = Moments.from_rows(simulate(25, 400, "ER2", random_state=seed).data)
        scores = EdgeScores(moments.standardized().covariance, 400, np.log(400))
        search = GreedySearch(scores, 25)
        search._climb(search._insertions, search._insert)
        graph = search.graph
        for y in range(25):
            for clique in graph.cliques(graph.neighbours[y]):
                gains = scores.gains(y, list(members(graph.parents[y] | clique)))
                for x in np.nonzero(gains > 0)[0].tolist():
                    assert not graph.may_insert(x, y, clique) or graph.open_path(y, x, clique)
        graph = search.run()
        for y in range(25):
            for x in members(graph.parents[y] | graph.neighbours[y]):
                for clique in graph.cliques(graph.neighbours[y] & graph.adjacent[x]):
                    given = (graph.parents[y] | clique) & ~(1 << x)
                    assert scores.gain(x, y, list(members(given))) >= 0


def test_the_answer_follows_the_columns_and_ignores_their_units(rng):
    data = simulate(12, 300, "ER2", random_state=3).data
    model = FGS().fit(data)
    order = rng.permutation(12)
    moved = FGS().fit(data[:, order] * rng.uniform(1e-3, 1e3, 12) + 5.0)
    np.testing.assert_array_equal(moved.cpdag_, model.cpdag_[np.ix_(order, order)])


def test_bic_is_that_of_a_fitted_model():
    from golem.model.linear_sem import LinearSEM

    moments = Moments.from_rows(simulate(8, 300, "ER2", random_state=0).data)
    model = FGS(2.0).fit(moments)
    S, B, r = moments.covariance, np.zeros((8, 8)), np.zeros(8)
    for v in range(8):
        parents = np.nonzero(model.adjacency_[:, v])[0]
        B[parents, v] = np.linalg.solve(S[np.ix_(parents, parents)], S[parents, v])
        r[v] = S[v, v] - S[v, parents] @ B[parents, v]
    sem = LinearSEM(B, r, moments.mean - moments.mean @ B)
    assert model.bic_ == pytest.approx(sem.bic(moments), rel=1e-12)


def test_the_price_of_an_edge_is_the_discounted_bic_and_the_odds_of_the_prior():
    # Two columns: an edge where -n log(1 - rho^2) is above the penalty, and none below.
    n, d = 200, 5
    for discount, prior in ((1.0, 0.0), (2.0, 0.0), (1.0, 1.0), (0.5, 2.0)):
        penalty = discount * np.log(n) + (2 * np.log((d - 1 - prior) / prior) if prior else 0.0)
        for share, expected in ((1.01, 1), (0.99, 0)):
            S = np.eye(d)
            S[0, 1] = S[1, 0] = np.sqrt(-np.expm1(-share * penalty / n))
            model = FGS(discount, structure_prior=prior).fit(Moments.from_covariance(S, n))
            assert model.adjacency_.sum() == expected


def test_more_parents_than_allowed_are_not_given():
    sem = random_sem(12, "SF4", random_state=0)
    moments = Moments.from_rows(sem.sample(1000, 0))
    assert FGS().fit(moments).adjacency_.sum(axis=0).max() > 2
    for most in (0, 1, 2):
        adjacency = FGS(max_parents=most).fit(moments).adjacency_
        assert adjacency.sum(axis=0).max() <= most
    few = Moments.from_rows(sem.sample(8, 1))
    with pytest.warns(DataWarning, match="n = 8 rows"):
        assert FGS(0.0).fit(few).adjacency_.sum(axis=0).max() <= 3


def test_true_knowledge_is_obeyed_and_costs_nothing_on_a_population():
    for seed in range(12):
        sem = random_sem(9, "ER2", random_state=seed)
        place = np.argsort(topological_order(sem.adjacency))
        tiers = [[v for v in range(9) if place[v] < 4], [v for v in range(9) if place[v] >= 4]]
        required = [(int(i), int(j)) for i, j in np.argwhere(sem.adjacency)[::4]]
        known = Knowledge.of(9, required=required, tiers=tiers)
        model = FGS(knowledge=known).fit(Moments.from_covariance(sem.covariance, 10**7))
        assert not (model.adjacency_ & known.forbidden).any()
        assert (model.adjacency_ | ~known.required).all()
        np.testing.assert_array_equal(cpdag(model.adjacency_), model.cpdag_)
        np.testing.assert_array_equal(model.cpdag_, cpdag(sem.adjacency), err_msg=f"seed {seed}")


def test_any_knowledge_is_obeyed(rng):
    moments = Moments.from_rows(simulate(8, 300, "ER2", random_state=5).data)
    free = FGS().fit(moments)
    np.testing.assert_array_equal(FGS(knowledge=Knowledge.of(8)).fit(moments).cpdag_, free.cpdag_)
    for _ in range(25):
        order = rng.permutation(8).tolist()
        known = Knowledge.of(
            8,
            required=[(order[0], order[5]), (order[2], order[3])],
            forbidden=[
                (order[j], order[i])
                for i in range(8)
                for j in range(i)
                if rng.random() < 0.4 and (j, i) != (0, 5) and (j, i) != (2, 3)
            ],
            tiers=[order[:3], order[3:]],
        )
        model = FGS(knowledge=known).fit(moments)
        assert is_dag(model.adjacency_)
        assert not (model.adjacency_ & known.forbidden).any()
        assert (model.adjacency_ | ~known.required).all()
        np.testing.assert_array_equal(cpdag(model.adjacency_), model.cpdag_)


def test_a_required_edge_stays_and_a_forbidden_pair_is_not_joined():
    S = np.eye(3)
    S[0, 1] = S[1, 0] = 0.9
    moments = Moments.from_covariance(S, 1000)
    model = FGS(knowledge=Knowledge.of(3, required=[(2, 0)], forbidden=[(0, 1), (1, 0)])).fit(moments)
    assert np.argwhere(model.adjacency_).tolist() == [[2, 0]]


def test_a_thousand_columns_take_seconds():
    import time

    drawn = simulate(1000, 2000, "ER1", random_state=0)
    moments = Moments.from_rows(drawn.data)
    began = time.perf_counter()
    model = FGS(structure_prior=1).fit(moments)
    assert time.perf_counter() - began < 30  # 0.6 s on a quiet machine
    assert shd_c(drawn.sem.adjacency, model.cpdag_, cpdag=True) < 100


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"penalty_discount": -1.0}, "penalty_discount"),
        ({"penalty_discount": np.inf}, "penalty_discount"),
        ({"structure_prior": -1.0}, "structure_prior"),
        ({"structure_prior": 4.0}, "below 4"),
        ({"max_parents": -1}, "max_parents"),
        ({"knowledge": Knowledge.of(3)}, "knowledge"),
    ],
)
def test_bad_parameters_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        FGS(**options).fit(simulate(5, 50, "ER1", random_state=0).data)


def test_columns_that_are_combinations_of_others(rng):
    X = rng.normal(size=(100, 4))
    with pytest.raises(ValueError, match="linear combination"):
        FGS().fit(np.column_stack([X, X[:, 0] + X[:, 1]]))
    # With fewer rows than columns a total beside its parts passes the checks; it must not break the search.
    few = rng.normal(size=(12, 14))
    few[:, 13] = few[:, 0] + few[:, 1] + few[:, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = FGS().fit(few)
    assert np.isfinite(model.bic_)


@parametrize_with_checks([FGS(), FGS(2.0, structure_prior=0.5)])
def test_scikit_learn_rules(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        check(estimator)


def test_it_is_an_estimator():
    data = simulate(6, 200, "ER1", random_state=2).data
    model = FGS(1.5, structure_prior=0.5)
    twin = clone(model).fit(data)
    assert not hasattr(twin, "weights_")
    assert twin.get_params()["structure_prior"] == 0.5
    assert twin.n_features_in_ == 6
    assert twin.n_scores_ > 0
    before = data.copy()
    np.testing.assert_array_equal(twin.fit(data).cpdag_, clone(model).fit(data).cpdag_)
    np.testing.assert_array_equal(data, before)
