"""Edits are pure, and the journal gives the same state again, whatever was cut off."""

import random
from pathlib import Path

import msgspec
import pytest

from golem.studio.edits import (
    AddTier,
    Column,
    ColumnEdit,
    Edge,
    Order,
    Place,
    RemoveTier,
    State,
    command_words,
    script_text,
)
from golem.studio.journal import ConflictError, Data, Journal

NAMES = ("age", "sex", "bmi", "outcome")


def opened(path: Path) -> Journal:
    journal = Journal(path)
    if not journal.version:
        journal.add("load", data=Data(path="/data.csv", title="data.csv", names=NAMES))
    return journal


def random_edit(rng: random.Random) -> object:
    cause, effect = rng.sample(NAMES, 2)
    return rng.choice(
        [
            Place((cause,), rng.choice([-1, 0, 1, 2])),
            Edge(cause, effect, rng.choice(["require", "forbid", "separate", "free"])),
            ColumnEdit(cause, Column(drop=rng.random() < 0.5, log=rng.random() < 0.5)),
            AddTier("between", rng.choice([0, 1, 2])),
            RemoveTier(rng.choice([0, 2])),
        ]
    )


def test_tiers_are_an_order_of_all_columns() -> None:
    state = Place(("outcome",), 2).apply(Place(("age", "sex"), 0).apply(State(), frozenset(NAMES)), frozenset(NAMES))
    known = state.knowledge(NAMES)
    assert known is not None
    assert known.tiers == (("age", "sex"), ("bmi",), ("outcome",))
    alone = Place(("age",), -1).apply(state, frozenset(NAMES)).knowledge(NAMES)
    assert alone is not None
    assert alone.tiers == (("sex",), ("bmi",), ("outcome",))
    assert State().knowledge(NAMES) is None


def test_a_reversed_edge_replaces_earlier_rules() -> None:
    names = frozenset(NAMES)
    state = Edge("bmi", "age", "require").apply(Edge("age", "bmi", "require").apply(State(), names), names)
    assert state.required == (("bmi", "age"),)
    state = Edge("age", "bmi", "separate").apply(state, names)
    assert (state.required, set(state.forbidden)) == ((), {("age", "bmi"), ("bmi", "age")})
    assert Edge("bmi", "age", "free").apply(state, names) == State()


def test_contradictions_are_refused_in_words() -> None:
    names = frozenset(NAMES)
    state = Place(("age",), 0).apply(State(), names)
    with pytest.raises(ValueError, match="earlier tier"):
        Edge("bmi", "age", "require").apply(state, names)
    with pytest.raises(ValueError, match="no column"):
        Edge("bmi", "ages", "require").apply(state, names)


@pytest.mark.parametrize("seed", range(5))
def test_the_journal_gives_the_same_state_again_at_every_byte(tmp_path: Path, seed: int) -> None:
    rng, path = random.Random(seed), tmp_path / "journal"
    journal, states = opened(path), {}
    states[path.stat().st_size] = (journal.version, journal.state)
    for _ in range(40):
        action = rng.choice(["edit", "edit", "edit", "undo", "redo"])
        try:
            journal.add(action, journal.version, **({"edit": random_edit(rng)} if action == "edit" else {}))
        except ValueError:
            assert (journal.version, journal.state) == states[path.stat().st_size]
            continue
        states[path.stat().st_size] = (journal.version, journal.state)
    journal.close()
    content = path.read_bytes()
    for cut in [*rng.sample(range(min(states), len(content)), 30), len(content)]:
        path.write_bytes(content[:cut])
        again = Journal(path)
        assert (again.version, again.state) == states[max(size for size in states if size <= cut)]
        again.close()
        assert path.stat().st_size in states


def test_an_undone_edit_can_be_done_again_until_the_next_edit(tmp_path: Path) -> None:
    journal = opened(tmp_path / "journal")
    journal.add("edit", edit=Place(("age",), 0))
    journal.add("edit", edit=Place(("sex",), 0))
    journal.add("undo")
    assert journal.state.places == {"age": 0}
    journal.add("redo")
    assert journal.state.places == {"age": 0, "sex": 0}
    journal.add("undo")
    journal.add("edit", edit=Place(("bmi",), 2))
    with pytest.raises(ValueError, match="nothing to redo"):
        journal.add("redo")
    journal.close()


def test_a_restart_that_learns_the_same_graph_is_not_counted(tmp_path: Path) -> None:
    journal = opened(tmp_path / "journal")
    journal.learned(1)
    journal.add("edit", edit=Place(("age",), 0))
    journal.learned(2)
    journal.add("snapshot", name="here")
    journal.close()
    again = Journal(tmp_path / "journal")
    again.learned(3)
    assert again.refits == 2
    again.add("edit", edit=Place(("sex",), 0))
    again.learned(4)
    assert again.refits == 3
    again.close()


def test_an_edit_of_an_earlier_version_is_a_conflict(tmp_path: Path) -> None:
    journal = opened(tmp_path / "journal")
    journal.add("edit", 1, edit=Place(("age",), 0))
    with pytest.raises(ConflictError):
        journal.add("edit", 1, edit=Place(("age",), 2))
    assert journal.state.places == {"age": 0}
    journal.close()


def test_command_and_script_name_what_was_said() -> None:
    state = State(
        columns={"a b": Column(kind="category"), "c": Column(missing=("0", "-9"), log=True), "d": Column(drop=True)},
        required=(("c", "e"),),
    )
    assert command_words("data.csv", state) == [
        "golem", "fit", "data.csv", "--drop", "d", "--categorical", "a b", "--log", "c", "--na", "c=0", "--na", "c=-9",
        "--knowledge", "knowledge.json", "-o", "out",
    ]  # fmt: skip
    compile(script_text("data.csv", state, {"required": [["c", "e"]]}), "script.py", "exec")


def test_unknown_keys_of_an_edit_are_refused() -> None:
    from golem.studio.api import EditRequest

    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(
            b'{"version": 1, "edit": {"kind": "place", "columns": [], "tier": 0, "x": 1}}', type=EditRequest
        )


def test_rows_in_time_are_settings_and_rules_may_name_lags() -> None:
    names = frozenset("tuab")
    state = Order("auto", "t", "u").apply(State(), names)
    assert state.order() == {"lags": "auto", "time": "t", "unit": "u"}
    state = Edge("a@1", "b", "require").apply(state, names)
    known = state.knowledge(["a", "b"])
    assert known is not None
    assert known.required == (("a@1", "b"),)
    with pytest.raises(ValueError, match="no column"):
        Edge("c@1", "b", "require").apply(state, names)
    again = Order().apply(state, names)
    assert again.required == ()
    assert again.order() == {}
    words = command_words("data.csv", state)
    assert words[words.index("--lags") : words.index("--knowledge")] == ["--lags", "auto", "--time", "t", "--unit", "u"]
    assert "lags='auto', time='t'" in script_text("data.csv", state, None)
