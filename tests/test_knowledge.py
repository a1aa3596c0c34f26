"""Knowledge masks and their contradictions."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Knowledge


def test_tiers_forbid_edges_to_earlier_ones():
    known = Knowledge.of(4, tiers=[[2], [0, 1]])
    assert known.forbidden[0, 2]
    assert known.forbidden[1, 2]
    assert not known.forbidden[2, 0]
    assert not known.forbidden[0, 1]
    assert not known.forbidden[3, 2]
    assert not known.forbidden[2, 3]


def test_the_reverse_of_a_required_edge_is_forbidden():
    known = Knowledge.of(2, required=[(0, 1)])
    assert known.forbidden[1, 0]
    np.testing.assert_array_equal(known.allowed, [[False, True], [False, False]])


def test_no_knowledge_allows_all_but_loops():
    known = Knowledge.none(3)
    assert known.is_empty
    np.testing.assert_array_equal(known.allowed, ~np.eye(3, dtype=bool))
    assert not Knowledge.of(3, forbidden=[(0, 1)]).is_empty


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"required": [(0, 1)], "forbidden": [(0, 1)]}, "0 -> 1 is both required and forbidden"),
        ({"required": [(0, 1), (1, 2), (2, 0)]}, "cycle"),
        ({"required": [(1, 0)], "tiers": [[0], [1]]}, "both required and forbidden"),
        ({"required": [(0, 7)]}, "node 7"),
        ({"tiers": [[0], [0, 1]]}, "two tiers"),
        ({"required": [(1, 1)]}, "both required and forbidden"),
    ],
)
def test_contradictions_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Knowledge.of(3, **arguments)
