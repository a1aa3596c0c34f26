"""Repeated rows: copies in tables of categories and of numbers, and rows that agree by chance."""

from __future__ import annotations

import itertools
import subprocess

import numpy as np
import pandas as pd
import pytest

from golem import Golem
from golem.assessment.diagnostics.dependent_rows import _differ_in_one_column, _random_numbers, find_repetition
from golem.data.moments import Moments
from golem.diagnostics import diagnose
from golem.runtime.dialects import SHELL
from golem.runtime.problems import told

NAMES = tuple("abcd")


def checked(rows, has_numbers=False):
    return find_repetition(rows, Moments.from_rows(rows), has_numbers)


def test_repeated_rows_of_categories_are_found_in_any_order(rng):
    table = pd.DataFrame(rng.choice(["no", "yes"], size=(300, 4)), columns=NAMES)
    for repeated in (table.loc[table.index.repeat(5)], pd.concat([table] * 2).sample(frac=1, random_state=0)):
        for data in (repeated, None):  # discrete scores keep the codes
            found = diagnose(Golem(score_function="bdeu").fit(repeated), data)
            assert found.effective_rows == 300
            assert found["dependent-rows"].level == "warning"
            assert f"a multiple of {len(repeated) // 300} rows" in found["dependent-rows"].finding
    for other in (table, table.sort_values(list(NAMES)), pd.concat([table, table, table[:1]])):
        found = diagnose(Golem().fit(other), other)
        assert (found["dependent-rows"].level, found.effective_rows) == ("ok", None)


def test_repeated_rows_of_a_sample_are_counted_in_the_whole_table(rng):
    table = pd.DataFrame(rng.choice(list("abcdef"), size=(1500, 5)), columns=list("vwxyz"))
    repeated = table.loc[table.index.repeat(2)]
    model = Golem(score_function="mixed").fit(repeated)
    found = diagnose(model, repeated[:1000])
    assert found.effective_rows == 1500
    assert "The 3000 rows carry at most as much information as about 1500" in found["dependent-rows"].finding
    assert "a sample of 1000 of 3000" in found["sample"].finding


@pytest.mark.parametrize(
    "runs",
    [
        list(itertools.product("ab", "xy", "lr")),
        list(itertools.product("aab", "xyz", "lmr")),  # twice as many rows of 'a'
        [(a, b, c, str((a + b + c) % 3)) for a, b, c in itertools.product(range(3), repeat=3)],  # a fractional design
    ],
)
def test_replicates_of_a_balanced_design_are_not_copies(runs):
    table = pd.DataFrame(runs * 4).astype(str).rename(columns=str)
    design = diagnose(Golem().fit(table), table)
    assert (design["dependent-rows"].level, design.effective_rows) == ("ok", None)
    assert "balanced design" in design["dependent-rows"].finding
    # Without its balance it is a table like any other, of which there are copies.
    some = pd.concat([table.iloc[: len(runs) - 1]] * 4)
    assert diagnose(Golem().fit(some), some).effective_rows is not None


def test_copies_of_different_rows_are_found(rng):
    codes = rng.integers(0, 2, size=(60, 30))
    assert len(np.unique(codes, axis=0)) == 60
    assert checked(np.vstack([codes, codes]))[1] == 60


def test_few_combinations_can_be_in_multiples_of_rows_by_accident(rng):
    codes = rng.integers(0, 2, size=(2000, 200, 2))
    assert sum(checked(table)[1] is not None for table in codes) <= 6


@pytest.mark.filterwarnings("ignore:Neighbouring rows depend")
def test_copies_of_rows_of_numbers_are_found_in_any_order(rng):
    X = rng.normal(size=(200, 4))
    for repeated in (np.repeat(X, 5, axis=0), rng.permutation(np.vstack([X] * 3))):
        found = diagnose(Golem().fit(repeated), repeated)
        assert found.effective_rows == 200
        assert found["dependent-rows"].level == "warning"
        assert found["dependent-rows"].finding.startswith(f"{len(repeated) - 200} of {len(repeated)} rows seem to be")


def test_some_copies_are_found_and_few_are_a_note(rng):
    X = rng.normal(size=(300, 4))
    for count, level, left in ((9, "ok", None), (10, "note", None), (60, "warning", 300)):
        finding, effective = checked(np.vstack([X, X[:count]]), has_numbers=True)
        assert (finding.level, effective) == (level, left)
        if level != "ok":
            assert finding.finding.startswith(f"{count} of {300 + count} rows are exact copies of others.")


def test_copies_in_a_table_with_categories_and_numbers(rng):
    table = pd.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200), "kind": rng.choice(["a", "b"], 200)})
    table = pd.concat([table, table[:80]])
    found = diagnose(Golem().fit(table), table)
    assert (found["dependent-rows"].level, found.effective_rows) == ("warning", 200)


@pytest.mark.parametrize("seed", range(30))
def test_rounded_numbers_agree_by_chance(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 4)) @ np.triu(np.ones((4, 4)))
    X = np.round(X / X.std(axis=0) * rng.uniform(1, 4, size=4))
    assert len(np.unique(X, axis=0)) < 950
    assert checked(X, has_numbers=True)[0].level == "ok"
    # Amounts of rain: most rows are dry everywhere.
    rain = np.maximum(rng.normal(-1, 1, size=(300, 3)), 0)
    assert checked(rain, has_numbers=True)[0].level == "ok"


def test_rows_that_differ_in_one_column_by_brute_force(rng):
    X = np.unique(rng.integers(0, 4, size=(60, 5)).astype(float), axis=0)
    differing = (X[:, None] != X).sum(axis=2)
    np.testing.assert_array_equal(_differ_in_one_column(_random_numbers(X)), (differing == 1).any(axis=1))


@pytest.mark.filterwarnings("ignore:Neighbouring rows depend")
def test_a_dependence_is_reported_with_few_copies(rng):
    walk = rng.normal(size=(400, 4)).cumsum(axis=0)
    X = np.vstack([walk, walk[:12]])
    assert "Neighbouring rows depend" in diagnose(Golem().fit(X), X)["dependent-rows"].finding


def test_the_remedies_leave_one_copy(rng, tmp_path):
    coarse = pd.DataFrame(rng.integers(0, 3, size=(100, 4)), columns=NAMES)
    fine = pd.DataFrame(rng.normal(size=(100, 4)), columns=NAMES)
    some = pd.concat([fine, fine[:30]])
    for table, left in ((pd.concat([coarse] * 3), coarse), (pd.concat([fine] * 2), fine), (some, fine)):
        finding, _ = checked(table.to_numpy(float), has_numbers=True)
        code = finding.remedy.split(": ", 1)[1].rstrip(".")
        assert len(eval(code, {"X": table.to_numpy(), "pd": pd})) == 100
        kept = eval(code, {"X": table, "pd": pd})
        pd.testing.assert_frame_equal(*(one.sort_values(list(NAMES), ignore_index=True) for one in (kept, left)))
        table.to_csv(tmp_path / "FILE", index=False)
        command = told(finding.remedy, SHELL).split(": ", 1)[1].rstrip(".")
        subprocess.run(command, shell=True, check=True, cwd=tmp_path)
        assert len(pd.read_csv(tmp_path / "unique.csv")) == 100
