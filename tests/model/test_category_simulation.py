"""Simulated tables with categories: their dependences are those of the graph."""

import itertools

import numpy as np
import pytest

from golem.data.category_columns import read_coded
from golem.simulate import simulate_table


def mutual_information(x, y, z):
    """Return the mutual information of two codes given the code of a third, in nats, from counts."""
    counts = np.zeros((x.max() + 1, y.max() + 1, z.max() + 1))
    np.add.at(counts, (x, y, z), 1)
    p = counts / counts.sum()
    expected = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True) / p.sum(axis=(0, 1), keepdims=True)
    return float((p[p > 0] * np.log(p[p > 0] / expected[p > 0])).sum())


def in_bins(column, levels):
    """Return codes of a column: its levels, or five bins of its numbers."""
    return column.astype(int) if levels else np.searchsorted(np.quantile(column, [0.2, 0.4, 0.6, 0.8]), column)


@pytest.mark.parametrize("mechanism", ["threshold", "logistic", "discrete"])
def test_neighbours_depend_on_each_other_and_roots_do_not(mechanism):
    neighbours, roots = [], []
    for seed in range(4):
        drawn = simulate_table(8, 4000, "ER1", mechanism, random_state=seed)
        codes = [in_bins(x, v.levels) for x, v in zip(drawn.rows.T, drawn.coding.variables, strict=True)]
        nothing, A = np.zeros(4000, dtype=int), drawn.adjacency
        for i, j in itertools.combinations(range(8), 2):
            if A[i, j] or A[j, i]:
                neighbours.append(mutual_information(codes[i], codes[j], nothing))
            elif not A[:, [i, j]].any():
                roots.append(mutual_information(codes[i], codes[j], nothing))
    # The bias of an estimate is at most 16 degrees of freedom / (2 n) = 0.002.
    assert max(roots) < 0.008
    assert np.median(neighbours) > 0.03


@pytest.mark.parametrize(("mechanism", "categories"), [("threshold", 5), ("logistic", 5), ("discrete", 10)])
def test_types_levels_and_seeds(mechanism, categories):
    drawn = simulate_table(10, 300, "ER2", mechanism, levels=(3, 5), random_state=3)
    again = simulate_table(10, 300, "ER2", mechanism, levels=(3, 5), random_state=3)
    np.testing.assert_array_equal(drawn.rows, again.rows)
    counts = [len(variable.levels) for variable in drawn.coding.variables]
    assert sum(count > 0 for count in counts) == categories
    assert set(counts) <= {0, 3, 4, 5}
    assert all(drawn.rows[:, j].max() < count for j, count in enumerate(counts) if count)


@pytest.mark.filterwarnings("ignore:.* levels with")
def test_the_table_is_read_as_it_was_drawn():
    drawn = simulate_table(6, 500, mechanism="logistic", random_state=1)
    read = read_coded(drawn.table)
    np.testing.assert_array_equal(drawn.coding.recoded(drawn.rows, read.coding), read.rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"mechanism": "cut"}, "must be one of"), ({"levels": (1, 3)}, "range"), ({"n": 0}, "positive")],
)
def test_impossible_tables_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        simulate_table(**({"d": 4} | change))
