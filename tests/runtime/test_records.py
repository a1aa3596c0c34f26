"""Lists of records that print as tables."""

import pickle
from typing import NamedTuple

import pandas as pd

from golem import Golem
from golem.runtime.records import Records
from golem.simulate import simulate


class Shop(NamedTuple):
    """A record."""

    name: str
    sales: float
    closed: bool = False
    note: str | None = None


def test_numbers_are_aligned_right_and_columns_with_defaults_only_are_left_out():
    records = Records([Shop("north", 1234.5678), Shop("s", -2.0, True), Shop("west", float("nan"))])
    assert repr(records).splitlines() == [
        "name   sales  closed",
        "north   1235  False",
        "s         -2  True",
        "west          False",
    ]


def test_long_lists_are_counted_and_slices_print_too():
    records = Records(Shop(f"shop {k}", 1.0 * k) for k in range(50))
    assert repr(records).splitlines()[-1] == "... and 20 more"
    assert repr(records).count("\n") == 31
    assert repr(records[:2]) == repr(Records([*records][:2]))
    assert "... and 20 more" in records._repr_html_()
    assert repr(Records()) == "[]"
    assert Records()._repr_html_() == "[]"


def test_names_are_untrusted():
    records = Records([Shop("<script>\x1b[31m", 1.0)])
    assert "<script>" not in records._repr_html_()
    assert "\x1b" not in repr(records) + records._repr_html_()


def test_records_are_a_list_for_everything_else():
    model = Golem("ev").fit(simulate(5, 300, "ER1", random_state=1).data)
    edges = model.edges_
    assert edges == [*edges]
    assert pickle.loads(pickle.dumps(edges)) == edges
    assert [*pd.DataFrame(edges).columns] == [*edges[0]._fields]
    assert repr(edges).split()[:3] == ["source", "target", "weight"]
    assert repr(model.effects_on(edges[0].target)).split()[0] == "source"
