"""Checks of tables with categories."""

import pickle

import numpy as np
import pandas as pd
import pytest

from golem import Golem, Knowledge, diagnose
from golem.assessment.diagnostics.checked_model import rows_of_model


def drawn(n=400, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["a", "b", "c"], n)
    first = (kind == "b") * 1.5 + rng.normal(size=n)
    flag = np.where(first + rng.logistic(size=n) > 0, "yes", "no")
    return pd.DataFrame({"kind": kind, "first": first, "second": first + rng.normal(size=n), "flag": flag})


def test_checks_that_apply_are_made_and_the_others_are_named():
    table = drawn()
    found = diagnose(Golem().fit(table), table)
    levels = {finding.name: finding.level for finding in found.findings}
    assert levels["determined"] == levels["rare-levels"] == levels["odd-values"] == levels["search"] == "ok"
    assert "variables count as 5 columns" in found["rows"].finding
    assert "linearity" in found["numbers-only"].finding
    assert "equal-variances" not in levels
    assert diagnose(Golem().fit(table)).at("warning") == []


def test_rows_must_have_the_types_and_levels_of_the_model():
    table = drawn()
    model = Golem().fit(table)
    renamed = table.replace({"flag": {"yes": "Y", "no": "N"}, "kind": {"c": "d"}})
    with pytest.raises(ValueError, match=r"the model does not have: 'kind' \('d'\), 'flag' \('Y', 'N'\)\. "):
        diagnose(model, renamed)
    with pytest.raises(ValueError, match="Column 'flag' is a number in X, but a category in the model"):
        diagnose(model, table.assign(flag=np.arange(400.0)))
    # A part of the rows can lack levels, and another level can be the most frequent.
    levels = model.variables_[0].levels
    part = table[table["kind"] == levels[2]], table[table["kind"] == levels[0]][:9]
    part = pd.concat(part).iloc[:, ::-1]
    np.testing.assert_array_equal(
        rows_of_model(part, model.table_.coding)[:, 0], [levels.index(level) for level in part["kind"]]
    )


def test_arrays_of_booleans_are_matched_by_position():
    X = np.random.default_rng(0).random((200, 3)) < [0.3, 0.6, 0.5]
    model = Golem().fit(X)
    levels = np.array([variable.levels for variable in model.variables_])
    codes = rows_of_model(X[:50], model.table_.coding).astype(int)
    np.testing.assert_array_equal(levels[np.arange(3), codes], X[:50].astype(str))
    np.testing.assert_array_equal(rows_of_model(codes.astype(float), model.table_.coding), codes)
    assert diagnose(model, X) == diagnose(model)  # the score counts all rows


@pytest.mark.parametrize("columns", [["kind", "first", "flag", "group"], ["kind", "flag", "group"]])
def test_a_category_that_another_determines_is_named_with_a_remedy(columns):
    table = drawn().assign(group=lambda table: np.where(table["kind"] == "a", "A", "other"))[columns]
    found = diagnose(Golem().fit(table), table)["determined"]
    assert found.level == "warning"
    assert "'group' by 'kind'" in found.finding
    assert "X.drop(columns=[" in found.remedy
    assert "group" in found.remedy


def test_a_number_that_a_category_determines_is_named():
    table = drawn().assign(price=lambda table: table["kind"].map({"a": 1.5, "b": 2.25, "c": 9.0}))
    assert "'price' by 'kind'" in diagnose(Golem().fit(table))["determined"].finding


def test_a_sum_of_other_columns_is_determined_by_all_of_them():
    table = drawn().assign(total=lambda table: table["first"] + table["second"])
    assert "'total' by the others together" in diagnose(Golem().fit(table))["determined"].finding


def aged(n, noise=0.0, seed=0):
    """Return an age, its group, and a number that depends on the age."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 80, n).round()
    group = np.digitize(age + noise * rng.normal(size=n), [40, 60])
    return pd.DataFrame(
        {"age": age, "group": np.array(["young", "middle", "old"])[group], "bp": 0.5 * age + 5 * rng.normal(size=n)}
    )


def test_a_category_that_was_cut_from_a_number_is_named():
    table = aged(300)
    found = diagnose(Golem().fit(table), table)["determined"]
    assert found.level == "warning"
    assert "determine categories whose levels are separate ranges: 'group' by 'age'." in found.finding
    assert "Drop categories that were cut from a number, e.g. X.drop(columns=['group'])." in found.remedy
    two = table.assign(senior=table["age"] > 50)
    found = diagnose(Golem().fit(two), two)["determined"]
    assert "'group' by 'age', 'senior' by 'age'." in found.finding
    assert "X.drop(columns=['group', 'senior'])" in found.remedy  # not the age


def test_well_separated_groups_are_determined_in_this_table_only():
    rng = np.random.default_rng(0)
    dose = rng.choice(["low", "high"], 200)
    level = 12 * (dose == "high") + rng.normal(size=200)
    table = pd.DataFrame({"dose": dose, "level": level, "effect": level + 3 * rng.normal(size=200)})
    found = diagnose(Golem().fit(table), table)["determined"]
    assert found.level == "warning"  # the edge to 'effect' can come from either of the two
    assert found.finding.startswith("In this table, numbers determine categories")
    assert "'dose' by 'level'." in found.finding
    assert "Keep those that were observed on their own" in found.remedy


def test_what_a_category_and_what_a_number_determine_are_listed_apart():
    table = aged(300).assign(half=lambda table: np.where(table["group"] == "old", "B", "A"))
    found = diagnose(Golem().fit(table), table)["determined"]
    assert "1 variable is determined by others: 'half' by 'group'." in found.finding
    assert "separate ranges: 'group' by 'age'." in found.finding


@pytest.mark.filterwarnings("ignore:'group' .* fewer than 5 rows")
def test_a_category_whose_ranges_overlap_or_have_few_rows_is_not_determined():
    other = aged(300, noise=2)
    few = aged(300).query("group != 'old' or index < 10")
    assert 1 < (few["group"] == "old").sum() < 5
    for table in (other, few):
        model = Golem().fit(table)
        assert model.graph_.matrix()[[0, 1], [1, 0]].any()
        assert diagnose(model, table)["determined"].level == "ok"


def both(n, dependence, noise=0.0, seed=0):
    """Return a category that is 1 where two others are, except for a share of the rows."""
    rng = np.random.default_rng(seed)
    a = rng.integers(2, size=n)
    b = np.where(rng.random(n) < dependence, a, rng.integers(2, size=n))
    c = (a & b) ^ (rng.random(n) < noise)
    effect = np.where(rng.random(n) < 0.8, c, rng.integers(2, size=n))
    return pd.DataFrame({"a": a, "b": b, "c": c, "effect": effect}).astype(str)


@pytest.mark.parametrize("score", ["mixed", "bdeu", "discrete-bic"])
@pytest.mark.parametrize("dependence", [0.0, 0.5])
def test_a_category_that_several_determine_is_named(score, dependence):
    # If 'a' and 'b' depend on each other, which of the three has no children in the graph is arbitrary.
    for seed in range(3):
        table = both(400, dependence, seed=seed)
        found = diagnose(Golem(score_function=score).fit(table), table)["determined"]
        assert found.level == "warning"
        assert "1 variable is determined by others: 'c' by " in found.finding
        assert "'a'" in found.finding
        assert "'b'" in found.finding
        assert "effect" not in found.finding
        assert "directions of edges between these variables are not reliable" in found.finding
        assert "X.drop(columns=['c'])" in found.remedy


@pytest.mark.parametrize(
    ("added", "drop"),
    [
        (lambda t: {"copy": t["a"], "again": t["a"]}, ["copy", "again"]),
        (lambda t: {"copy": t["a"], "e": np.where((t["a"] == "1") & (t["d"] == "y"), "1", "0")}, ["copy", "e"]),
        (lambda t: {"x": t["d"] == "x", "y": t["d"] == "y"}, ["d"]),
        (lambda t: {"city": t["a"] + t["d"]}, ["city"]),
        (lambda t: {"total": t["first"] + t["second"]}, ["total"]),
    ],
)
def test_dropping_the_columns_that_are_named_ends_the_warning(added, drop):
    rng = np.random.default_rng(1)
    a, d = rng.integers(2, size=300).astype(str), rng.choice(["x", "y", "z"], 300)
    table = pd.DataFrame({"a": a, "d": d, "first": rng.normal(size=300), "second": rng.normal(size=300)})
    table = table.assign(**added(table))
    assert f"X.drop(columns={drop})" in diagnose(Golem().fit(table), table)["determined"].remedy
    rest = table.drop(columns=drop)
    assert diagnose(Golem().fit(rest), rest)["determined"].level == "ok"


def test_scores_that_count_rows_need_no_table_to_find_what_several_determine():
    table = both(400, 0.0)
    assert "'c' by 'a' and 'b'" in diagnose(Golem(score_function="bdeu").fit(table))["determined"].finding
    # The score of mixed tables keeps only moments, which do not tell; a small table is kept with its rows.
    mixed = Golem(score_function="mixed").fit(table)
    assert diagnose(mixed)["determined"].level == "warning"
    assert diagnose(pickle.loads(pickle.dumps(mixed)))["determined"].level == "ok"


def test_exceptions_do_not_determine_a_category():
    table = both(400, 0.0, noise=0.02)
    assert diagnose(Golem().fit(table), table)["determined"].level == "ok"


@pytest.mark.parametrize(("repeats", "level"), [(4, "ok"), (5, "warning")])
def test_a_few_rows_per_combination_of_levels_may_agree_by_accident(repeats, level):
    a, b = np.tile([[0, 0, 1, 1], [0, 1, 0, 1]], repeats)
    table = pd.DataFrame({"a": a, "b": b, "c": a ^ b}).astype(str)
    known = Knowledge.named(required=[("a", "c"), ("b", "c")])
    assert diagnose(Golem(knowledge=known).fit(table), table)["determined"].level == level


def test_a_level_that_two_categories_share_does_not_make_them_copies():
    rng, absent = np.random.default_rng(3), np.arange(400) < 6
    first, second = (np.where(absent, "unknown", rng.choice(["x", "y"], 400)) for _ in range(2))
    table = pd.DataFrame({"first": first, "second": second, "size": rng.normal(size=400)})
    found = diagnose(Golem().fit(table))["determined"]
    assert "Other variables determine some levels of 'first' ('unknown'), 'second' ('unknown')." in found.finding
    assert "missing" in found.remedy
    assert "drop" not in found.remedy


def test_rare_levels_and_nearly_constant_categories_are_notes():
    table = drawn()
    table.loc[:2, "kind"] = "rare"
    table["always"] = np.where(np.arange(len(table)) < 10, "no", "yes")
    with pytest.warns(UserWarning, match="rare"):
        found = diagnose(Golem().fit(table))
    assert "'kind' ('rare')" in found["rare-levels"].finding
    assert "'always' is 'yes' in 97.5% of the rows" in found["near-constant"].finding


def test_a_second_search_is_made_for_larger_tables():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({f"c{k}": rng.choice(["x", "y"], 200) for k in range(14)})
    table["c1"] = table["c0"]
    table.loc[:20, "c1"] = "x"
    assert diagnose(Golem(effort="fast").fit(table))["search"].finding.startswith("A second search")
