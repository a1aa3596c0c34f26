"""Fits in several environments: score, weights, input, settings."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

from golem import Golem, Knowledge, Moments
from golem.data.table import Table
from golem.graphs.dag import is_dag
from golem.graphs.edges import Edges
from golem.score.sparsity import L0
from golem.score.table_regression import TableRegression
from golem.score.table_score import table_blocks
from golem.simulate import random_sem, simulate_environments
from golem.solvers import Status

TARGETS = {"control": [], "ko_b": ["b"], "drug": ["a", "c"]}


def rows(n, *, shift=0.0, cut_b=False, loud=1.0, seed=0):
    """Draw from a -> b -> c, d <- b."""
    rng = np.random.default_rng(seed)
    a = loud * rng.normal(size=n) + shift
    b = (2 + 2 * rng.normal(size=n)) if cut_b else (a + rng.normal(size=n))
    c = b + loud * rng.normal(size=n)
    return np.column_stack([a, b, c, b + rng.normal(size=n)])


@pytest.fixture
def tables():
    return {"control": rows(200), "ko_b": rows(150, cut_b=True, seed=1), "drug": rows(100, loud=2.0, shift=3.0, seed=2)}


@pytest.fixture
def frame(tables):
    parts = [pd.DataFrame(values, columns=list("abcd")).assign(arm=label) for label, values in tables.items()]
    return pd.concat(parts).sample(frac=1, random_state=0)


def made(tables):
    return Table.of({label: Moments.from_rows(X, "abcd") for label, X in tables.items()}, TARGETS)


def residual_sum(parts, j, parents, intercepts):
    """Regress a column on others and on indicators of the tables, or on a constant; return weights and fit."""
    X = np.vstack(parts)
    labels = np.repeat(range(len(parts)), [len(part) for part in parts])
    dummies = np.eye(len(parts))[labels] if intercepts == "separate" else np.ones((len(X), 1))
    design = np.column_stack([X[:, parents], dummies])
    found = np.linalg.lstsq(design, X[:, j])[0]
    rest = ((X[:, j] - design @ found) ** 2).sum()
    errors = np.sqrt(np.diagonal(np.linalg.inv(design.T @ design)) * rest / (len(X) - design.shape[1]))
    return found[: len(parents)], rest, len(X) - dummies.shape[1], errors[: len(parents)]


@pytest.mark.parametrize("intercepts", ["separate", "shared"])
@pytest.mark.parametrize("intervention", ["soft", "hard"])
def test_costs_are_deviances_of_regressions_with_their_penalties(tables, intervention, intercepts):
    score = table_blocks(made(tables), L0("bic"), intervention, intercepts)
    for j, parents in ((0, []), (1, [0]), (2, [1]), (3, [0, 1, 2]), (1, [0, 2, 3])):
        kept = [X for label, X in tables.items() if "abcd"[j] not in TARGETS[label]]
        changed = [[X] for label, X in tables.items() if "abcd"[j] in TARGETS[label]]
        expected = 0.0
        for parts in [kept, *(changed if intervention == "soft" else [])]:
            _, rest, freedom, _ = residual_sum(parts, j, parents, intercepts)
            expected += freedom * np.log(rest / freedom) + len(parents) * np.log(freedom)
        assert score.cost(j, parents) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("intercepts", ["separate", "shared"])
def test_weights_come_from_the_environments_that_do_not_target_a_node(tables, intercepts):
    causes, children = np.array([0, 1, 0, 2]), np.array([1, 2, 3, 3])
    regression = TableRegression(made(tables), intercepts)
    fit = regression.weights(Edges(causes, children, 4))
    errors = regression.standard_errors(fit)
    for j in (1, 2, 3):
        kept = [X for label, X in tables.items() if "abcd"[j] not in TARGETS[label]]
        weights, rest, freedom, own = residual_sum(kept, j, causes[children == j], intercepts)
        assert np.allclose(fit.weights[children == j], weights)
        assert fit.residual_variances[j] == pytest.approx(rest / freedom)
        assert np.allclose(errors[children == j], own)


def test_a_soft_intervention_needs_its_own_term():
    # x -> y with slope 1 and unit variances; in the second environment the noise variance of y is 1.2.
    parts = {
        label: Moments.from_covariance([[1.0, 1.0], [1.0, 1.0 + noise]], 1000, names=["x", "y"])
        for label, noise in (("control", 1.0), ("louder", 1.2))
    }
    both = Table.of(parts, {"control": [], "louder": ["y"]})
    margins = {}
    for kind in ("soft", "hard"):
        score = table_blocks(both, L0(0.0), kind)
        margins[kind] = score.cost(1, []) + score.cost(0, [1]) - score.cost(0, []) - score.cost(1, [0])
    assert margins["soft"] == pytest.approx(1000 * np.log(2.2 * 2 * (1 - 1 / 2.1) ** 2 / 1.2), rel=0.01)
    assert 5 < margins["soft"] < 7
    assert -610 < margins["hard"] < -590


def test_one_observational_environment_gives_the_graph_of_free_noise_variances():
    X = rows(300)
    plain = Golem("nv").fit(X)
    for intercepts in ("separate", "shared"):
        model = Golem(intercepts=intercepts).fit(X, environments=["all"] * 300, targets={"all": []})
        assert np.array_equal(model.adjacency_, plain.adjacency_)
        assert np.allclose(model.weights_, plain.weights_)
        assert np.allclose(model.sem_.intercepts, plain.sem_.intercepts)
        assert np.allclose(model.sem_.noise_variances, plain.sem_.noise_variances * 300 / 299)


def test_all_kinds_of_input_agree(tables, frame):
    model = Golem().fit(frame, environments="arm", targets=TARGETS)
    assert model.table_.named_targets == TARGETS
    assert list(model.feature_names_in_) == list("abcd")
    by_number = {label: ["abcd".index(name) for name in names] for label, names in TARGETS.items()}
    moments = {label: Moments.from_rows(X, "abcd") for label, X in tables.items()}
    named = {label: pd.DataFrame(X, columns=list("abcd")) for label, X in tables.items()}
    array, labels = frame[list("abcd")].to_numpy(), frame["arm"]
    others = [
        Golem().fit(pl.from_pandas(frame), environments="arm", targets=TARGETS),
        Golem().fit(frame.drop(columns="arm"), environments=list(labels), targets=TARGETS),
        Golem().fit(array, environments=labels.astype("category"), targets=by_number),
        Golem().fit(moments, targets=TARGETS),
        Golem().fit(named, targets=TARGETS),
        Golem().fit(made(tables)),
    ]
    for other in others:
        assert np.allclose(other.weights_, model.weights_)
        assert other.moments_.n == 450
    assert not hasattr(others[2], "feature_names_in_")
    assert others[3].table_.fingerprint == model.table_.fingerprint


def test_the_order_of_columns_and_labels_does_not_matter(frame):
    model = Golem().fit(frame, environments="arm", targets=TARGETS)
    turned = dict(reversed(TARGETS.items()))
    other = Golem().fit(frame[["arm", "d", "b", "a", "c"]], environments="arm", targets=turned)
    index = [other.moments_.names.index(name) for name in "abcd"]
    assert np.array_equal(other.adjacency_[np.ix_(index, index)], model.adjacency_)
    assert np.allclose(other.sem_.intercepts[index], model.sem_.intercepts)


def test_knowledge_is_obeyed(frame):
    known = Knowledge.named(forbidden=[("a", "b")], required=[("d", "a")])
    model = Golem(knowledge=known).fit(frame, environments="arm", targets=TARGETS)
    assert not model.adjacency_[0, 1]
    assert model.adjacency_[3, 0]


def test_an_intervention_decides_an_arrow():
    control, other = rows(400)[:, :2], rows(400, cut_b=True, seed=1)[:, :2]
    for kind in ("soft", "hard"):
        model = Golem(intervention=kind).fit({"x": control, "y": other}, targets={"x": [], "y": [1]})
        assert np.array_equal(model.adjacency_, [[False, True], [False, False]])


def test_the_model_is_that_without_interventions():
    control, other = rows(5000), rows(5000, cut_b=True, seed=1)
    model = Golem(intervention="hard").fit({"x": control, "y": other}, targets={"x": [], "y": [1]})
    assert np.allclose(model.sem_.intercepts, 0, atol=0.1)
    assert np.allclose(model.sem_.noise_variances, 1, atol=0.1)
    assert np.allclose(model.sem_.weights[[0, 1, 1], [1, 2, 3]], 1, atol=0.1)


def test_missing_values_are_treated_in_each_environment(tables):
    rng = np.random.default_rng(0)
    holes = {label: np.where(rng.random(X.shape) < 0.05, np.nan, X) for label, X in tables.items()}
    targets = {label: ["abcd".index(name) for name in names] for label, names in TARGETS.items()}
    with pytest.raises(ValueError, match="Environment 'control': Missing values"):
        Golem().fit(holes, targets=targets)
    dropped = Golem(missing="drop").fit(holes, targets=targets)
    complete = {label: X[~np.isnan(X).any(axis=1)] for label, X in holes.items()}
    assert np.allclose(dropped.weights_, Golem().fit(complete, targets=targets).weights_)
    assert dropped.missing_.rows_read == 450
    filled = Golem(missing="em").fit(holes, targets=targets)
    by_em = {label: Moments.from_rows(X, missing="em") for label, X in holes.items()}
    assert np.allclose(filled.weights_, Golem().fit(by_em, targets=targets).weights_)
    assert filled.missing_.rows_used == sum(part.n for part in by_em.values())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noise": "ev"}, "noise='ev' cannot be used with environments"),
        ({"solver": "adam"}, "need solver='order'"),
        ({"solver": "lbfgs", "noise": "nv"}, "need solver='order'"),
        ({"init": "ev"}, "init='ev' does not fit environments"),
        ({"device": "cuda"}, "cuda"),
        ({"score_function": "mixed"}, "score_function='mixed' needs categories"),
        ({"intervention": "gentle"}, "intervention must be one of"),
        ({"intercepts": "none"}, "intercepts must be one of"),
    ],
)
def test_settings_that_do_not_fit_are_refused(frame, settings, message):
    with pytest.raises(ValueError, match=message):
        Golem(**settings).fit(frame, environments="arm", targets=TARGETS)


def test_input_that_does_not_fit_is_refused(frame, tables):
    for arguments, message in (
        ({"environments": "Arm"}, r"no column 'Arm' \(environments?=\.\.\.\)\. Did you mean 'arm'"),
        ({"targets": TARGETS}, "targets=... needs environments="),
        ({"environments": "arm"}, "need targets"),
    ):
        with pytest.raises(ValueError, match=message):
            Golem().fit(frame, **arguments)
    with pytest.raises(ValueError, match="3 labels for 450 rows"):
        Golem().fit(frame.drop(columns="arm"), environments=["x"] * 3, targets={"x": []})
    with pytest.raises(ValueError, match="X is an array without column names"):
        Golem().fit(tables["control"], environments="arm", targets=TARGETS)
    with pytest.raises(ValueError, match="Leave out environments"):
        Golem().fit(tables, environments=["x"], targets=TARGETS)
    with pytest.raises(ValueError, match="got a dictionary"):
        Golem().fit(tables)
    with pytest.raises(ValueError, match="Leave out targets"):
        Golem().fit(made(tables), targets=TARGETS)
    with pytest.raises(ValueError, match="Give the moments of each"):
        Golem().fit(Moments.from_rows(tables["control"]), environments=["x"] * 200, targets={"x": []})
    with pytest.raises(ValueError, match="intervention='hard' needs environments"):
        Golem(intervention="hard").fit(tables["control"])
    with pytest.raises(ValueError, match="'sex'"):
        Golem().fit(frame.assign(sex="F"), environments="arm", targets=TARGETS)
    small = frame.groupby("arm").head(2)
    with pytest.raises(
        ValueError, match=r"fewer than 3 rows: 'control' \(2 rows\), 'drug' \(2 rows\), 'ko_b' \(2 rows\)"
    ):
        Golem().fit(small.sort_values("arm"), environments="arm", targets=TARGETS)
    with pytest.raises(ValueError, match=r"fewer than 3 rows: 'x' \(1 row\)"):
        Golem().fit({"x": tables["control"][:1], "y": tables["control"]}, targets={"x": [], "y": []})


@pytest.fixture(scope="module")
def many():
    """Fifteen variables, and an experiment on each of them."""
    sem = random_sem(15, "ER2", random_state=3)
    targets = {"control": []} | {f"on_{name}": [name] for name in sem.names}
    drawn = simulate_environments(sem, targets, 200 * 16, random_state=4)
    return sem, pd.DataFrame(drawn.data, columns=sem.names), drawn.labels, targets


def test_a_search_finds_the_graph_of_experiments_on_all_variables(many):
    sem, table, labels, targets = many
    model = Golem(intervention="hard").fit(table, environments=labels, targets=targets)
    assert np.array_equal(model.adjacency_, sem.adjacency)
    names = list(reversed(sem.names))
    other = Golem(intervention="hard").fit(table[names], environments=labels, targets=targets)
    assert np.array_equal(other.adjacency_[::-1, ::-1], model.adjacency_)


def test_a_search_stops_at_its_time_limit_and_at_an_interrupt(many):
    _, table, labels, targets = many

    def interrupt(progress):
        if progress.iteration:  # before, there is no graph to return
            raise KeyboardInterrupt

    for settings, status in (({"time_limit": 1e-6}, Status.TIME_LIMIT), ({"callback": interrupt}, Status.INTERRUPTED)):
        with pytest.warns(ConvergenceWarning):
            model = Golem(**settings).fit(table, environments=labels, targets=targets)
        assert model.solution_.status is status
        assert is_dag(model.adjacency_)
