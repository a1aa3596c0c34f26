"""Directions by noise shape in the estimator: knowledge, order of rows and columns, rows of any origin."""

import numpy as np
import pandas as pd
import pytest

import golem
from golem import Golem, GolemCV, Knowledge, Moments
from golem.comparison.registry import METHODS
from golem.data import source as files
from golem.data.table import Table
from golem.graphs.dag import cpdag
from golem.workflow import fit_file

NAMES = list("abcdef")
TRUTH = np.zeros((6, 6), dtype=bool)
TRUTH[[0, 1, 3, 3], [1, 2, 4, 5]] = True  # two trees: every direction is open


@pytest.fixture(scope="module")
def table():
    """Rows of a linear model with Laplace noise."""
    noise = np.random.default_rng(5).laplace(size=(600, 6))
    rows = noise @ np.linalg.inv(np.eye(6) - TRUTH)
    return pd.DataFrame(rows / rows.std(axis=0), columns=NAMES)


@pytest.fixture(scope="module")
def model(table):
    return Golem("nv").fit(table)


def sources(model):
    """Return what each direction rests on."""
    return {(record.source, record.target): record.direction_from for record in model.edges_}


def test_shape_finds_what_the_class_leaves_open(table, model):
    np.testing.assert_array_equal(model.adjacency_, TRUTH)
    np.testing.assert_array_equal(model.by_shape_, TRUTH)
    np.testing.assert_array_equal(model.pdag_, TRUTH)
    np.testing.assert_array_equal(model.cpdag_, TRUTH | TRUTH.T)
    assert not model.undecided_.any()
    np.testing.assert_allclose(model.weights_, model.raw_weights_)
    frame = pd.DataFrame(model.edges_)
    assert list(frame.columns)[:6] == ["source", "target", "weight", "directed", "direction_from", "direction_strength"]
    assert (frame.direction_strength > 10).all()
    assert (frame.direction_error_rate <= 0.01).all()
    off = Golem("nv", shape="off").fit(table)
    np.testing.assert_array_equal(off.undecided_, off.adjacency_)
    np.testing.assert_array_equal(cpdag(off.adjacency_), model.cpdag_)
    assert set(sources(off).values()) == {"none"}


def test_weights_and_variances_are_those_of_the_graph_shown(table, model):
    covariance = np.cov(table.T, bias=True)
    for j in range(6):
        parents = np.flatnonzero(model.adjacency_[:, j])
        b = np.linalg.lstsq(covariance[np.ix_(parents, parents)], covariance[parents, j])[0]
        np.testing.assert_allclose(model.weights_[parents, j], b)
        assert model.sem_.noise_variances[j] == pytest.approx(covariance[j, j] - covariance[parents, j] @ b)


def test_the_order_of_rows_and_columns_does_not_matter(table, model):
    rng = np.random.default_rng(0)
    columns = rng.permutation(6)
    other = Golem("nv").fit(table.iloc[rng.permutation(len(table)), columns] * rng.uniform(0.01, 100, 6))
    np.testing.assert_array_equal(other.by_shape_, model.by_shape_[np.ix_(columns, columns)])
    first, second = ({(r.source, r.target): r.direction_strength for r in fit.edges_} for fit in (model, other))
    assert first == pytest.approx(second)


def test_knowledge_is_obeyed_and_named(table):
    right = Golem("nv", knowledge=Knowledge.named(required=[("a", "b")])).fit(table)
    found = sources(right)
    assert found["a", "b"] == "knowledge"
    assert found["b", "c"] == "none"  # only the absence of one edge speaks against a collider, and rows are not normal
    assert found["d", "e"] == found["d", "f"] == "shape"
    wrong = Golem("nv", knowledge=Knowledge.named(required=[("b", "a")])).fit(table)
    assert wrong.adjacency_[1, 0]
    assert sources(wrong)["b", "a"] == "knowledge"


def test_directions_follow_from_knowledge_where_rows_are_normal():
    noise = np.random.default_rng(5).normal(size=(600, 6))
    rows = pd.DataFrame(noise @ np.linalg.inv(np.eye(6) - TRUTH), columns=NAMES)
    found = sources(Golem("nv", knowledge=Knowledge.named(required=[("a", "b")])).fit(rows / rows.std()))
    assert found["a", "b"] == "knowledge"
    assert found["b", "c"] == "follows"  # or there would be a collider


def test_moments_need_rows(table, model):
    moments = Moments.from_rows(table)
    without = Golem("nv").fit(moments)
    assert "not the rows" in without.graph_.shape_note
    assert not without.by_shape_.any()
    given = Golem("nv").fit(Table.single(moments, lambda: table.to_numpy()))
    np.testing.assert_array_equal(given.by_shape_, model.by_shape_)
    with pytest.raises(ValueError, match=r"The rows must have shape \(rows, 6\), as their moments do; got \(600, 5\)"):
        Golem("nv").fit(Table.single(moments, table.to_numpy()[:, :5]))
    collider = pd.DataFrame({"a": table.a, "d": table.d, "x": table.a + table.d + table.e})

    def never():
        raise AssertionError

    unread = Table.single(Moments.from_rows(collider), never)
    assert Golem("nv", robust="off", evidence="fast").fit(unread).cpdag_.sum() == 2


def test_missing_values_leave_the_complete_rows(table, model):
    gaps = table.mask(np.random.default_rng(1).random(table.shape) < 0.02)
    found = Golem("nv", missing="em").fit(gaps)
    assert f"{len(gaps.dropna())} complete rows" in found.graph_.shape_note
    np.testing.assert_array_equal(found.by_shape_, model.by_shape_)


def test_equal_variances_and_the_paper_do_not_use_shapes(table):
    fit = Golem("ev").fit(table * np.arange(1, 7))
    assert not fit.by_shape_.any()
    assert fit.graph_.shape_note == ""
    assert not any(model.settings.uses_shape for model in (Golem("ev"), Golem.paper("nv"), Golem("nv", "lbfgs")))
    with pytest.raises(ValueError, match="shape must be one of 'auto', 'off'; got 'on'"):
        Golem(shape="on").fit(table)


def test_bootstrap_and_selection_use_shapes(table):
    certain = golem.bootstrap(Golem("nv"), table, 20)
    open_edges = golem.bootstrap(Golem("nv", shape="off"), table, 20)
    assert certain.direction_frequency[TRUTH].mean() > 0.8
    np.testing.assert_allclose(open_edges.direction_frequency[TRUTH], 0.5, atol=0.05)
    np.testing.assert_array_equal(GolemCV(Golem("nv")).fit(table).by_shape_, TRUTH)


def test_of_the_methods_to_compare_only_order_uses_shapes():
    methods = {name: METHODS[name].model() for name in ("order", "order-nv", "order-ev", "golem-ev", "golem-nv")}
    assert [name for name, model in methods.items() if model.settings.uses_shape] == ["order"]


@pytest.mark.parametrize("most", [files.MOST_NUMBERS, 0])
def test_files_give_the_same_directions(table, tmp_path, monkeypatch, most):
    monkeypatch.setattr(files, "MOST_NUMBERS", most)  # 0: only a sample of the rows is kept
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    result = fit_file(path, tmp_path / "out", Golem("nv"), diagnose=False)
    np.testing.assert_array_equal(result.model.by_shape_, TRUTH)
    edges = pd.read_csv(tmp_path / "out" / "edges.csv")
    assert set(edges.direction_from) == {"shape"}
    assert (edges.direction_error_rate <= 0.01).all()
    assert result.document.by_shape == TRUTH.sum()


def test_contradicting_variances_are_a_finding():
    # A chain in units in which the reversed chain has equal noise variances.
    rng = np.random.default_rng(0)
    chain = rng.exponential(size=(2000, 8)) - 1
    for j in range(1, 8):
        chain[:, j] += chain[:, j - 1]
    R = np.corrcoef(chain, rowvar=False)
    left = np.append(1 - np.diagonal(R, 1) ** 2, 1.0)
    table = pd.DataFrame(chain / chain.std(axis=0) / np.sqrt(left), columns=list("abcdefgh"))
    model = Golem().fit(table)
    assert model.graph_.conflicts
    assert not model.by_variance_.any()
    assert not model.by_shape_.any()
    assert "contradicts the noise variances at 7 edges, so neither" in model.graph_.shape_note
    found = model.diagnose(table)
    assert found["direction-conflicts"].level == "warning"
    assert "'b' -> 'a'" in found["direction-conflicts"].finding
    # The residual depends on the parent because the direction shown is wrong, which the shape says.
    remedy = found["independence"].remedy
    assert "the direction may be wrong: the noise shapes support the opposite." in remedy
    assert "does not use the shape" not in remedy
