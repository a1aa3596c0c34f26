"""Evidence for structural directions: margins against whole searches, stability against refits by hand, and claims."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest

from golem import DataWarning, Golem, Knowledge, Moments
from golem.diagnostics import diagnose
from golem.directions.by_structure import LEAST_MARGIN, LEAST_STABILITY
from golem.graphs.dag import is_dag
from golem.graphs.edges import Edges
from golem.output import list_edges
from golem.score.gaussian_columns import GaussianColumns
from golem.score.solution import Status
from golem.search.reversals import Reversals
from golem.simulate import simulate


def penalized(S, n, penalty):
    return GaussianColumns(S, n, penalty * np.arange(len(S)))


def all_dags(d):
    pairs = list(itertools.combinations(range(d), 2))
    for kinds in itertools.product((0, 1, 2), repeat=len(pairs)):
        graph = np.zeros((d, d), dtype=bool)
        for (i, j), kind in zip(pairs, kinds, strict=True):
            graph[i, j], graph[j, i] = kind == 1, kind == 2
        if is_dag(graph):
            yield graph


def test_reversals_of_few_nodes_are_exact():
    """Against all graphs of four nodes."""
    X = simulate(4, 200, "ER1.5", random_state=3).data
    S, n, penalty = np.cov(X.T, bias=True), 200, 6.0

    def score(graph):
        total = 0.0
        for j in range(4):
            parents = np.flatnonzero(graph[:, j])
            r = S[j, j] - S[j, parents] @ np.linalg.lstsq(S[np.ix_(parents, parents)], S[parents, j])[0]
            total += n * np.log(r / S[j, j]) + penalty * len(parents)
        return total

    scores = [(score(graph), graph) for graph in all_dags(4)]
    empty = Edges.from_matrix(np.zeros((4, 4), dtype=bool))
    found = Reversals(penalized(S, n, penalty), None, None, empty)
    assert found.best.score == pytest.approx(min(value for value, _ in scores))
    pairs = list(itertools.permutations(range(4), 2))
    for (i, j), other in zip(pairs, found.reversed(pairs), strict=True):
        assert other.score == pytest.approx(min(value for value, graph in scores if graph[j, i]))
        assert (j, i) in other.edges.pairs()


@pytest.mark.parametrize("seed", range(2))
def test_local_reversals_are_nearly_as_good_as_whole_searches(seed):
    d, n, penalty = 25, 500, 9.0
    moments = Moments.from_rows(simulate(d, n, "ER2", "gaussian-nv", random_state=seed, standardize=True).data)
    model = Golem("nv", lambda_sparsity=penalty / (2 * n), shape="off").fit(moments)
    start = Edges.from_matrix(model.adjacency_).by_child()
    search = Reversals(penalized(moments.covariance, n, penalty), None, None, start)
    arrows = [tuple(map(int, pair)) for pair in np.argwhere(model.cpdag_ & ~model.cpdag_.T)][:12]
    for (i, j), other in zip(arrows, search.reversed(arrows), strict=True):
        known = Knowledge.of(d, required=[(j, i)])
        whole = Golem("nv", lambda_sparsity=penalty / (2 * n), shape="off", knowledge=known).fit(moments)
        loss = 2 * n * (whole.solution_.terms["score"] - model.solution_.terms["score"])
        assert (other.score - search.best.score > LEAST_MARGIN) == (loss > LEAST_MARGIN)
        assert other.edges.matrix()[j, i]
        assert is_dag(other.edges.matrix())


@pytest.fixture(scope="module")
def collider():
    """Return a -> c <- b -> e, with clear effects."""
    rng = np.random.default_rng(0)
    a, b, c, e = rng.normal(size=(4, 3000))
    return pd.DataFrame({"a": a, "b": b, "c": a + b + c, "e": b + e})


def test_clear_directions_are_claimed_and_open_ones_are_links(collider):
    model = Golem("nv").fit(collider)
    found = {(edge.source, edge.target): edge for edge in model.edges_}
    assert found["a", "c"].direction_from == found["b", "c"].direction_from == "structure"
    assert {found.get(("b", "e"), found.get(("e", "b"))).direction_from} == {"none"}
    assert found["a", "c"].direction_strength >= LEAST_MARGIN
    assert model.graph_.stability[model.graph_.directed_by("structure")].min() >= LEAST_STABILITY
    assert model.pdag_.sum() == 4


def test_directions_are_links_until_they_are_checked(collider):
    model = Golem("nv", evidence="fast").fit(collider)
    assert {edge.direction_from for edge in model.edges_} == {"unchecked", "none"}
    np.testing.assert_array_equal(model.undecided_, model.adjacency_)
    assert "3 links among 4 variables; 0 of 3 directions are known; 2 follow" in (shown := str(model))
    assert "check_directions(X)" in shown
    assert diagnose(model)["directions"].finding.startswith("2 of 3 directions were not checked, and 1 more")
    with pytest.raises(ValueError, match=r"check_directions\(X\)"):
        model.check_directions()
    full = Golem("nv", evidence="full").fit(collider)
    np.testing.assert_array_equal(model.check_directions(collider).pdag_, full.pdag_)
    assert full.undecided_.sum() == 1
    without_rows = Golem("nv").fit(Moments.from_rows(collider))
    assert without_rows.undecided_.sum() == 3


def test_rows_are_not_read_again_after_the_user_changed_them(collider):
    X = collider.to_numpy().copy()
    model = Golem("nv").fit(X)
    X[:] = 0
    np.testing.assert_array_equal(model.pdag_, Golem("nv").fit(collider.to_numpy()).pdag_)
    assert "_table" not in pickle.loads(pickle.dumps(Golem("nv").fit(X=collider))).__dict__


@pytest.mark.parametrize("statistics", ["dense", "sparse"])  # the sparse search of reversals looks at fewer orders
def test_claims_do_not_depend_on_the_order_of_rows_and_columns(statistics):
    rng = np.random.default_rng(5)
    for seed in range(3):
        drawn = simulate(15, 200, "ER2", "gaussian-nv", random_state=seed, weight_scale=0.5)
        table = pd.DataFrame(drawn.data, columns=[f"v{k}" for k in range(15)])
        other = table.sample(frac=1, random_state=seed)
        if statistics == "dense":
            other = other[list(rng.permutation(table.columns))]
        models = Golem(statistics=statistics).fit(table), Golem(statistics=statistics, random_state=0).fit(other)
        first, second = ({edge[:2]: edge.direction_from for edge in m.check_directions().edges_} for m in models)
        assert first == second


def test_a_weak_direction_is_a_link():
    """A collider of 60 rows with weak effects: the class has both directions, but neither survives."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    X[:, 2] += 0.45 * X[:, 0] + 0.45 * X[:, 1]
    model = Golem("nv").fit(X)
    assert model.graph_.directed_by("unchecked").sum() == 2
    assert model.undecided_.sum() == 2


def test_dependent_rows_count_less():
    """A claim from 600 independent rows is not made if every row is much like the one before it."""
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(600, 3))
    slow = np.zeros_like(noise)
    for t in range(1, 600):
        slow[t] = 0.97 * slow[t - 1] + noise[t]

    def collider(E):
        return np.column_stack([E[:, 0], E[:, 1], 0.7 * E[:, 0] + 0.7 * E[:, 1] + E[:, 2]])

    assert Golem("nv").fit(collider(noise)).graph_.directed_by("unchecked").sum() == 2
    assert Golem("nv").fit(collider(noise)).undecided_.sum() == 0
    with pytest.warns(DataWarning, match="Neighbouring rows depend"):
        model = Golem("nv").fit(collider(slow))
    assert not model.graph_.directed_by("structure").any()
    assert model.undecided_.sum() == model.adjacency_.sum()


def test_scores_of_categories_must_agree():
    rng = np.random.default_rng(1)
    a, b = rng.integers(2, size=(2, 2000))
    c = ((a + b + (rng.random(2000) < 0.15)) % 2).astype(int)  # a and b matter together alone
    d = np.where(rng.random(2000) < 0.2, 1 - a, a)
    table = pd.DataFrame({"a": a, "b": b, "c": c, "d": d}).astype(str).astype("category")
    model = Golem(score_function="bdeu").fit(table)
    arrows = {edge[:2] for edge in model.edges_ if edge.direction_from == "structure"}
    assert {"a", "b", "c"} <= {end for edge in model.edges_ for end in edge[:2]}
    assert arrows == set()  # the degenerate Gaussian score does not see an interaction without main effects


def test_a_graph_that_is_dense_for_its_rows_has_no_directions():
    X = simulate(20, 2000, "ER6", random_state=1).data
    many, few = (Golem("nv").fit(rows).check_directions() for rows in (X, X[:200]))
    assert min(len(many.edges_), len(few.edges_)) > 4 * 20
    assert any(edge.directed for edge in many.edges_)
    assert not any(edge.directed for edge in few.edges_)
    assert "No direction that follows from the structure is claimed" in str(diagnose(few, X[:200])["density"])


def test_factors_are_not_directions():
    """Two hidden causes of 24 columns: the graph has many edges, none of them real, and no direction is claimed."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(800, 1)) @ rng.normal(size=(1, 24)) + rng.normal(size=(800, 24))
    model = Golem("nv").fit(X)
    assert len(model.graph_) > 10
    assert not model.graph_.directed_by("structure").any()
    finding = diagnose(model)["factors"]
    assert finding.level == "warning"
    assert finding.finding.startswith("1 hidden common cause would explain")
    few = Golem().fit(rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 15)) + rng.normal(size=(1000, 15)))
    assert few.undecided_.sum() == few.adjacency_.sum() > 20
    assert diagnose(few)["factors"].finding.startswith("2 hidden common causes")


def test_a_large_graph_that_imitates_factors_is_not_searched_for_at_length():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 8)) @ rng.normal(size=(8, 300)) + rng.normal(size=(200, 300))
    with pytest.warns(DataWarning):
        model = Golem().fit(X)
    assert model.solution_.status is Status.FACTORS
    assert model.check_directions(X).undecided_.sum() == len(model.graph_)
    assert "So the search was short" in diagnose(model)["factors"].finding


def test_a_note_names_a_graph_of_the_paper_that_fits_worse_than_factors():
    X = simulate(10, 200, "ER2", random_state=0).data
    finding = diagnose(Golem.paper("nv", max_iter=50).fit(X))["factors"]
    assert finding.level == "note"
    assert "better than this graph. No direction" in finding.finding
    assert "factors" not in [one.name for one in diagnose(Golem().fit(X))]


def test_the_robustness_value_is_that_of_cinelli_and_hazlett(collider):
    model = Golem("nv").fit(collider)
    for edge in list_edges(model):
        child = collider[edge.target]
        others = [other.source for other in list_edges(model) if other.target == edge.target != other.source]
        X = collider[[name for name in others if name != edge.source]].assign(one=1.0).to_numpy()
        left = [v - X @ np.linalg.lstsq(X, v)[0] for v in (collider[edge.source].to_numpy(), child.to_numpy())]
        r2 = np.corrcoef(left)[0, 1] ** 2
        f2 = r2 / (1 - r2)
        assert edge.robustness_value == pytest.approx((np.sqrt(f2**2 + 4 * f2) - f2) / 2)
        (record,) = [one for one in model.edges_ if one[:2] == (edge.source, edge.target)]
        assert record.robustness_value == edge.robustness_value


def test_an_effect_along_a_link_is_not_a_number(collider):
    sem = Golem("nv").fit(collider).sem_
    assert sem.total_effect("a", "c") == pytest.approx(1, abs=0.1)
    assert np.isnan(sem.total_effect("b", "e"))
    assert np.isnan(sem.total_effect("e", "b"))
    assert np.isnan(sem.total_effect("e", "c"))  # e may be a cause of b
    assert sem.total_effect("a", "e") == 0
    assert sem.assuming_directions().total_effect("b", "e") != sem.assuming_directions().total_effect("e", "b")


def test_scores_of_categories_that_disagree_are_named():
    rng = np.random.default_rng(1)
    a, b, other = rng.integers(2, size=(3, 2500))
    c = (a + b + (rng.random(2500) < 0.05)) % 2  # only counts see that a and b matter together
    e = np.where(rng.random(2500) < 0.3, other, c)
    table = pd.DataFrame({"a": a, "b": b, "c": c, "e": e}).astype(str).astype("category")
    model = Golem(score_function="discrete-bic").fit(table)
    finding = diagnose(model, table)["scores"]
    assert finding.level == "note"
    assert "disagree on the directions of 3 edges" in finding.finding
    assert "3 by discrete-bic, 3 by bdeu, 0 by mixed" in finding.finding
    x = rng.integers(3, size=2500)
    clear = pd.DataFrame({"a": a, "x": x, "y": a + x + (rng.random(2500) < 0.2)}).astype(str).astype("category")
    assert diagnose(Golem().fit(clear), clear)["scores"].level == "ok"


def test_a_missing_edge_is_not_enough_where_columns_are_not_normal():
    """The reverse of a collider needs one more edge: evidence with normal columns, not with skewed ones or few rows."""
    rng = np.random.default_rng(0)

    def claims(noise):
        X = noise.copy()
        X[:, 2] += 0.7 * X[:, 0] + 0.7 * X[:, 1]
        model = Golem("nv", shape="off").fit(X)
        assert model.graph_.directed_by("unchecked").sum() == 2
        model.check_if_kept()
        return model.graph_.directed_by("structure").sum()

    assert claims(rng.normal(size=(1000, 3))) == 2
    assert claims(rng.exponential(size=(1000, 3))) == 0
    assert claims(rng.normal(size=(199, 3))) == 0
