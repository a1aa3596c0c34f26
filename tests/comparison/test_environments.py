"""Comparisons on data from several environments."""

from __future__ import annotations

import json

import numpy as np
import pytest

from golem import compare
from golem.comparison import compare_file
from golem.comparison.other_packages import OTHER_PACKAGES, OtherPackage, of_class
from golem.comparison.registry import complete_rows
from golem.data.table_reading import read_table
from golem.graphs.dag import cpdag
from golem.simulate import random_sem, simulate_environments, single_targets


@pytest.fixture
def drawn():
    sem = random_sem(5, "ER1", "gaussian-nv", random_state=4)
    return simulate_environments(sem, single_targets(sem, 5, "hard"), 3000, "hard", random_state=0)


@pytest.mark.usefixtures("methods_here")
def test_methods_learn_from_environments_and_others_say_that_they_cannot(drawn):
    options = {"environments": drawn.labels, "targets": drawn.targets, "truth": drawn.sem.adjacency}
    found = compare(drawn.data, ["order-soft", "order-hard", "fgs", "order"], **options)
    assert [row.shd for row in found.rows] == [0.0, 0.0, None, 0.0]
    assert (found.estimates["order"].graph == found.estimates["order-soft"].graph).all()
    assert "fgs cannot use environments. The methods that can are order, order-soft" in found.rows[2].message
    assert found.rows[0].bic is None
    assert str(found).split()[:3] == ["method", "edges", "seconds"]
    assert found.settings["targets"]["control"] == []
    alone = compare(drawn.data, "order-hard")
    assert alone.rows[0].message == "order-hard needs environments and their targets."


@pytest.mark.usefixtures("methods_here")
def test_directions_from_experiments_do_not_count_in_the_distance_of_classes(drawn, monkeypatch):
    truth = drawn.sem.adjacency
    assert (cpdag(truth) != truth).any()
    directed = cpdag(truth)
    i, j = np.argwhere(directed & directed.T & truth)[0]
    directed[j, i] = False  # an experiment on an end of the edge
    learned = of_class(directed)
    assert learned.member is not None
    fake = OtherPackage("numpy", "gies", lambda _: learned, lambda *_: learned)
    monkeypatch.setitem(OTHER_PACKAGES, "gies", fake)
    options = {"environments": drawn.labels, "targets": drawn.targets, "truth": truth}
    (row,) = compare(drawn.data, "gies", **options).rows
    assert (row.shd, row.shd_c) == (0, 0)


def test_rows_with_missing_values_are_left_out_of_the_tables(drawn):
    X = drawn.data.copy()
    X[::10, 0] = np.nan
    table, by_em = (
        read_table(X, environments=drawn.labels, targets=drawn.targets, missing=missing) for missing in ("drop", "em")
    )
    found = complete_rows(table)
    assert [len(rows) for rows in found] == [part.moments.n for part in table.parts]
    assert sum(map(len, found)) == 2700
    assert complete_rows(by_em) is None
    for label, rows in zip(table.labels, found, strict=True):
        mine = drawn.data[(drawn.labels == label) & ~np.isnan(X[:, 0])]
        np.testing.assert_array_equal(rows, mine)


@pytest.mark.usefixtures("methods_here")
def test_a_file_with_a_column_of_environments(drawn, tmp_path):
    path, targets = tmp_path / "data.csv", tmp_path / "targets.json"
    rows = [",".join([label, *map(repr, row)]) for label, row in zip(drawn.labels, drawn.data.tolist(), strict=True)]
    path.write_text("\n".join([",".join(["arm", *drawn.sem.names]), *rows]))
    targets.write_text(json.dumps(drawn.targets))
    found = compare_file(path, "order-hard", environment="arm", targets=targets)
    here = compare(drawn.data, "order-hard", environments=drawn.labels, targets=drawn.targets)
    assert (found.estimates["order-hard"].graph == here.estimates["order-hard"].graph).all()
    with pytest.raises(ValueError, match="Environments need targets="):
        compare_file(path, "order-hard", environment="arm")
