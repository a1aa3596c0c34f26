"""The page compares a graph with one whose directions were checked, and with the first one of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from golem.studio.earlier import Earlier


def edge(source: str, target: str, directed: bool) -> dict[str, Any]:
    return {"id": "".join(sorted(source + target)), "source": source, "target": target, "directed": directed}


def versions(found: dict[str, Any]) -> list[int | None]:
    return [one and one.version for one in (found["edit"], found["start"])]


def test_a_graph_is_compared_with_the_last_checked_one_and_with_the_first(tmp_path: Path) -> None:
    earlier = Earlier(tmp_path / "start.json")

    def show(version: int, checked: bool, path: str = "a.csv") -> list[int | None]:
        return versions(earlier.show([edge("a", "b", checked)], path=path, version=version, checked=checked))

    assert show(1, checked=False) == [None, None]
    assert show(1, checked=True) == [None, 1]
    assert show(2, checked=False) == [1, 1]
    assert show(3, checked=False) == [1, 1]  # version 2 was not checked: its links may be arrows
    assert show(3, checked=True) == [1, 1]
    assert show(4, checked=False) == [3, 1]
    earlier = Earlier(tmp_path / "start.json")
    assert show(5, checked=True) == [None, 1]
    assert show(6, checked=True, path="b.csv") == [None, 6]
    earlier.clear()
    assert show(7, checked=False, path="b.csv") == [None, None]
    assert show(8, checked=False, path="b.csv") == [7, None]
