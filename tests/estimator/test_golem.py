"""Golem as a user meets it: variants, knowledge, attributes, invariances, bad input, scikit-learn's rules."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from golem import DataWarning, Golem, GolemCV, Knowledge, Moments, metrics
from golem.baselines import FGS, PC, DirectLiNGAM, SortRegress
from golem.graphs.dag import is_dag
from golem.output.document import describe
from golem.runtime.devices import Placement
from golem.score.acyclicity import LogDet
from golem.simulate import random_dag, simulate
from golem.solvers import LBFGS, Adam, Status


@parametrize_with_checks(
    [Golem(), Golem(noise="ev"), Golem(solver="lbfgs", max_iter=50), Golem(noise="ev", solver="adam", max_iter=20)]
)
def test_scikit_learn_rules(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        check(estimator)


@pytest.fixture(scope="module")
def drawn():
    return simulate(8, 1000, "ER1", "gaussian-ev", random_state=4)


def quick(**parameters):
    """Return a model that may stop before convergence without a warning."""
    return Golem(**({"solver": "lbfgs", "max_iter": 300} | parameters))


@pytest.mark.parametrize("noise", ["ev", "nv"])
@pytest.mark.parametrize("solver", ["order", "lbfgs", Adam(tolerance=0.02, max_iter=20_000)])
def test_the_graph_is_found(noise, solver, drawn):
    model = Golem(noise, solver).fit(drawn.data)
    assert metrics.shd_c(drawn.sem.adjacency, model.weights_) <= 1
    assert is_dag(model.weights_)
    assert model.solution_.status.is_final


def test_attributes_hang_together(drawn):
    frame = pd.DataFrame(drawn.data, columns=list("abcdefgh"))
    model = Golem("nv", "lbfgs").fit(frame)
    np.testing.assert_array_equal(model.adjacency_, model.weights_ != 0)
    kept = model.adjacency_
    np.testing.assert_array_equal(model.weights_[kept], model.raw_weights_[kept])
    assert np.all(np.abs(model.raw_weights_[~kept]) < 0.3) or model.solution_.cut_edges > 0
    np.testing.assert_array_equal(model.cpdag_ | model.cpdag_.T, kept | kept.T)
    np.testing.assert_array_equal(model.undecided_, kept & model.cpdag_ & model.cpdag_.T)
    assert model.sem_.names == tuple("abcdefgh")
    assert list(model.feature_names_in_) == list("abcdefgh")
    np.testing.assert_allclose(model.sem_.mean, drawn.data.mean(axis=0), atol=1e-8)
    assert model.start_solution_ is not None
    assert model.score(frame) == pytest.approx(model.sem_.log_likelihood(drawn.data) / 1000)


def test_equal_variances_leave_no_direction_undecided(drawn):
    model = Golem("ev").fit(drawn.data)
    assert not model.undecided_.any()
    assert len(set(model.sem_.noise_variances)) == 1


@pytest.mark.parametrize("solver", ["order", "lbfgs"])
def test_rows_frames_moments_and_covariance_are_one_path(solver, drawn):
    expected = Golem("ev", solver).fit(drawn.data)
    moments = Moments.from_rows(drawn.data)
    for X in (
        pd.DataFrame(drawn.data),
        pl.DataFrame(drawn.data),
        moments,
        Moments.from_covariance(moments.covariance, moments.n),
    ):
        np.testing.assert_allclose(Golem("ev", solver).fit(X).weights_, expected.weights_, atol=1e-6)


def test_shifting_the_data_changes_nothing(drawn):
    model, shifted = (Golem("ev", LBFGS(tolerance=1e-6)).fit(X) for X in (drawn.data, drawn.data + 1000.0))
    np.testing.assert_allclose(shifted.moments_.covariance, model.moments_.covariance, rtol=1e-11, atol=1e-10)
    # The solver goes its own way from differences in the last digit, to the same minimum within its tolerance.
    assert shifted.solution_.terms["score"] == pytest.approx(model.solution_.terms["score"], abs=1e-4)
    np.testing.assert_allclose(shifted.weights_, model.weights_, atol=5e-3)


@pytest.mark.parametrize("noise", ["ev", "nv"])
def test_permuting_the_columns_permutes_the_answer(noise, drawn, rng):
    order = rng.permutation(8)
    model, permuted = (Golem(noise, LBFGS(tolerance=1e-6)).fit(X) for X in (drawn.data, drawn.data[:, order]))
    np.testing.assert_allclose(permuted.weights_, model.weights_[np.ix_(order, order)], atol=1e-4)


def test_input_is_untouched(drawn):
    X = drawn.data.copy()
    quick(solver="adam").fit(X)
    np.testing.assert_array_equal(X, drawn.data)


def test_the_papers_recipe_to_the_letter():
    for noise, lambda_1, init in (("ev", 2e-2, "zeros"), ("nv", 2e-3, "ev")):
        recipe = Golem.paper(noise)
        parameters = recipe.get_params()
        assert parameters["lambda_sparsity"] == lambda_1
        assert parameters["lambda_dag"] == 5.0
        assert parameters["threshold"] == 0.3
        assert parameters["init"] == init
        expected = Adam(max_iter=100_000, learning_rate=1e-3, tolerance=0.0, batch_size=None)
        assert recipe.settings.chosen_solver == expected
    assert Golem.paper("ev", max_iter=7).max_iter == 7


def test_nv_starts_at_the_raw_weights_of_golem_ev(drawn):
    ev = Golem.paper("ev", max_iter=200).fit(drawn.data)
    nv = Golem.paper("nv", max_iter=200).fit(drawn.data)
    np.testing.assert_array_equal(nv.start_solution_.weights, ev.raw_weights_)
    by_hand = Golem.paper("nv", max_iter=200, init=ev.raw_weights_).fit(drawn.data)
    np.testing.assert_array_equal(by_hand.raw_weights_, nv.raw_weights_)
    assert by_hand.start_solution_ is None


def test_l1_and_plain_variants_start_as_nv_does_and_lose_their_terms(drawn):
    full = quick(noise="nv", solver="adam").fit(drawn.data)
    l1 = quick(noise="nv", solver="adam", lambda_dag=0).fit(drawn.data)
    plain = quick(noise="nv", solver="adam", lambda_dag=0, lambda_sparsity=0).fit(drawn.data)
    for variant in (l1, plain):
        np.testing.assert_array_equal(variant.start_solution_.weights, full.start_solution_.weights)
        assert variant.solution_.terms["dag"] == 0
        assert variant.solution_.terms["h"] >= 0
    assert l1.solution_.terms["sparsity"] > 0
    assert plain.solution_.terms["sparsity"] == 0


@pytest.mark.parametrize("acyclicity", ["expm", "polynomial", "logdet", LogDet(s=4.0)])
def test_every_acyclicity_finds_the_graph(acyclicity, drawn):
    model = Golem("ev", "lbfgs", acyclicity=acyclicity).fit(drawn.data)
    assert metrics.shd(drawn.sem.adjacency, model.weights_) <= 1


def test_knowledge_is_never_violated():
    rng = np.random.default_rng(0)
    for seed in range(60):
        data = simulate(6, 200, "ER2", "gaussian-nv", random_state=seed).data
        required = random_dag(6, "ER1", rng) & (rng.random((6, 6)) < 0.4)
        forbidden = (rng.random((6, 6)) < 0.3) & ~required
        knowledge = Knowledge(forbidden | np.eye(6, dtype=bool) | required.T, required)
        solver = ["order", "order", "lbfgs", Adam(max_iter=300)][seed % 4]
        cycles = None if solver == "order" else ["paper", "gentle"][seed // 4 % 2]
        model = Golem(["ev", "nv"][seed % 2], solver, knowledge=knowledge, cycles=cycles).fit(data)
        assert np.all(model.adjacency_[required])
        assert not np.any(model.adjacency_ & knowledge.forbidden)
        assert not np.any(model.raw_weights_[knowledge.forbidden])
        assert is_dag(model.adjacency_)


def test_knowledge_decides_directions(drawn):
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20000, 3)) @ np.linalg.inv(np.eye(3) - chain)
    free = Golem("nv").fit(X)
    assert free.undecided_.sum() == 2
    assert {edge.direction_from for edge in free.edges_} == {"none"}
    known = Golem("nv", knowledge=Knowledge.of(3, required=[(0, 1)])).fit(X)
    # 0 -> 1 directs 1 - 2 as well, or there would be a collider.
    assert [edge.direction_from for edge in known.edges_] == ["knowledge", "follows"]
    assert not known.undecided_.any()


def test_cycles_can_be_left_in(drawn):
    model = Golem("ev", "lbfgs", lambda_dag=0, lambda_sparsity=0, cycles="none", threshold=0.0).fit(drawn.data)
    assert not is_dag(model.adjacency_)
    assert not hasattr(model, "sem_")
    assert not hasattr(model, "cpdag_")


def test_minibatches_through_the_estimator(drawn):
    solver = Adam(max_iter=500, batch_size=100)
    first, second = (Golem("ev", solver, random_state=1).fit(drawn.data) for _ in range(2))
    np.testing.assert_array_equal(first.raw_weights_, second.raw_weights_)
    with pytest.raises(ValueError, match="rows"):
        Golem("ev", solver).fit(Moments.from_rows(drawn.data))


def test_a_solve_that_stops_early_warns_and_says_why(drawn):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = Golem("ev", "lbfgs", max_iter=2).fit(drawn.data)
    assert model.solution_.status is Status.MAX_ITER


def test_an_interrupted_start_is_kept_and_marked(drawn):
    def interrupt(progress):
        if progress.iteration > 0 and not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt

    interrupted = []
    model = Golem("nv", Adam(max_iter=10**6), callback=interrupt)
    with pytest.warns(ConvergenceWarning, match="Interrupted"):
        model.fit(drawn.data)
    assert model.solution_.status is Status.INTERRUPTED
    assert model.start_solution_.status is Status.INTERRUPTED
    assert is_dag(model.weights_)


def test_clone_and_repr_survive_parameters():
    model = Golem("ev", Adam(batch_size=3), threshold=0.1)
    assert clone(model).get_params() == model.get_params()
    assert "batch_size=3" in repr(model)


def test_few_rows_work_with_a_warning():
    data = simulate(12, 10, "ER1", random_state=0).data
    with pytest.warns(DataWarning, match="n = 10 rows for d = 12 columns"):
        model = quick(noise="ev", max_iter=20_000, time_limit=20).fit(data)
    assert is_dag(model.weights_)


@pytest.mark.filterwarnings("ignore:.*levels with fewer than 5 rows")
def test_tables_of_too_few_rows_are_refused(rng):
    X = rng.normal(size=(19, 20))
    with pytest.raises(
        ValueError, match=r"at least 20 rows for 20 columns .* got 19 rows\. With fewer rows, columns of"
    ):
        Golem().fit(X)
    with pytest.raises(ValueError, match=r"got 7 rows after dropping 12 rows with missing values"):
        Golem(missing="drop").fit(np.where((np.arange(19) < 12)[:, None] & (np.arange(20) == 0), np.nan, X)[:, :2])
    with pytest.raises(ValueError, match="at least 8 rows for 2 columns"):
        Golem().fit(pd.DataFrame({"a": ["u", "v", "v", "u", "u"], "b": rng.normal(size=5)}))
    assert not Golem().fit(X[:10, :3]).edges_


@pytest.mark.filterwarnings("ignore:n = 30 rows for d = 40")
@pytest.mark.parametrize("noise", ["auto", "nv"])
def test_a_perfect_fit_of_few_rows_is_refused(rng, noise):
    X = rng.normal(size=(30, 40))
    assert np.isfinite(Golem(noise).fit(X).graph_.weights).all()
    X[:, 7] = X[:, 3] - X[:, 5]
    with pytest.raises(
        ValueError, match=r"'x[357]' is a linear combination of 'x[357]', 'x[357]'\..* Drop it: np\.delete"
    ):
        Golem(noise).fit(X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.assign(b=7.0), "Column 'b' is constant. Drop"),
        (lambda f: f.assign(b=1e9 + 0 * f.a), "Column 'b' is constant"),
        (lambda f: f.assign(b=f.a), "Columns 'a' and 'b' are copies of each other"),
        (lambda f: f.assign(b=3 - 2 * f.a), "Columns 'a' and 'b' are copies of each other"),
        (lambda f: f.assign(d=f.a + f.b - 2 * f.c), r"linear combination of .*Drop it: X\.drop\(columns=\['d'\]\), "),
        (
            lambda f: f.assign(b=np.where(f.index == 3, np.nan, f.b)),
            r"Missing values \(NaN\) in 1 of 4 columns: 'b' \(1 value\)",
        ),
        (lambda f: f.assign(b="text"), "Column 'b' is constant"),
        (lambda f: f[["a"]], "at least 2 columns.*'a'"),
        (lambda f: f.iloc[:1], "1"),
        (lambda f: f.set_axis(["a", "a", "c", "d"], axis=1), "repeated: 'a'"),
        (lambda f: f.set_axis(["a", "", "c", "d"], axis=1), "Column 2 has an empty name"),
    ],
)
def test_bad_data_are_refused_with_columns_and_remedy(change, message):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 4)), columns=list("abcd"))
    with pytest.raises(ValueError, match=message):
        Golem().fit(change(frame))


def test_scales_that_differ_by_1e12_are_refused_where_scale_matters_and_work_where_not(drawn):
    frame = pd.DataFrame(drawn.data, columns=list("abcdefgh"))
    wide = frame.assign(b=frame.b * 1e12)
    for parameters in ({"noise": "ev"}, {"solver": "lbfgs"}):
        with pytest.raises(ValueError, match=r"scales of the columns differ by .*largest 'b'.*standardize"):
            Golem(**parameters).fit(wide)
    np.testing.assert_array_equal(Golem("nv").fit(wide).cpdag_, Golem("nv").fit(frame).cpdag_)


def test_standardized_columns_and_equal_variances_do_not_go_together(drawn):
    standardized = drawn.data / drawn.data.std(axis=0)
    with pytest.warns(DataWarning, match="same variance"):
        Golem("ev").fit(standardized)


def test_the_same_yardsticks_for_every_solver(drawn):
    models = [Golem("ev"), Golem("nv"), Golem("ev", "lbfgs")]
    scores = [model.fit(drawn.data).solution_.graph_scores for model in models]
    assert scores[0].keys() == scores[1].keys() == scores[2].keys()
    for model, score in zip(models, scores, strict=True):
        equal = model.noise == "ev"
        if model.solver == "order":
            assert model.sem_.bic(drawn.data, equal_variances=equal) == pytest.approx(score[f"bic_{model.noise}"])
            assert model.solution_.terms["likelihood"] == pytest.approx(score[f"likelihood_{model.noise}"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise": "xx"}, "'ev', 'nv'; got 'xx'"),
        ({"noise": ["ev"]}, r"'ev', 'nv'; got \['ev'\]"),
        ({"solver": [{}]}, r"solver must be a name or an object such as Adam\(\); got \[{}\]"),
        ({"solver": "order", "effort": ["fast"]}, r"Unknown effort \['fast'\]"),
        ({"acyclicity": []}, r"acyclicity must be a name or an object such as Expm\(\); got \[\]"),
        ({"lambda_sparsity": 10**400}, r"lambda_sparsity must be a finite number .*; got 10{17}\.\.\."),
        ({"time_limit": 10**400}, "time_limit must be a positive number"),
        ({"solver": "sgd"}, "'order', 'adam', 'lbfgs'"),
        ({"lambda_sparsity": "bic"}, "a criterion needs solver='order'"),
        ({"effort": "fast"}, "effort='fast' cannot be used here: it needs solver='order'"),
        ({"solver": "order", "threshold": 0.3}, "threshold=0.3 cannot be used here: .* Leave it out"),
        ({"solver": "order", "lambda_dag": 5}, "lambda_dag=5 cannot be used here: .* Leave it out"),
        ({"solver": "order", "max_iter": 5}, "does not count iterations. Use effort=... or time_limit=... instead"),
        ({"solver": "order", "noise": "ev", "max_iter": 5}, "does not count iterations. Use time_limit=... instead"),
        ({"solver": "order", "effort": "lazy"}, "Unknown effort 'lazy'"),
        ({"solver": "order", "lambda_sparsity": "aic"}, "Use 'mbic', 'ebic', 'bic' or a number"),
        ({"solver": "order", "lambda_sparsity": -1.0}, "at least 0"),
        ({"solver": "order", "init": "zeros"}, "init='zeros' does not fit solver='order'"),
        ({"solver": "order", "init": [0, 1, 1, 2]}, "must list each of the nodes"),
        ({"solver": "order", "init": np.eye(4)[[1, 0, 3, 2]]}, "cycle"),
        ({"acyclicity": "dagness"}, "'expm', 'polynomial', 'logdet'"),
        ({"init": "random"}, "zeros, ev"),
        ({"init": np.zeros((2, 2))}, r"start matrix must have shape \(4, 4\)"),
        ({"init": np.eye(4)}, "diagonal"),
        ({"init": np.full((4, 4), np.nan)}, "NaN"),
        ({"init": np.eye(4)[[1, 0, 3, 2]]}, "singular"),
        ({"lambda_sparsity": -1}, "lambda_sparsity must be a finite number of at least 0; got -1"),
        ({"lambda_sparsity": [1]}, r"lambda_sparsity must be a finite number .*; got \[1\]"),
        ({"solver": "order", "lambda_sparsity": [1]}, r"lambda_sparsity must be a finite number .*; got \[1\]"),
        ({"threshold": np.ones(2)}, "threshold must be a finite number .*; got array"),
        ({"lambda_dag": "bic"}, "lambda_dag must be a finite number .*; got 'bic'"),
        ({"lambda_dag": -1}, "lambda_dag must be a finite number of at least 0"),
        ({"threshold": -1}, "threshold must be a finite number of at least 0"),
        ({"max_iter": 0}, "max_iter must be a positive number"),
        ({"time_limit": 0}, "time_limit must be a positive number"),
        ({"cycles": "all"}, "cycles must be one of"),
        ({"device": "gpu"}, "Unknown device 'gpu'. Use 'cpu', 'cuda', .*, or 'auto'"),
        (
            {"device": "cuda"},
            "needs a table of numbers and solver='adam', or solver='order' with noise='ev'",
        ),
        ({"knowledge": Knowledge.of(3)}, r"knowledge masks must have shape \(4, 4\)"),
    ],
)
def test_bad_parameters_are_refused_before_any_work(parameters, message):
    X = np.random.default_rng(0).normal(size=(40, 4))
    with pytest.raises(ValueError, match=message):
        Golem(**({"solver": "lbfgs"} | parameters)).fit(X)


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "lbfgs", "max_iter": np.int8(100), "lambda_dag": np.int64(2), "threshold": np.float32(0.25)},
        {"solver": "adam", "max_iter": np.float32(50), "time_limit": np.int64(50), "lambda_sparsity": np.float32(0.5)},
        {"solver": "adam", "max_iter": np.uint8(50), "lambda_sparsity": np.int64(1)},
        {"lambda_sparsity": np.int8(1), "time_limit": np.float16(50), "random_state": np.uint8(3)},
    ],
)
def test_numbers_of_numpy_are_numbers(drawn, parameters):
    plain = {name: getattr(value, "tolist", lambda value=value: value)() for name, value in parameters.items()}
    model, expected = Golem(**parameters).fit(drawn.data), Golem(**plain).fit(drawn.data)
    np.testing.assert_array_equal(model.raw_weights_, expected.raw_weights_)
    one, other = (describe(fitted).plain() for fitted in (model, expected))
    assert (one["settings"], one["used"]) == (other["settings"], other["used"])


@pytest.mark.torch
def test_torch_on_the_cpu_through_the_estimator(drawn):
    pytest.importorskip("torch")
    on_numpy = Golem("nv", Adam(max_iter=200)).fit(drawn.data)
    on_torch = Golem("nv", Adam(max_iter=200), device="cpu:0").fit(drawn.data)
    np.testing.assert_allclose(on_torch.raw_weights_, on_numpy.raw_weights_, atol=1e-9)


@pytest.mark.gpu
def test_a_gpu_gives_the_same_graph(drawn):
    on_cpu = Golem("nv", Adam(max_iter=500)).fit(drawn.data)
    on_gpu = Golem("nv", Adam(max_iter=500), device="cuda").fit(drawn.data)
    np.testing.assert_array_equal(on_gpu.adjacency_, on_cpu.adjacency_)


def test_nothing_of_an_earlier_fit_stays(drawn):
    model = Golem("ev", "lbfgs").fit(drawn.data)
    assert hasattr(model, "sem_")
    model.set_params(lambda_dag=0, lambda_sparsity=0, cycles="none", threshold=0.0).fit(drawn.data)
    assert not is_dag(model.adjacency_)
    assert not hasattr(model, "sem_")
    assert not hasattr(model, "undecided_")


@pytest.mark.parametrize(
    ("model", "fitted"),
    [
        (Golem("ev"), "edges_"),
        (Golem("ev", "lbfgs"), "threshold_"),
        (GolemCV(Golem("ev")), "path_"),
        (SortRegress(), "order_"),
        (FGS(), "n_scores_"),
    ],
    ids=repr,
)
def test_a_failed_fit_leaves_nothing_of_an_earlier_one(model, fitted, drawn):
    model = clone(model).fit(drawn.data)
    assert hasattr(model, fitted)
    inner = model.estimator if isinstance(model, GolemCV) else model
    inner.set_params(knowledge=Knowledge.of(8, required=[(0, 1)]))  # masks of 8 columns do not fit 3
    with pytest.raises(ValueError, match=r"must have shape \(3, 3\)"):
        model.fit(drawn.data[:, :3])
    assert not hasattr(model, "graph_")
    assert not hasattr(model, fitted)


def test_a_failed_fit_of_a_table_with_categories_or_environments_leaves_nothing(drawn):
    frame = pd.DataFrame({"group": list("ab") * 100, "value": drawn.data[:200, 0]})
    labels = ["control", "changed"] * 100
    environments = {"environments": labels, "targets": {"control": [], "changed": [0]}}
    for X, options in ((frame, {}), (drawn.data[:200], environments)):
        model = Golem().fit(X, **options)
        assert model.edges_ is not None
        with pytest.raises(ValueError, match="noise must be one of"):
            model.set_params(noise="loud").fit(X, **options)
        assert not [name for name in vars(model) if name.endswith("_")]


def test_required_edges_beyond_the_cap_on_parents_are_kept():
    X = Moments.from_rows(np.random.default_rng(0).normal(size=(4, 4)))  # as a part of a larger table has them
    knowledge = Knowledge.of(4, required=[(0, 3), (1, 3)], forbidden=[(2, 3)])
    with pytest.warns(DataWarning, match="n = 4"):
        model = Golem(knowledge=knowledge).fit(X)
    assert model.adjacency_[0, 3]
    assert model.adjacency_[1, 3]


def test_knowledge_is_obeyed_by_the_search_and_by_certificates():
    rng = np.random.default_rng(1)
    for seed in range(4):
        data = simulate(16, 300, "ER2", "gaussian-ev", random_state=seed).data
        required = random_dag(16, "ER1", rng) & (rng.random((16, 16)) < 0.3)
        forbidden = ((rng.random((16, 16)) < 0.2) & ~required) | np.eye(16, dtype=bool) | required.T
        knowledge = Knowledge(forbidden, required)
        for noise in ("nv", "ev"):
            model = Golem(noise, knowledge=knowledge).fit(data)
            assert np.all(model.adjacency_[required])
            assert not np.any(model.adjacency_ & forbidden)
        assert not np.any(model.certify(tolerance=1e-3).weights[forbidden])


def test_minibatches_without_a_seed_are_repeatable(drawn):
    first, second = (Golem("ev", Adam(max_iter=100, batch_size=50)).fit(drawn.data) for _ in range(2))
    np.testing.assert_array_equal(first.raw_weights_, second.raw_weights_)
    for bad in (
        {"batch_size": 0}, {"batch_size": -1}, {"learning_rate": 0.0}, {"max_iter": 0}, {"max_iter": 2.5},
        {"beta1": 1.0}, {"beta2": 1.5}, {"epsilon": 0.0}, {"tolerance": -1.0}, {"tolerance": float("nan")},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="Adam needs"):
            Adam(**bad)


def test_scores_go_by_column_names(drawn):
    frame = pd.DataFrame(drawn.data, columns=list("abcdefgh"))
    model = Golem("ev").fit(frame)
    turned = frame[list("hgfedcba")]
    assert model.sem_.log_likelihood(turned) == pytest.approx(model.sem_.log_likelihood(frame))
    assert model.score(Moments.from_table(turned)) == pytest.approx(model.score(frame))
    with pytest.raises(ValueError, match="The columns are"):
        model.sem_.log_likelihood(frame.rename(columns={"a": "z"}))


def test_columns_without_names_are_those_of_the_fit_by_place(drawn):
    frame = pd.DataFrame(drawn.data, columns=list("abcdefgh"))
    named, unnamed = Golem("ev").fit(frame), Golem("ev").fit(drawn.data)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert named.score(drawn.data) == named.score(frame)
    with pytest.warns(UserWarning, match="has feature names"):
        assert unnamed.score(frame) == unnamed.score(drawn.data)


@pytest.mark.torch
def test_a_tensor_leaves_no_stale_columns(drawn):
    torch = pytest.importorskip("torch")
    model = Golem("ev").fit(pd.DataFrame(drawn.data, columns=list("abcdefgh")))
    assert model.score(torch.asarray(drawn.data)) == pytest.approx(
        model.score(Moments.from_rows(drawn.data, "abcdefgh"))
    )
    with pytest.raises(ValueError, match="The data have 3 columns, but the model was fitted to 8"):
        model.score(torch.asarray(drawn.data[:, :3]))
    assert model.n_features_in_ == 8
    model.fit(torch.asarray(drawn.data[:, :3]))
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


def test_what_a_masked_array_hides_is_missing(drawn):
    hidden = np.random.default_rng(0).random(drawn.data.shape) < 0.01
    masked = np.ma.masked_array(np.where(hidden, 1e6, drawn.data), hidden)
    with pytest.raises(ValueError, match=r"Missing values \(NaN\) in 8 of 8 columns"):
        Golem("ev").fit(masked)
    ours = Golem("ev", missing="drop").fit(masked)
    expected = Golem("ev").fit(drawn.data[~hidden.any(axis=1)])
    np.testing.assert_array_equal(ours.weights_, expected.weights_)
    with pytest.raises(ValueError, match="Missing values"):
        Moments.from_rows(masked)


def test_a_required_edge_stays_in_single_precision():
    known = Knowledge.of(3, required=[(0, 1)])
    moments = Moments.from_covariance(np.diag([1.0, 2.0, 3.0]), 100)
    model = Golem("ev", "adam", dtype="float32", max_iter=50, knowledge=known).fit(moments)
    assert model.adjacency_[0, 1]


@pytest.mark.parametrize(
    ("model", "name", "hint"),
    [
        (Golem, "score", "Did you mean 'score_function'?"),
        (Golem, "lamda_sparsity", "Did you mean 'lambda_sparsity'?"),
        (Golem, "zeal", "The parameters are 'noise', 'solver', "),
        (GolemCV, "selct", "Did you mean 'select'?"),
    ],
)
def test_an_unknown_parameter_is_refused_with_a_suggestion(model, name, hint):
    with pytest.raises(TypeError) as caught:
        model(**{name: "bdeu"})
    assert str(caught.value).startswith(f"{model.__name__} has no parameter {name!r}. {hint}")


def test_a_subclass_may_collect_parameters():
    class Mine(Golem):
        def __init__(self, **parameters):
            super().__init__(**parameters)

    assert Mine(noise="ev").noise == "ev"


def test_a_start_outside_the_domain_of_logdet_is_refused(drawn):
    start = 3.0 * (1 - np.eye(8))
    with pytest.raises(ValueError, match="not finite at the start"):
        Golem("ev", "adam", acyclicity="logdet", init=start).fit(drawn.data)


def test_equal_variances_can_be_interrupted(drawn, monkeypatch):
    from golem.search.equal import reversal_kernels

    def interrupted(*arguments):
        raise KeyboardInterrupt

    Golem("ev").fit(drawn.data)  # compile first
    monkeypatch.setattr(reversal_kernels, "reverse_edges", interrupted)
    with pytest.warns(ConvergenceWarning, match="Interrupted"):
        model = Golem("ev").fit(drawn.data)
    assert model.solution_.status is Status.INTERRUPTED
    assert model.adjacency_.any()
    monkeypatch.undo()
    with pytest.warns(ConvergenceWarning, match="time limit"):
        Golem("ev", time_limit=1e-9).fit(drawn.data)


@pytest.mark.torch
@pytest.mark.parametrize("seed", range(20))
def test_kernels_on_tensors_give_the_graph_of_numpy(seed):
    """The kernels that a GPU runs, on CPU tensors."""
    torch = pytest.importorskip("torch")
    from golem.score.sparsity import L0
    from golem.search.equal.equal_variances import fit_equal_variances

    drawn = simulate((12, 40, 90, 150)[seed % 4], 500, ("ER1", "ER2", "ER4", "SF4")[seed // 5], random_state=seed)
    moments = Moments.from_rows(drawn.data)
    S, n, penalties = moments.covariance, moments.n, L0().penalties(moments.n, moments.d)
    ours = fit_equal_variances(S, n, penalties)
    tensor = fit_equal_variances(S, n, penalties, working=torch.tensor(S))
    np.testing.assert_allclose(tensor.weights, ours.weights, atol=1e-8)
    single = torch.tensor(S, dtype=torch.float32)
    if np.linalg.cond(S) < 1e5:
        # Near ties may be ordered differently, but what is found scores as well.
        assert fit_equal_variances(S, n, penalties, working=single).score <= ours.score + 20


def test_single_precision_has_its_limits():
    rows = simulate(90, 500, "SF4", random_state=19).data
    assert np.linalg.cond(np.cov(rows.T)) > 1e7
    with pytest.raises(ValueError, match="Use dtype='float64'"):
        Golem("ev", dtype="float32").fit(rows)


@pytest.mark.torch
def test_tensors_are_read_where_they_lie(drawn):
    torch = pytest.importorskip("torch")
    far = drawn.data + 1e8
    ours, theirs = Golem("ev").fit(far), Golem("ev").fit(torch.asarray(far))
    np.testing.assert_allclose(theirs.moments_.covariance, ours.moments_.covariance, rtol=1e-12)
    np.testing.assert_allclose(theirs.weights_, ours.weights_, atol=1e-8)
    bad = torch.tensor(drawn.data)
    bad[3, 1] = float("nan")
    with pytest.raises(ValueError, match=r"'x1' \(1 value\)"):
        Golem().fit(bad)


@pytest.mark.torch
@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_minibatches_of_a_tensor_are_those_of_an_array(drawn, device):
    torch = pytest.importorskip("torch")
    model = Golem("ev", Adam(max_iter=300, batch_size=100), device=device, random_state=1)
    whole = np.round(1000 * drawn.data) + 1e6
    for rows in (torch.asarray(whole), torch.asarray(whole).int(), torch.asarray(whole).requires_grad_()):
        expected = clone(model).fit(whole).raw_weights_
        np.testing.assert_allclose(clone(model).fit(rows).raw_weights_, expected, atol=1e-9)
    whole[[3, 8], [1, 2]] = np.nan
    model.set_params(missing="drop")
    expected = clone(model).fit(whole).raw_weights_
    np.testing.assert_allclose(clone(model).fit(torch.asarray(whole)).raw_weights_, expected, atol=1e-9)


@pytest.mark.torch
@pytest.mark.parametrize("learner", [GolemCV(select="cv", cv=3), DirectLiNGAM()])
def test_a_tensor_has_rows_for_whatever_needs_them(learner):
    torch = pytest.importorskip("torch")
    data = simulate(4, 300, "ER1", "exponential", random_state=1).data
    expected, found = clone(learner).fit(data), clone(learner).fit(torch.asarray(data))
    np.testing.assert_allclose(found.weights_, expected.weights_, atol=1e-8)


def test_auto_takes_the_cpu_where_there_is_no_gpu_or_little_to_gain(drawn, monkeypatch):
    monkeypatch.setattr("golem.estimator.settings.gpu_is_there", lambda: pytest.fail("a small problem needs no GPU"))
    Golem("ev", device="auto").fit(drawn.data)
    Golem("nv", device="auto").fit(drawn.data)
    monkeypatch.setattr("golem.estimator.settings.gpu_is_there", lambda: True)
    placement = Golem("ev", device="auto").settings.placement(5000)
    assert (placement.device, placement.dtype) == ("cuda", "float64")
    assert Golem("nv", device="auto").settings.placement(5000).device == "cpu"


@pytest.mark.gpu
def test_the_gpu_gives_the_graph_of_the_cpu():
    for seed in range(20):
        X = simulate(100, 1000, ("ER1", "ER2", "ER4", "SF4")[seed % 4], random_state=seed).data
        ours, theirs = Golem("ev").fit(X), Golem("ev", device="cuda").fit(X)
        np.testing.assert_array_equal(ours.adjacency_, theirs.adjacency_)
        np.testing.assert_allclose(ours.weights_, theirs.weights_, atol=1e-8)


def test_a_path_is_no_data(tmp_path):
    for path in ("plain.csv", tmp_path / "plain.csv"):
        for model in (Golem(), GolemCV(), PC()):
            with pytest.raises(ValueError, match=r"not a path\. .*read_csv\('.*plain\.csv'\).*golem\.fit_file"):
                model.fit(path)


def test_a_seed_that_is_none_and_a_plot_before_the_fit_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"random_state must be a whole number of at least 0.*; got 'a'"):
        Golem(random_state="a").fit(np.eye(3))
    with pytest.raises(ValueError, match="got -1"):
        Golem(random_state=-1).check_settings()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        Golem().plot()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        Golem().report(tmp_path / "x.html")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "accelerate=True needs device='cuda'; got device='cpu'"),
        ({"device": "auto"}, "accelerate=True needs device='cuda'; got device='auto'"),
        ({"device": "cuda", "dtype": "float32"}, "accelerate=True needs dtype='float64'"),
    ],
)
def test_acceleration_is_refused_where_it_would_do_nothing(changes, message):
    with pytest.raises(ValueError, match=message):
        Golem.paper("ev", accelerate=True, **changes).fit(np.eye(3))


def test_the_recipe_is_exact_unless_acceleration_is_asked_for():
    assert Golem.paper("nv").settings.check().chosen_solver.accelerate is False
    assert Golem.paper("nv", accelerate=True, device="cuda").settings.check().chosen_solver.accelerate is True
    with pytest.raises(ValueError, match="Set accelerate in the solver"):
        Golem.paper("nv", accelerate=True, solver="adam")


@pytest.mark.parametrize(("solver", "matrices"), [("order", 4), ("adam", 24), ("lbfgs", 125)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_memory_is_asked_for_before_a_solve(solver, matrices, monkeypatch):
    asked = []
    monkeypatch.setattr(Placement, "require_memory", lambda self, count, *rest: asked.append(count))
    Golem("ev", solver, max_iter=None if solver == "order" else 2).fit(simulate(5, 50, random_state=0).data)
    assert asked == [matrices]


@pytest.mark.parametrize("noise", ["nv", "ev", "auto"])
def test_the_order_of_the_columns_has_no_effect(noise):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        names = [f"v{k}" for k in rng.permutation(20)]
        table = pd.DataFrame(simulate(20, 60, "ER2", "gaussian-nv", random_state=seed).data, columns=names)
        knowledge = Knowledge.named(forbidden=[(names[0], names[1])], required=[(names[2], names[3])])
        start = list(rng.permutation(names))
        models = []
        for other in (table, table[rng.permutation(names)]):
            init = None if seed == 0 else [list(other).index(name) for name in start]
            models.append(Golem(noise, knowledge=knowledge, init=init).fit(other))
        first, second = models
        index = [list(second.feature_names_in_).index(name) for name in names]
        block = np.ix_(index, index)
        np.testing.assert_allclose(second.weights_[block], first.weights_, rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(second.undecided_[block], first.undecided_)
        assert first.adjacency_[2, 3]
        assert not first.adjacency_[0, 1]
        if noise == "auto":
            for kind, graph in first.noise_choice_.graphs.items():
                np.testing.assert_array_equal(second.noise_choice_.graphs[kind][block], graph)
