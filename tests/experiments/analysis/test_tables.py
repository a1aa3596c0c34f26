"""Numbers from tables of rows."""

from golem.experiments.analysis.tables import most_common_hardware, time_ratio


def row(method, seed, seconds, status="done", hardware="here"):
    times = {"fit_seconds": seconds, "seconds": seconds}
    return {"method": method, "seed": seed, "status": status, "hardware": hardware} | times


def test_times_are_compared_on_the_data_sets_that_both_methods_tried():
    table = [row("ours", 0, 1.0), row("ours", 1, 2.0), row("ours", 2, 100.0), row("theirs", 0, 10.0)]
    assert time_ratio(table, "ours", "theirs") == (10.0, False)
    table.append(row("theirs", 1, 50.0, "timeout"))
    assert time_ratio(table, "ours", "theirs") == (20.0, True)
    assert time_ratio(table, "ours", "others") is None
    assert time_ratio([row("ours", 0, 1.0), row("theirs", 1, 5.0)], "ours", "theirs") is None


def test_times_on_different_hardware_are_not_compared():
    table = [row("ours", 0, 1.0), row("theirs", 0, 10.0, hardware="there")]
    assert time_ratio(table, "ours", "theirs") is None
    table += [row("ours", 1, 1.0), row("theirs", 1, 3.0)]
    assert time_ratio(table, "ours", "theirs") == (3.0, False)


def test_the_most_common_hardware():
    table = [row("ours", 0, 1.0), row("ours", 1, 9.0, hardware="there"), row("ours", 2, 2.0)]
    assert most_common_hardware(table) == [table[0], table[2]]
    assert most_common_hardware([]) == []
