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


def test_sachs_with_all_conditions():
    first, everything = datasets.load_sachs(), datasets.load_sachs(interventional=True)
    assert everything.values.shape == (7466, 11)
    np.testing.assert_array_equal(everything.values[:853], first.values)
    labels, counts = np.unique(everything.environments, return_counts=True)
    assert set(labels) == set(everything.targets)
    # The numbers of cells of the publication.
    assert sorted(counts) == [707, 723, 799, 810, 848, 853, 902, 911, 913]
    assert (everything.environments[:853] == "cd3_cd28").all()
    assert {one for chosen in everything.targets.values() for one in chosen} == {
        "Akt",
        "PKC",
        "PIP2",
        "Mek",
        "PIP3",
        "PKA",
    }
    # Psitectorigenin removes PIP2, and U0126 keeps Mek from activating Erk.
    for label, name in (("psitectorigenin", "PIP2"), ("u0126", "Erk")):
        logs = np.log(everything.values[:, everything.names.index(name)])
        assert logs[everything.environments == label].mean() < logs[:853].mean() - 1
