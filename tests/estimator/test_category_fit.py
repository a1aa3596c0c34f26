"""Fits of tables with categories, compared with regressions and counts by hand and with a search over all graphs."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency
from sklearn.exceptions import ConvergenceWarning

from golem import Golem, Knowledge, bootstrap
from golem.data.category_columns import read_coded
from golem.data.checks import DataWarning
from golem.data.coded_tables import CodedTable
from golem.data.table import Table
from golem.data.variables import Coding, Variable
from golem.graphs.dag import cpdag, is_dag
from golem.output import list_edges
from golem.score.sparsity import L0
from golem.simulate import simulate_table
from golem.solvers import Status


def mixed_table(n=500, seed=0):
    """Return a chain: a category, two numbers and a category."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["low", "mid", "high"], n, p=[0.5, 0.3, 0.2])
    dose = pd.Series(kind).map({"low": 0.0, "mid": 1.5, "high": -1.0}).to_numpy() + rng.normal(size=n)
    size = 0.8 * dose + rng.normal(size=n)
    sick = np.where(size + rng.logistic(size=n) > 0, "yes", "no")
    return pd.DataFrame({"kind": kind, "dose": dose, "size": size, "sick": sick})


def discrete_table(n=800, seed=1):
    """Return a collider of two independent categories, and one category after it."""
    rng = np.random.default_rng(seed)
    a, b = rng.choice(["x", "y", "z"], n), rng.choice(["l", "r"], n)
    c = np.where(rng.random(n) < 0.1 + 0.5 * (a == "x") + 0.3 * (b == "l"), "on", "off")
    d = np.where(rng.random(n) < np.where(c == "on", 0.8, 0.2), "1st", "2nd")
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})


def all_dags(d):
    """Yield all DAGs of d nodes."""
    pairs = list(itertools.combinations(range(d), 2))
    for ways in itertools.product((None, 0, 1), repeat=len(pairs)):
        graph = np.zeros((d, d), dtype=bool)
        for (i, j), way in zip(pairs, ways, strict=True):
            if way is not None:
                graph[(i, j) if way else (j, i)] = True
        if is_dag(graph):
            yield graph


def indicators(table):
    """Return the columns of each variable: numbers, or an indicator per level but the most frequent."""
    found = {}
    for name in table:
        column = table[name]
        if column.dtype.kind == "f":
            found[name] = column.to_numpy()[:, None]
        else:
            counts = column.value_counts()
            rest = sorted(set(column) - {counts.index[0]})
            found[name] = np.column_stack([column == level for level in rest]).astype(float)
    return found


def test_mixed_score_finds_the_best_of_all_graphs():
    table = mixed_table()
    columns, n, names = indicators(table), len(table), list(table)

    def cost(j, parents):
        Y, X = columns[names[j]], np.ones((n, 1))
        X = np.column_stack([X, *(columns[names[i]] for i in parents)])
        residual = Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0]
        deviance = n * np.linalg.slogdet(residual.T @ residual / n)[1]
        penalty = L0().penalties(1, len(names))[len(parents)]
        return deviance + np.log(n) * (X.shape[1] - 1) * Y.shape[1] + penalty

    scores = {g.tobytes(): sum(cost(j, np.flatnonzero(g[:, j])) for j in range(4)) for g in all_dags(4)}
    model = Golem().fit(table)
    assert model.score_ == "mixed"
    assert scores[model.adjacency_.tobytes()] == pytest.approx(min(scores.values()), abs=1e-5)
    assert 2 * n * model.solution_.terms["score"] == pytest.approx(min(scores.values()), rel=1e-6)


def test_edges_of_numbers_have_weights_and_other_edges_coefficients_per_level():
    table = mixed_table()
    model = Golem(knowledge=Knowledge.named(required=[("kind", "size"), ("dose", "size")])).fit(table)
    names = list(table)
    numbers = np.isfinite(model.weights_) & model.adjacency_
    is_number = np.array([not variable.is_category for variable in model.variables_])
    assert (numbers == (model.adjacency_ & np.outer(is_number, is_number))).all()
    assert ((model.weights_ != 0) == model.adjacency_).all()  # NaN is not zero
    parents = [names[i] for i in np.flatnonzero(model.adjacency_[:, names.index("size")])]
    assert {"kind", "dose"} <= set(parents)
    columns = indicators(table)
    X = np.column_stack([np.ones(len(table)), *(columns[name] for name in parents)])
    fit = np.linalg.lstsq(X, table["size"], rcond=None)[0]
    where = np.cumsum([1, *(columns[name].shape[1] for name in parents)])
    dose = where[parents.index("dose")]
    assert model.weights_[names.index("dose"), names.index("size")] == pytest.approx(fit[dose])
    by_level = {
        one.source_level: one.coefficient for one in model.coefficients_ if (one.source, one.target) == ("kind", "size")
    }
    first = where[parents.index("kind")]
    assert by_level == pytest.approx({"high": fit[first], "mid": fit[first + 1]})
    graph = model.graph_
    intercepts = model.fit_.score.regression.intercepts_of(graph, graph.weights)
    assert intercepts[names.index("size")] == pytest.approx(fit[0])


def test_standard_errors_are_those_of_least_squares():
    table = mixed_table()
    model = Golem(knowledge=Knowledge.named(required=[("kind", "dose")])).fit(table[["kind", "dose"]])
    one = next(one for one in model.coefficients_ if (one.source, one.target) == ("kind", "dose"))
    X = np.column_stack([np.ones(len(table)), indicators(table)["kind"]])
    residual = table["dose"] - X @ np.linalg.lstsq(X, table["dose"], rcond=None)[0]
    variance = residual @ residual / (len(X) - 3) * np.linalg.inv(X.T @ X)
    assert one.standard_error == pytest.approx(np.sqrt(variance[1, 1]))


@pytest.mark.parametrize("score", ["bdeu", "discrete-bic"])
def test_strength_of_categories_is_the_likelihood_ratio_statistic(score):
    table = discrete_table()
    model = Golem(score_function=score).fit(table)
    assert model.adjacency_.astype(int).tolist() == [[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert (model.cpdag_ == cpdag(model.adjacency_)).all()
    G = chi2_contingency(pd.crosstab(table["c"], table["d"]), correction=False, lambda_="log-likelihood").statistic
    strength = {(one.source, one.target): one.edge_strength for one in model.edges_}
    assert strength["c", "d"] == pytest.approx(G)
    assert np.isnan(model.weights_[model.adjacency_]).all()


def test_the_loss_of_score_shows_that_an_edge_to_many_levels_does_not_pay():
    rng, n = np.random.default_rng(0), 600
    table = pd.DataFrame({"dose": rng.normal(size=n), "ward": rng.choice([f"ward {k}" for k in range(15)], n)})
    (edge,) = list_edges(Golem(knowledge=Knowledge.named(required=[("dose", "ward")])).fit(table))
    assert edge.edge_strength > 10  # the chi-squared statistic of 14 degrees of freedom
    assert edge.drop_loss < 0
    penalty = 14 * np.log(n) + L0().penalties(1, 2)[1]
    assert edge.edge_strength - edge.drop_loss == pytest.approx(penalty)


def test_auto_chooses_the_score_by_the_types_of_the_columns():
    assert Golem().fit(mixed_table()).score_ == "mixed"
    discrete = discrete_table()
    assert Golem().fit(discrete).score_ == "discrete-bic"  # 2.25 levels on average
    discrete["b"] = np.random.default_rng(0).choice(["l", "m", "r", "s"], len(discrete))
    assert Golem().fit(discrete).score_ == "discrete-bic"  # all pairs of levels occur
    discrete["b"] = discrete["c"].astype(str) + discrete["d"].astype(str)
    assert Golem().fit(discrete).score_ == "bdeu"
    discrete["d"] = np.random.default_rng(0).choice([f"level {i}" for i in range(9)], len(discrete))
    assert Golem().fit(discrete).score_ == "mixed"
    numbers = Golem().fit(mixed_table()[["dose", "size"]])
    assert (numbers.score_, numbers.coefficients_) == ("gaussian", [])
    assert [one.kind for one in numbers.variables_] == ["numeric", "numeric"]


def test_shapes_of_noise_are_mentioned_only_if_there_are_numbers():
    assert "because the table has categories" in Golem().fit(mixed_table()).graph_.shape_note
    assert Golem(shape="off").fit(mixed_table()).graph_.shape_note == ""
    undecided = Golem().fit(discrete_table()[["c", "d"]])
    assert undecided.undecided_.any()
    assert undecided.graph_.shape_note == ""


def test_order_and_names_of_columns_do_not_matter():
    table = mixed_table()
    model, turned = Golem().fit(table), Golem().fit(table[list(table)[::-1]])
    assert {one[:2]: one.edge_strength for one in model.edges_} == pytest.approx(
        {one[:2]: one.edge_strength for one in turned.edges_}
    )


def test_no_model_of_numbers_is_made_up():
    model = Golem().fit(mixed_table())
    assert not hasattr(model, "sem_")
    with pytest.raises(AttributeError, match="categories has no linear model"):
        _ = model.sem_
    with pytest.raises(ValueError, match=r"score\(X\) is a Gaussian log-likelihood, and is not available"):
        model.score(mixed_table(seed=3))
    numbers = model.fit(mixed_table()[["dose", "size"]])
    assert hasattr(numbers, "sem_")


def test_knowledge_is_obeyed():
    knowledge = Knowledge.named(forbidden=[("kind", "dose")], required=[("sick", "size")])
    model = Golem(knowledge=knowledge).fit(mixed_table())
    assert model.adjacency_[3, 2]
    assert not model.adjacency_[0, 1]
    assert {one[:2]: one.direction_from for one in model.edges_}["sick", "size"] == "knowledge"


@pytest.mark.parametrize(
    ("settings", "columns", "message"),
    [
        ({"score_function": "gaussian"}, ["kind", "dose"], "needs numbers, but 1 column is a category: 'kind'"),
        ({"score_function": "bdeu"}, ["kind", "dose"], "needs a table of categories, but 1 column is a number: 'dose'"),
        ({"score_function": "mixed"}, ["dose", "size"], "needs categories, but all columns are numbers"),
        ({"score_function": "bic"}, ["kind", "dose"], "must be one of 'auto', 'gaussian', 'mixed'"),
        ({"score_function": []}, ["kind", "dose"], "must be one of 'auto', 'gaussian', 'mixed'"),
        ({"solver": "lbfgs"}, ["kind", "dose"], "solver='lbfgs' cannot be used here: the score 'mixed'"),
        ({"noise": "ev"}, ["kind", "dose"], "has no equal noise variances"),
        ({"init": "ev"}, ["kind", "dose"], "starts from an order or a graph"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, columns, message):
    with pytest.raises(ValueError, match=message):
        Golem(**settings).fit(mixed_table(60)[columns])


def test_independent_coins_have_hardly_any_edges():
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame(rng.integers(2, size=(500, 20)).astype(str)).add_prefix("x") for _ in range(10)]
    assert sum(len(Golem().fit(table).edges_) for table in tables) <= 2  # 0.05 per table are expected


@pytest.mark.parametrize("score", ["bdeu", "discrete-bic"])
def test_the_penalty_per_edge_can_be_chosen_for_counts(score):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(2, size=(300, 12)).astype(str)).add_prefix("x")
    table["y"] = np.where(rng.random(300) < 0.7, table["x0"], table["x1"])
    strict, default, bic, none = (
        Golem(score_function=score, lambda_sparsity=penalty).fit(table) for penalty in (1.0, "mbic", "bic", 0.0)
    )
    assert len(strict.edges_) == 0
    assert len(strict.edges_) < len(default.edges_) <= len(bic.edges_) <= len(none.edges_)
    assert len(bic.edges_) < len(none.edges_) or score == "bdeu"  # "bic" and 0 add nothing to a marginal likelihood
    assert {one[:2] for one in Golem(score_function=score).fit(table).edges_} == {one[:2] for one in default.edges_}
    as_number = Golem(score_function=score, lambda_sparsity=np.log(300) / 600 if score == "discrete-bic" else 0.0)
    assert {one[:2] for one in as_number.fit(table).edges_} == {one[:2] for one in bic.edges_}


@pytest.mark.parametrize("noise", ["ev", "nv"])
def test_the_papers_recipe_needs_numbers(noise):
    with pytest.raises(
        ValueError, match=r"The paper's recipe \(Golem\.paper\) needs a table of numbers.*Use Golem\(\)\."
    ):
        Golem.paper(noise).fit(mixed_table(60))


def test_advice_about_scores_can_be_followed():
    table = mixed_table(200)
    table["ward"] = np.arange(200) % 3.0
    cases = [
        ("gaussian", ["kind", "sick"], "Use score_function='auto'."),
        ("gaussian", ["kind", "dose"], "Use score_function='auto'."),
        ("gaussian", ["kind", "dose", "size"], "Use score_function='auto', or drop it: X.drop(columns=['kind'])."),
        ("bdeu", ["kind", "dose", "ward"], "Use score_function='mixed'."),
        ("mixed", ["dose", "size"], "Use score_function='auto'."),
    ]
    for score, columns, advice in cases:
        with pytest.raises(ValueError, match="needs") as error:
            Golem(score_function=score).fit(table[columns])
        assert str(error.value).endswith(f" {advice}")
    for score, columns in (("bdeu", ["kind", "sick", "ward"]), ("mixed", ["dose", "ward"])):
        with pytest.raises(ValueError, match=r"X\.astype\({'ward': 'category'}\)\.$"):
            Golem(score_function=score).fit(table[columns])
        Golem(score_function=score).fit(table[columns].astype({"ward": "category"}))
    with pytest.raises(ValueError, match=r"categories, in a DataFrame\.$"):
        Golem(score_function="mixed").fit(table[["dose", "ward"]].to_numpy())


def test_missing_values_are_dropped_or_estimated():
    table = mixed_table(400)
    gaps = table.astype({"kind": object})
    gaps.loc[gaps.index[:40], "kind"] = None
    with pytest.raises(ValueError, match="kind"):
        Golem().fit(gaps)
    dropped = Golem(missing="drop").fit(gaps)
    assert (dropped.adjacency_ == Golem().fit(table[40:]).adjacency_).all()
    assert dropped.missing_.columns == {"kind": 40}
    estimated = Golem(missing="em").fit(gaps)
    assert 360 <= estimated.moments_.n < 400
    assert estimated.missing_.columns == {"kind": 40}


def test_the_error_about_gaps_offers_what_works():
    gaps = mixed_table(400).astype({"kind": object})
    gaps.loc[gaps.index[:40], "kind"] = None
    with pytest.raises(ValueError, match=r"use Gaussian EM \(missing='em'\), or impute"):
        Golem().fit(gaps)


def test_em_without_gaps_changes_nothing_in_a_table_of_categories(recwarn):
    table = discrete_table()
    for score in ("auto", "bdeu", "discrete-bic"):
        model, plain = (Golem(missing=missing, score_function=score).fit(table) for missing in ("em", "error"))
        assert [model.score_, model.missing_.sentence] == [plain.score_, "No values are missing in 800 rows."]
        assert model.solution_.terms == plain.solution_.terms
        frequencies = [bootstrap(one, table, 3, random_state=0).direction_frequency for one in (model, plain)]
        np.testing.assert_array_equal(*frequencies)
    assert not [warning for warning in recwarn if "missing='em'" in str(warning.message)]


def test_em_in_a_table_of_categories_says_that_it_changes_the_score():
    gaps = discrete_table().astype(object)
    gaps.iloc[0, 0] = None
    with pytest.raises(ValueError, match=r"Drop those rows \(missing='drop'\) or impute the values first\.$"):
        Golem().fit(gaps)
    dropped = Golem(missing="drop").fit(gaps)
    with pytest.warns(DataWarning, match="use missing='drop': it allows scores that count categories"):
        estimated = Golem(missing="em").fit(gaps)
    assert (estimated.score_, dropped.score_) == ("mixed", "discrete-bic")
    for score in ("bdeu", "discrete-bic"):
        with pytest.raises(ValueError, match=r"missing='em' cannot be used here: .* counts complete rows"):
            Golem(missing="em", score_function=score).fit(gaps)


def test_discrete_scores_need_all_rows():
    table = read_coded(discrete_table())
    moments = table.moments()
    assert (Golem().fit(Table.single(moments, table.rows)).adjacency_ == Golem().fit(discrete_table()).adjacency_).all()
    with pytest.raises(ValueError, match="not all of them are in memory"):
        Golem().fit(Table.single(moments, table.rows[:100]))
    assert Golem().fit(moments).score_ == "mixed"  # which needs no rows
    with pytest.raises(ValueError, match="not all of them are in memory"):
        Golem(score_function="bdeu").fit(moments)


def test_a_category_that_another_determines_has_a_finite_score():
    table = mixed_table()
    table["group"] = np.where(table["kind"] == "low", "A", "B")
    model = Golem().fit(table)
    assert np.isfinite(model.solution_.terms["score"])
    assert all(np.isfinite(one.edge_strength) for one in model.edges_)


def test_a_category_of_two_levels_is_scored_like_its_indicator():
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.integers(0, 2, 300), rng.normal(size=(300, 2))])
    rows[:, 1] += rows[:, 0]
    rows[:, 2] += rows[:, 1]
    coding = Coding((Variable("a", "category", ("0", "1")), Variable("b"), Variable("c")))
    model = Golem().fit(CodedTable(coding, rows).moments())
    numbers = Golem("nv", shape="off").fit(pd.DataFrame(rows, columns=list("abc")))
    assert (model.cpdag_ == numbers.cpdag_).all()


@pytest.mark.parametrize("score", ["mixed", "bdeu"])
def test_progress_has_the_units_of_the_score(score):
    table, seen = simulate_table(20, 300, mechanism="discrete", random_state=0).table, []
    model = Golem(score_function=score, callback=seen.append).fit(table)
    terms = model.solution_.terms
    assert {state.stage for state in seen} == {f"order-{score}"}
    assert seen[-1].score == terms["score"] == pytest.approx(terms["likelihood"] + terms["sparsity"])
    assert all(state.score >= terms["score"] - 1e-9 for state in seen)
    assert len(model.solution_.trace) > 1
    assert terms["h"] == terms["l1"] == 0.0  # no numbers, no weights


def test_an_interrupt_at_the_end_keeps_the_graph():
    def interrupt(state):
        if state.iteration == state.max_iter:
            raise KeyboardInterrupt

    table = mixed_table()
    with pytest.warns(ConvergenceWarning):
        model = Golem(callback=interrupt).fit(table)
    assert model.solution_.status is Status.INTERRUPTED
    np.testing.assert_array_equal(model.adjacency_, Golem().fit(table).adjacency_)
