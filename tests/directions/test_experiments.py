"""Experiments: the sample of many rows."""

from __future__ import annotations

import numpy as np

from golem.directions.experiments import Experiments


def test_a_sample_depends_neither_on_the_order_of_rows_nor_of_columns():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 3)).round(1)  # with repeated values
    few = Experiments([rows, rows[:50]], [(), (0,)]).sampled(100).rows
    assert [len(part) for part in few] == [100, 50]
    other = Experiments([rng.permutation(rows)[:, [2, 0, 1]]], [()]).sampled(100).rows[0][:, [1, 2, 0]]
    assert sorted(map(tuple, few[0])) == sorted(map(tuple, other))
    # A random sample: its mean is near that of all rows.
    assert np.abs(few[0].mean(axis=0) - rows.mean(axis=0)).max() < 0.35
