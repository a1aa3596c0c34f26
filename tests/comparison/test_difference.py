"""What changed between two fits, and which links differ between two groups."""

import json

import numpy as np
import pandas as pd
import pytest

import golem
from command_line import golem as command
from golem import Golem, LinearSEM


def drawn(weight, n, seed):
    """Return rows of x -> y -> z, with this effect of y on z."""
    sem = LinearSEM([[0, 1.0, 0], [0, 0, weight], [0, 0, 0]], [1, 1, 1], names=["x", "y", "z"])
    return pd.DataFrame(sem.sample(n, random_state=seed), columns=list("xyz"))


def test_a_link_that_differs_is_found_and_the_others_are_not():
    # Other means and scales are not another link.
    found = golem.difference(drawn(1.0, 300, 0), 5 + 3 * drawn(-1.0, 300, 1))
    assert [(link.one, link.other) for link in found.differing] == [("y", "z")]
    (link,) = found.differing
    assert link.first_correlation > 0 > link.second_correlation
    assert "1 edge differs more than by chance" in str(found)


def test_alike_groups_differ_in_about_one_table_of_twenty():
    model = Golem(effort="fast", shape="off", noise="nv")
    pairs = [(drawn(1.0, 60, 2 * k), drawn(1.0, 90, 2 * k + 1)) for k in range(40)]
    wrong = [bool(golem.difference(*pair, model=model, permutations=59).differing) for pair in pairs]
    assert sum(wrong) <= 6  # of 40 at level 0.05, more have probability 0.005


def test_groups_may_have_categories():
    rng = np.random.default_rng(0)
    frames = []
    for effect in (0.0, 2.0):
        kind = rng.choice(["u", "v", "w"], 300)
        y = effect * (kind == "u") + rng.normal(size=300)
        frames.append(pd.DataFrame({"kind": kind, "y": y, "z": y + rng.normal(size=300)}))
    found = golem.difference(*frames, permutations=99)
    assert ("kind", "y") in [(link.one, link.other) for link in found.differing]
    assert ("y", "z") not in [(link.one, link.other) for link in found.differing]


def test_the_changes_between_two_fits_are_listed(tmp_path):
    data = drawn(1.0, 500, 0)
    before = Golem(noise="nv", shape="off").fit(data)
    after = Golem(noise="nv", shape="off", knowledge={"tiers": [["x"], ["y"], ["z"]]}).fit(data)
    assert str(golem.difference(before, after)).splitlines() == [
        "2 edges in both graphs, 0 in only one",
        "  direction: x --- y is now x --> y",
        "  direction: y --- z is now y --> z",
    ]
    assert not golem.difference(after, after).differing
    before.save(tmp_path / "before")
    after.save(tmp_path / "after")
    assert "x --- y is now x --> y" in command("diff", tmp_path / "before", tmp_path / "after").output
    fewer = Golem(noise="nv", shape="off").fit(data[["x", "y"]])
    assert "only in the first: y --> z" in str(golem.difference(after, fewer))
    with pytest.raises(ValueError, match="not one of each"):
        golem.difference(before, data)


def test_the_command_divides_a_table_by_a_column(tmp_path):
    table = pd.concat([drawn(1.0, 200, 0).assign(sex="F"), drawn(-1.0, 200, 1).assign(sex="M")])
    table.assign(id=np.arange(400), arm=(table["sex"] == "F") * 1).to_csv(tmp_path / "data.csv", index=False)
    said = command("diff", tmp_path / "data.csv", "--by", "sex", "--permutations", 99).output
    assert "First: sex = F; second: sex = M" in said
    assert "y - z" in said
    links = json.loads(command("diff", tmp_path / "data.csv", "--by", "arm", "--json").output)
    assert {link["one"] for link in links} <= {"x", "y", "z", "sex"}
    assert "two groups need two values" in command("diff", tmp_path / "data.csv", "--by", "x", expect=1).output
    assert "Give two results" in command("diff", tmp_path / "data.csv", expect=1).output
