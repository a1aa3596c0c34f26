"""Bundled data are what they are said to be."""

from __future__ import annotations

import numpy as np

from golem import datasets
from golem.graphs.dag import is_dag


def test_sachs():
    sachs = datasets.load_sachs()
    assert sachs.values.shape == (853, 11)
    assert sachs.truth.sum() == 17
    assert is_dag(sachs.truth)
    assert (sachs.values > 0).all()
    assert sachs.truth[sachs.names.index("Raf"), sachs.names.index("Mek")]
    np.testing.assert_array_equal(sachs.values[0, :3], [26.4, 13.2, 8.82])
    assert sachs.table.column_names == list(sachs.names)
    assert "Science" in sachs.provenance
    assert "cdt" in sachs.provenance
