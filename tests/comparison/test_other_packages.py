"""Adapters of other packages: directions and marks come out in our terms, whatever a package calls a row."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from golem.comparison.other_packages import CATEGORY_PACKAGES, OTHER_PACKAGES, of_end_marks
from golem.comparison.registry import METHODS
from golem.score.sparsity import L0

# 0 -> 1 -> 2 with weights, and the class of 0 -> 2 <- 1, 2 -> 3.
CHAIN = np.array([[0, 1.5, 0], [0, 0, -2.0], [0, 0, 0]])
COLLIDER = np.zeros((4, 4), dtype=bool)
COLLIDER[[0, 1, 2], [2, 2, 3]] = True


@pytest.fixture
def install(monkeypatch):
    """Put a module into the place of a package that is not installed."""

    def put(name, **content):
        for end in range(1, name.count(".") + 2):
            parent = ".".join(name.split(".")[:end])
            monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
        vars(sys.modules[name]).update(content)

    return put


def learned(name):
    return OTHER_PACKAGES[name].learn(np.random.default_rng(0).normal(size=(20, 3)) + 7)


def assert_is_chain(estimate):
    np.testing.assert_array_equal(estimate.weights, CHAIN)
    np.testing.assert_array_equal(estimate.graph, CHAIN != 0)
    np.testing.assert_array_equal(estimate.member, CHAIN != 0)
    assert not estimate.is_class


def test_lingam_is_transposed(install):
    class DirectLiNGAM:
        def fit(self, X):
            return SimpleNamespace(adjacency_matrix_=CHAIN.T)

    install("lingam", DirectLiNGAM=DirectLiNGAM)
    assert_is_chain(learned("lingam"))


def test_gcastle_drops_what_is_below_its_threshold(install):
    class Notears:
        def learn(self, X):
            self.weight_causal_matrix = CHAIN + np.eye(3)[::-1] * 0.1
            self.causal_matrix = (CHAIN != 0).astype(int)
            self.weight_causal_matrix[CHAIN != 0] = CHAIN[CHAIN != 0]

    install("castle.algorithms", Notears=Notears)
    assert_is_chain(learned("gcastle-notears"))


def test_dagma_gets_centred_columns(install):
    class DagmaLinear:
        def __init__(self, loss_type):
            assert loss_type == "l2"

        def fit(self, X):
            np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
            return CHAIN

    install("dagma.linear", DagmaLinear=DagmaLinear)
    assert_is_chain(learned("dagma"))


def test_a_cyclic_answer_has_no_member(install):
    class DirectLiNGAM:
        def fit(self, X):
            return SimpleNamespace(adjacency_matrix_=CHAIN + CHAIN.T)

    install("lingam", DirectLiNGAM=DirectLiNGAM)
    assert learned("lingam").member is None


def test_flopsearch_marks_undirected_edges_with_two(install):
    answer = np.array([[0, 2, 0], [2, 0, 0], [0, 1, 0]])
    called = []
    install("flopsearch", flop=lambda X, penalty, restarts: called.append((X, penalty)) or answer)
    for name in ("flopsearch", "flopsearch-mbic"):
        estimate = learned(name)
        assert estimate.is_class
        np.testing.assert_array_equal(estimate.graph, answer != 0)
    (X, recommended), (_, matched) = called
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert recommended == 2.0
    # The penalty per edge is this many log n, and has to equal that of golem.
    assert matched * np.log(len(X)) == pytest.approx(L0("mbic").penalties(len(X), 3)[1])


def test_fgs_mbic_has_nearly_the_penalty_of_the_order_search():
    penalty = METHODS["fgs-mbic"].model()._penalty(1000, 50)
    assert penalty == pytest.approx(L0("mbic").penalties(1000, 50)[1], abs=0.1)


def end_marks(graph):
    """Write a mixed graph as causal-learn does: [j, i] = 1 and [i, j] = -1 for i -> j, both -1 for i - j."""
    marks = np.zeros(graph.shape, dtype=int)
    for i, j in np.argwhere(graph):
        marks[i, j], marks[j, i] = (-1, -1) if graph[j, i] else (-1, 1)
    return marks


def test_causal_learn_has_a_tail_where_an_edge_begins(install):
    mixed = COLLIDER.copy()
    mixed[3, 2] = True
    np.testing.assert_array_equal(of_end_marks(end_marks(COLLIDER)), COLLIDER)
    np.testing.assert_array_equal(of_end_marks(end_marks(mixed)), mixed)
    both = np.array([[0, 1], [1, 0]])  # an edge that two colliders claim
    np.testing.assert_array_equal(of_end_marks(both), both != 0)
    install("causallearn.search.ScoreBased.GES", ges=lambda X: {"G": SimpleNamespace(graph=end_marks(COLLIDER))})
    estimate = learned("causal-learn-ges")
    np.testing.assert_array_equal(estimate.graph, COLLIDER)
    np.testing.assert_array_equal(estimate.member, COLLIDER)
    found = SimpleNamespace(G=SimpleNamespace(graph=end_marks(mixed)))
    install("causallearn.search.ConstraintBased.PC", pc=lambda X, alpha, show_progress: found)
    estimate = learned("causal-learn-pc")
    np.testing.assert_array_equal(estimate.graph, mixed)
    np.testing.assert_array_equal(estimate.member, COLLIDER)


def test_learners_of_categories_get_codes_and_their_names_come_back_as_numbers(install):
    asked = []

    def search(name, **edges):
        class Search:
            def __init__(self, scoring_method, **options):
                asked.append((name, scoring_method))

            def fit(self, table):
                assert [str(kind) for kind in table.dtypes] == ["category"] * 4
                self.causal_graph_ = SimpleNamespace(**edges)
                return self

        return Search

    hill_climbing = search("HC", edges=lambda: [("0", "2"), ("1", "2"), ("2", "3")])
    ges = search("GES", directed_edges=[("0", "2"), ("1", "2")], undirected_edges=[("2", "3")])
    install("pgmpy.causal_discovery", HillClimbSearch=hill_climbing, GES=ges)
    marks = SimpleNamespace(graph=end_marks(COLLIDER))
    install("causallearn.search.ScoreBased.GES", ges=lambda X, score_func: asked.append(score_func) or {"G": marks})
    found = {name: other.learn(np.eye(4, dtype=np.intp)) for name, other in CATEGORY_PACKAGES.items()}
    assert asked == [("HC", "bdeu"), ("HC", "bic-d"), ("GES", "bic-d"), "local_score_BDeu"]
    for name in ("pgmpy-hc-bdeu", "pgmpy-hc-bic", "causal-learn-ges-bdeu"):
        np.testing.assert_array_equal(found[name].graph, COLLIDER)
        assert found[name].is_class == ("ges" in name)
    undirected = COLLIDER.copy()
    undirected[3, 2] = True
    np.testing.assert_array_equal(found["pgmpy-ges-bic"].graph, undirected)
    assert found["pgmpy-ges-bic"].is_class


def test_installing_is_explained():
    peer = OTHER_PACKAGES["causal-learn-pc"]
    assert peer.install == "pip install causal-learn"
    assert peer.is_installed == (find_spec("causallearn") is not None)


def test_packages_for_experiments_get_tables_and_targets(install):
    asked = {}

    def fit_bic(tables, targets):
        asked["gies"] = ([len(table) for table in tables], targets)
        return COLLIDER.astype(float), -1.0

    def fit(tables, known_targets):
        asked["gnies"] = ([len(table) for table in tables], known_targets)
        return -1.0, COLLIDER.astype(float), known_targets

    install("gies", fit_bic=fit_bic)
    install("gnies", fit=fit)
    tables, targets = [np.ones((5, 4)), np.ones((7, 4))], [[], [1, 3]]
    for name in ("gies", "gnies"):
        estimate = OTHER_PACKAGES[name].learn_environments(tables, targets)
        np.testing.assert_array_equal(estimate.graph, COLLIDER)
        assert estimate.is_class
    assert asked == {"gies": ([5, 7], targets), "gnies": ([5, 7], {1, 3})}


# Entry [k, i, j]: x0 one step back causes x1, x1 causes x2 within a step.
PAST, PRESENT = (np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]), np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]]))


def test_var_lingam_is_transposed(install):
    class VARLiNGAM:
        def __init__(self, lags, **_):
            assert lags == 2

        def fit(self, X):
            self.adjacency_matrices_ = np.array([PRESENT.T, PAST.T])  # it leaves out the last lag

    install("lingam", VARLiNGAM=VARLiNGAM)
    found = OTHER_PACKAGES["var-lingam"].learn_series(np.zeros((20, 3)), 2)
    assert found.graph.shape == (9, 9)
    assert list(zip(*np.nonzero(found.graph), strict=True)) == [(1, 2), (3, 1)]
    assert not found.direction_from


def test_marks_of_tigramite_are_arrows_and_links(install):
    marks = np.full((3, 3, 2), "", dtype="<U3")
    marks[0, 1, 1], marks[1, 2, 0], marks[2, 1, 0] = "-->", "-->", "<--"
    marks[0, 1, 0] = marks[1, 0, 0] = "o-o"

    class PCMCI:
        def __init__(self, frame, test, verbosity):
            pass

        def run_pcmciplus(self, tau_min, tau_max, pc_alpha):
            assert (tau_min, tau_max) == (0, 1)
            return {"graph": marks}

    install("tigramite.pcmci", PCMCI=PCMCI)
    install("tigramite.data_processing", DataFrame=lambda X: X)
    install("tigramite.independence_tests.parcorr", ParCorr=lambda **_: None)
    found = OTHER_PACKAGES["pcmci-plus"].learn_series(np.zeros((20, 3)), 1)
    assert list(zip(*np.nonzero(found.graph), strict=True)) == [(0, 1), (1, 2), (3, 1)]
    assert found.direction_from == {(0, 1): "unchecked"}
    assert found.partially_directed()[1, 0]
