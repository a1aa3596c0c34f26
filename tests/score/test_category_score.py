"""The choice of the score of a table of categories."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from golem.data.category_columns import read_coded
from golem.data.coded_tables import CodedTable
from golem.score import score_settings as category_score
from golem.score.node_scores import Counts
from golem.score.score_settings import choose_category_score
from golem.score.sparsity import L0


def a_table(*levels: int, n: int = 400, seed: int = 0) -> CodedTable:
    """Return categories, each of which depends on the one before it in half of the rows."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(levels[0], size=n)]
    for own in levels[1:]:
        columns.append(np.where(rng.random(n) < 0.5, columns[-1] % own, rng.integers(own, size=n)))
    return read_coded(pd.DataFrame({f"x{j}": column for j, column in enumerate(columns)}).astype("category"))


def lowest_of_forests(score: Counts) -> float:
    """Return the lowest score of a graph in which no node has two parents, by trying all of them."""
    d = score.d
    best = np.inf
    for causes in itertools.product(range(-1, d), repeat=d):
        graph = np.zeros((d, d))
        for j, cause in enumerate(causes):
            if cause >= 0:
                graph[cause, j] = 1.0
        if not np.linalg.matrix_power(graph, d).any():
            cost = sum(score.cost(j, [] if cause < 0 else [cause]) for j, cause in enumerate(causes))
            best = min(best, cost)
    return best


@pytest.mark.parametrize("kind", ["bic", "bdeu"])
def test_the_best_tree_has_the_lowest_score_of_all_forests(kind: str) -> None:
    table = a_table(3, 2, 4, 3, seed=1)
    counts, levels = category_score._pair_counts(table.moments()), table.coding.levels
    values = category_score._bic(counts, levels) if kind == "bic" else category_score._bdeu(counts, levels)
    expected = lowest_of_forests(Counts(table.codes, levels, kind, sparsity=L0("bic")))  # type: ignore[arg-type]
    assert category_score._best_tree(values) == pytest.approx(expected, abs=1e-6)


def test_pairs_of_levels_are_counted_from_the_covariance() -> None:
    table = a_table(3, 2, 4)
    levels = table.coding.levels
    indicators = np.column_stack([table.codes[:, [j]] == np.arange(levels[j]) for j in range(3)]).astype(float)
    assert np.array_equal(category_score._pair_counts(table.moments()), indicators.T @ indicators)


def test_few_levels_have_bic_and_many_the_mixed_score() -> None:
    assert choose_category_score(a_table(2, 2, 3).moments()) == "discrete-bic"
    assert choose_category_score(a_table(4, 4, 4).moments()) == "mixed"


def test_in_between_the_choice_depends_on_how_the_levels_occur_together() -> None:
    # Noisy: all pairs of levels occur. Nearly determined: most of them do not.
    noisy = a_table(3, 3, 3, n=2000)
    assert choose_category_score(noisy.moments()) == "discrete-bic"
    codes = noisy.codes.copy()
    codes[:, 1] = (codes[:, 0] + 1) % 3
    codes[:5, 1] = 0
    rows = pd.DataFrame(codes, columns=list("abc")).astype("category")
    assert choose_category_score(read_coded(rows).moments()) == "bdeu"
