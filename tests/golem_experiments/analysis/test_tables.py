"""Numbers from tables of rows."""

import pytest

from golem_experiments.analysis.comparisons import matched_times
from golem_experiments.analysis.inference import within
from golem_experiments.analysis.tables import most_common_hardware, share


def row(method, seed, seconds, status="done", hardware="here"):
    times = {"fit_seconds": seconds, "seconds": seconds}
    return {"method": method, "seed": seed, "status": status, "hardware": hardware} | times


def ratio(table, second="theirs"):
    found = matched_times(table, "ours", second)
    return None if found is None else str(found)


def test_times_are_compared_on_the_data_sets_that_both_methods_tried():
    table = [row("ours", 0, 1.0), row("ours", 1, 2.0), row("ours", 2, 100.0), row("theirs", 0, 10.0)]
    assert ratio(table) == "10"
    # The geometric mean of 10 and 40.
    table.append(row("theirs", 1, 80.0, "timeout"))
    assert ratio(table) == "20 or more (stopped)"
    assert ratio(table, "others") is None
    assert ratio([row("ours", 0, 1.0), row("theirs", 1, 5.0)]) is None


def test_times_on_different_hardware_are_not_compared():
    table = [row("ours", 0, 1.0), row("theirs", 0, 10.0, hardware="there")]
    assert ratio(table) is None
    table += [row("ours", 1, 1.0), row("theirs", 1, 3.0)]
    assert ratio(table) == "3"


@pytest.mark.parametrize(
    ("times", "status", "holds"),
    [
        ([12.0, 13.0, 14.0], "done", True),
        ([5.0, 6.0, 7.0], "done", False),
        ([5.0, 12.0, 30.0], "done", None),
        ([20.0, 20.0], "done", None),
        ([12.0, 13.0, 14.0], "timeout", True),
        ([5.0, 6.0, 7.0], "timeout", None),
    ],
)
def test_ten_times_faster_needs_an_interval_and_is_not_refuted_by_a_lower_bound(times, status, holds):
    table = [row("ours", seed, 1.0) for seed in range(len(times))]
    table += [row("theirs", seed, seconds, status) for seed, seconds in enumerate(times)]
    assert matched_times(table, "ours", "theirs").reaches(10) is holds


def test_an_upper_bound_refutes_and_shows_nothing():
    table = [row("theirs", seed, 20.0) for seed in range(3)]
    table += [row("ours", seed, seconds, "timeout") for seed, seconds in enumerate((1.0, 1.1, 1.2))]
    found = matched_times(table, "ours", "theirs")
    assert (found.reaches(10), found.reaches(100)) == (None, False)


@pytest.mark.parametrize(
    ("right", "wrong", "holds"), [(40, 0, True), (2, 0, None), (20, 20, False), (0, 2, False), (0, 0, None)]
)
def test_a_share_without_spread_is_as_certain_as_its_count_allows(right, wrong, holds):
    table = [row("ours", seed, 1.0) | {"right": right, "wrong": wrong} for seed in range(4)]
    found = share(table, "right", ["right", "wrong"])
    assert within(found, 0.9, 1.1) is holds
    if right + wrong:
        assert found.value == right / (right + wrong)
        assert found.error > 0


def test_the_most_common_hardware():
    table = [row("ours", 0, 1.0), row("ours", 1, 9.0, hardware="there"), row("ours", 2, 2.0)]
    assert most_common_hardware(table) == [table[0], table[2]]
    assert most_common_hardware([]) == []
