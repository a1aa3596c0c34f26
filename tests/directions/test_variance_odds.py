"""Odds of directions by noise variances and weights: against sums over all members of a class."""

import itertools

import numpy as np
import pytest

from golem import Golem, Knowledge, Moments
from golem.directions import by_variance as variance_odds
from golem.directions.by_variance import LEAST_LOG_ODDS, CandidateClass, direction_odds
from golem.directions.equivalence_class import components
from golem.graphs.dag import cpdag, is_dag
from golem.graphs.edges import Edges
from golem.simulate import simulate


def members_of(graph):
    """Return every member of the class of a graph."""
    directed, lines = cpdag(graph) & ~cpdag(graph).T, np.argwhere(np.triu(cpdag(graph) & cpdag(graph).T))
    for turned in itertools.product((False, True), repeat=len(lines)):
        member = directed.copy()
        for (i, j), turn in zip(lines, turned, strict=True):
            member[(j, i) if turn else (i, j)] = True
        if is_dag(member) and np.array_equal(cpdag(member), cpdag(graph)):
            yield member


def candidate(graph, log_prior=0.0):
    edges = Edges.from_matrix(graph)
    none = np.zeros(len(edges), dtype=bool)
    return CandidateClass(edges, components(edges, edges.find_reversible(), none, np.arange(edges.d)), log_prior)


def log_density(values, centre, spread, errors):
    v = spread**2 + errors
    return -np.sum((values - centre) ** 2 / v + np.log(v)) / 2


def spread_density(values, n):
    """Return the log density of normal values with any mean, for each tau."""
    v = variance_odds._TAUS**2 + 2 / n
    return -np.sum((values - values.mean()) ** 2) / (2 * v) - (len(values) - 1) / 2 * np.log(v)


def evidence_of_member(member, S, n):
    """Return the log evidence of a member if units are comparable, and if they are arbitrary, by plain loops."""
    log_r, volume, sizes, errors, scales, left = [], 0.0, [], [], [], []
    for j in range(len(S)):
        P = np.flatnonzero(member[:, j])
        inverse = np.linalg.inv(S[np.ix_(P, P)])
        b = inverse @ S[P, j]
        r = S[j, j] - S[P, j] @ b
        error = r / n * np.diagonal(inverse)
        square = b**2 + error
        log_r.append(np.log(r))
        volume += len(P) / 2 * np.log(r / n) + np.linalg.slogdet(inverse)[1] / 2 - np.log(square).sum() / 2
        volume -= len(P) * np.log(2)
        sizes += list(np.log(square) / 2)
        errors += list(error / square)
        scales += list(np.log(S[P, P] / S[j, j]) / 2)
        left += [np.log(r / S[j, j])] * len(P)
    log_r, sizes, errors, scales, left = map(np.array, (log_r, sizes, errors, scales, left))
    columns = np.log(np.diagonal(S))
    places = {
        "raw": (sizes, spread_density(log_r, n), 0.0),
        "noise": (sizes + scales - left / 2, spread_density(columns, n), np.log(0.5)),
        "column": (sizes + scales, spread_density(columns, n), np.log(0.5) + (log_r - columns).sum()),
    }
    grid = list(itertools.product(variance_odds._CENTRES, variance_odds._SPREADS))
    found = {}
    for unit, (place, spreads, constant) in places.items():
        weights = [log_density(place, m, omega, errors) for m, omega in grid]
        whole = np.logaddexp.reduce(np.add(weights, variance_odds._WEIGHT_PRIOR))
        noise = np.logaddexp.reduce(spreads + variance_odds._TAU_PRIOR)
        found[unit] = whole + noise + constant + volume - n / 2 * log_r.sum()
    return found["raw"], np.logaddexp(found["noise"], found["column"])


def expected_odds(graphs, priors, S, n):
    """Return the odds of the edges that a class leaves open."""
    sums = {}
    for graph, prior in zip(graphs, priors, strict=True):
        members = list(members_of(graph))
        raw, units = np.array([evidence_of_member(member, S, n) for member in members]).T + prior
        for i, j in itertools.permutations(range(len(S)), 2):
            having = [k for k, member in enumerate(members) if member[i, j]]
            if having:
                share = np.log(0.5 if len(having) < len(members) else 1.0)
                total = [np.logaddexp.reduce(raw[having]), np.logaddexp.reduce(units) + share]
                sums[i, j] = np.logaddexp.reduce([sums.get((i, j), -np.inf), *total])
    is_open = np.any([cpdag(graph) & cpdag(graph).T for graph in graphs], axis=0)
    return {(i, j): sums[i, j] - sums[j, i] for i, j in np.argwhere(graphs[0]).tolist() if is_open[i, j]}


@pytest.mark.parametrize("seed", range(6))
def test_odds_are_those_of_sums_over_all_members(seed):
    drawn = simulate(6, 150, "ER1.5", "gaussian-nv", random_state=seed, weight_scale=0.5)
    S = Moments.from_rows(drawn.data).covariance
    # A second class, in which an edge is turned or missing.
    other = drawn.sem.adjacency.copy()
    i, j = np.argwhere(other)[seed % 3]
    other[i, j], other[j, i] = False, True
    other[j, i] = is_dag(other)
    for graphs, priors in (([drawn.sem.adjacency], [0.0]), ([drawn.sem.adjacency, other], [0.0, 40.0])):
        found = direction_odds([candidate(*one) for one in zip(graphs, priors, strict=True)], S, 150)
        expected = expected_odds(graphs, priors, S, 150)
        assert found.keys() == expected.keys()
        for edge, odds in expected.items():
            assert found[edge] == pytest.approx(odds, abs=1e-6)


def test_odds_do_not_depend_on_a_common_unit():
    drawn = simulate(8, 300, "ER1", "gaussian-nv", random_state=1)
    S = Moments.from_rows(drawn.data).covariance
    one, other = (direction_odds([candidate(drawn.sem.adjacency)], scale * S, 300) for scale in (1.0, 1e6))
    assert one
    for edge, odds in one.items():
        # The prior on weights has no unit here, as all columns have the same one.
        assert other[edge] == pytest.approx(odds, abs=1e-6)


def test_few_columns_and_large_cliques_have_no_odds():
    chain = np.eye(4, k=1, dtype=bool)
    assert direction_odds([candidate(chain)], np.eye(4) + 0.5, 100) == {}
    clique = np.triu(np.ones((10, 10), dtype=bool), 1)
    joined = np.zeros((12, 12), dtype=bool)
    joined[:10, :10], joined[10, 11] = clique, True
    rng = np.random.default_rng(0)
    S = np.cov(
        rng.normal(size=(200, 12)) @ np.triu(rng.uniform(0.2, 0.5, (12, 12))) + rng.normal(size=(200, 12)), rowvar=False
    )
    assert list(direction_odds([candidate(joined)], S, 200)) == [(10, 11)]


def chain_of_three(rng):
    s, b = np.exp(rng.normal(size=3) / 2), rng.uniform(0.2, 0.8, size=2)
    x = rng.normal(size=(1000, 3)) * s
    x[:, 1] += b[0] * x[:, 0]
    x[:, 2] += b[1] * x[:, 1]
    return x


def test_three_columns_with_weak_effects_have_no_direction_by_variance():
    for seed in range(40):
        model = Golem().fit(chain_of_three(np.random.default_rng(seed)))
        assert not model.by_variance_.any()


@pytest.mark.parametrize(("weights", "fewest"), [((0.2, 0.8), 2), ((0.5, 2.0), 30)])
def test_most_claims_by_variance_are_right_if_noise_and_weights_are_similar(weights, fewest):
    right = wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        B = np.triu(rng.random((10, 10)) < 0.2, 1) * rng.uniform(*weights, (10, 10))
        noise = rng.normal(size=(1000, 10)) * np.exp(rng.normal(size=10) / 2)
        model = Golem(shape="off").fit(noise @ np.linalg.inv(np.eye(10) - B))
        right += int((model.by_variance_ & (B != 0)).sum())
        wrong += int((model.by_variance_ & (B != 0).T).sum())
        assert all(
            edge.direction_strength >= 2 * LEAST_LOG_ODDS for edge in model.edges_ if edge.direction_from == "variances"
        )
    assert right >= fewest
    assert wrong <= 0.05 * right


def test_standardized_columns_have_no_direction_by_variance():
    for seed in range(10):
        drawn = simulate(12, 300, "ER1", random_state=seed, standardize=True)
        assert not Golem(shape="off").fit(drawn.data).by_variance_.any()


def test_structure_does_not_depend_on_the_units():
    """Each direction by structure is one of the class with free variances, which does not depend on the units."""
    links = 0
    for seed in range(12):
        data = simulate(10, 200, "ER2", "gaussian-nv", random_state=seed, weight_scale=0.5).data
        model, free = Golem(shape="off").fit(data), Golem("nv", shape="off").fit(data)
        mine, others = (
            {*zip(one.graph_.pairs(), one.graph_.sources, strict=True)} for one in (model, free)
        )  # before they are checked
        assert {edge for edge, source in mine if source == "unchecked"} <= {
            edge for edge, source in others if source == "unchecked"
        }
        links += sum(source == "none" and not model.cpdag_[j, i] for (i, j), source in mine)
    assert links > 5


def test_known_directions_are_not_compared():
    drawn = simulate(8, 1000, "ER1", random_state=3)
    open_edges = np.argwhere(drawn.sem.adjacency & cpdag(drawn.sem.adjacency).T)
    i, j = open_edges[0]
    backwards = Golem(shape="off", knowledge=Knowledge.of(8, required=[(int(j), int(i))])).fit(drawn.data)
    assert backwards.adjacency_[j, i]
    assert not backwards.by_variance_[j, i]


def test_the_member_shown_has_all_claims_and_does_not_depend_on_the_order_of_columns():
    rng = np.random.default_rng(0)
    for seed in range(6):
        for d, standardize in ((8, True), (15, False), (40, False)):
            data = simulate(
                d, 300, "ER1", "gaussian-nv", random_state=seed, weight_scale=0.5, standardize=standardize
            ).data
            order = rng.permutation(d)
            model, other = Golem().fit(data), Golem().fit(data[:, order])
            back = np.argsort(order)
            if not np.array_equal(other.cpdag_[np.ix_(back, back)], model.cpdag_):
                continue  # the search found another class
            free, again = (cpdag(one.noise_choice_.graphs["free"]) for one in (model, other))
            if not np.array_equal(again[np.ix_(back, back)], free):
                continue  # or another one with free variances
            np.testing.assert_array_equal(other.adjacency_[np.ix_(back, back)], model.adjacency_)
            found, again = ({*zip(one.graph_.pairs(), one.graph_.sources, strict=True)} for one in (model, other))
            assert {((order[i], order[j]), source) for (i, j), source in again} == found
