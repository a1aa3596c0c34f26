"""The API: learning, editing, undoing, saving; what is saved gives the same graph."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from golem.graphs.edges import Edges
from golem.graphs.named_graph import NamedGraph
from golem.simulate import simulate
from golem.studio.answers import adjustment
from golem.studio.background import CancelledWorkError, Worker
from golem.studio.worker import Learned, Task
from studio.conftest import Client

pytestmark = pytest.mark.studio
D = 6


def table(n: int = 300, seed: int = 2) -> bytes:
    drawn = simulate(D, n=n, graph="ER2", random_state=seed)
    lines = [",".join(f"x{k}" for k in range(D)), *(",".join(map(str, row)) for row in drawn.data.round(6).tolist())]
    return ("\n".join(lines) + "\n").encode()


def edges_of(graph: Any) -> set[tuple[str, str]]:
    return {(edge["source"], edge["target"]) for edge in graph["edges"]}


def test_a_table_is_learned_and_its_directions_are_checked(client: Client) -> None:
    assert client.upload(table()).status_code == 200
    first = client.wait_for_graph()["graph"]
    assert len(first["nodes"]) == D
    assert first["layouts"]
    parts = client.wait_for_graph(checked=True)
    assert parts["graph"]["checked"]
    assert {column["name"] for column in parts["columns"]["columns"]} == {f"x{k}" for k in range(D)}
    assert sum(parts["columns"]["columns"][0]["counts"]) == 300
    assert parts["state"]["refits"] == 1


def test_knowledge_is_obeyed_undone_and_done_again(client: Client) -> None:
    client.upload(table())
    before = edges_of(client.wait_for_graph()["graph"])
    assert client.edit(kind="place", columns=["x0", "x1"], tier=2).status_code == 200
    assert client.edit(kind="edge", cause="x3", effect="x2", rule="require").status_code == 200
    graph = client.wait_for_graph()["graph"]
    given = edges_of(graph)
    assert ("x3", "x2") in given
    assert not {(cause, effect) for cause, effect in given if cause in ("x0", "x1") and effect not in ("x0", "x1")}
    for _ in range(2):
        assert client.post("/api/undo", {"version": client.state()["state"]["version"]}).status_code == 200
    assert edges_of(client.wait_for_graph()["graph"]) == before
    for _ in range(2):
        client.post("/api/redo", {"version": client.state()["state"]["version"]})
    parts = client.wait_for_graph()
    assert edges_of(parts["graph"]) == given
    assert parts["state"]["edits"] == 7


def test_costs_are_zero_for_what_the_data_say_and_positive_for_the_opposite(client: Client) -> None:
    client.upload(table())
    graph = client.wait_for_graph()["graph"]
    strongest = max(graph["edges"], key=lambda edge: abs(edge["values"]["standardized_weight"]))
    found = client.get("/api/costs", cause=strongest["source"], effect=strongest["target"]).json()
    assert found["separate"] > 10
    assert min(found["require there"], found["require back"]) == 0
    assert all(cost >= 0 for cost in found.values())


def test_an_edit_of_an_old_version_is_shown_as_a_conflict(client: Client) -> None:
    client.upload(table())
    version = client.wait_for_graph()["state"]["version"]
    edit = {"kind": "place", "columns": ["x0"], "tier": 0}
    assert client.post("/api/edit", {"version": version, "edit": edit}).status_code == 200
    answer = client.post("/api/edit", {"version": version, "edit": edit | {"tier": 2}})
    assert answer.status_code == 409
    assert answer.json()["state"]["state"]["places"] == {"x0": 0}
    assert "elsewhere" in answer.json()["error"]


def test_many_edits_are_learned_together(client: Client) -> None:
    client.upload(table())
    client.wait_for_graph()
    for k in range(60):
        client.edit(kind="place", columns=["x0"], tier=2 * (k % 2))
    parts = client.wait_for_graph()
    assert parts["state"]["state"]["places"] == {"x0": 2}
    assert parts["state"]["refits"] < 60


def test_a_bootstrap_streams_in_and_can_be_cancelled(client: Client) -> None:
    client.upload(table())
    client.wait_for_graph(checked=True)
    assert client.post("/api/bootstrap", {"replicates": 20}).status_code == 200
    client.wait(lambda parts: parts["graph"]["replicates"] and parts["graph"]["replicates"] < 20)
    parts = client.wait(lambda parts: parts["graph"]["replicates"] == 20)
    assert all(0 <= edge["values"]["adjacency_frequency"] <= 1 for edge in parts["graph"]["edges"])
    client.post("/api/bootstrap", {"replicates": 1000})
    client.wait(lambda parts: parts["progress"] and parts["progress"]["text"] == "Bootstrap")
    client.post("/api/cancel")
    parts = client.wait(lambda parts: parts["progress"] is None, 5)
    assert (parts["graph"]["requested"] or 0) < 1000 or parts["graph"]["replicates"] < 1000
    client.edit(kind="place", columns=["x0"], tier=2)
    client.wait_for_graph(checked=True)


def test_a_task_that_is_no_longer_wanted_starts_no_process() -> None:
    worker = Worker("answer")
    with pytest.raises(CancelledWorkError):
        asyncio.run(worker.do(Task(kind="begin", path=""), is_wanted=lambda: False))
    assert worker.seconds == 0


def test_effects_are_ranges_and_adjustment_needs_directions(client: Client) -> None:
    client.upload(table())
    parts = client.wait_for_graph(checked=True)
    links = {
        name for edge in parts["graph"]["edges"] if not edge["directed"] for name in (edge["source"], edge["target"])
    }
    for name in (f"x{k}" for k in range(D)):
        for effect in client.get("/api/effects", source=name).json():
            assert effect["source"] == name
            assert effect["low"] <= effect["high"]
            assert effect["says"] in ("known", "range", "may be zero", "sign open", "unknown")
        other = "x0" if name != "x0" else "x1"
        found = client.get("/api/adjustment", cause=name, effect=other).json()
        if name in links:
            assert found["set"] is None
        assert re.search("djust for|does not affect|not the other way", found["sentence"])


def test_what_to_adjust_for_names_causes_and_open_links() -> None:
    names = "uvxmywz"
    pairs = {"ux": True, "vu": False, "xm": True, "my": True, "wy": True, "wz": False}
    causes, children = (np.array([names.index(pair[end]) for pair in pairs]) for end in (0, 1))
    graph = NamedGraph((*names,), Edges(causes, children, 7), {"directed": np.array([*pairs.values()])})
    document: Any = None

    def asked(cause: str, effect: str) -> Any:
        return adjustment(Learned(graph, document, {}), cause, effect)  # type: ignore[arg-type]

    assert asked("x", "y")["set"] == ["u"]
    assert asked("m", "y")["set"] == ["x"]
    assert asked("y", "x") == {"set": None, "sentence": "'x' causes 'y', not the other way round."}
    assert "does not affect" in asked("x", "w")["sentence"]
    assert "adjust for 'z' if it causes 'w'" in asked("w", "y")["sentence"]
    assert "there is no effect" in asked("v", "u")["sentence"]


def test_columns_can_be_dropped_declared_and_taken_in_logarithms(client: Client) -> None:
    rows = [(k % 3, (k * 7919) % 101 + 1, (k * 104729) % 97, "ab"[k % 2], 5 * (k % 20)) for k in range(200)]
    client.upload(
        ("code,size,other,group,gap\n" + "".join(f"{a},{b},{c},{d},{e}\n" for a, b, c, d, e in rows)).encode()
    )
    columns = {one["name"]: one for one in client.wait_for_graph()["columns"]["columns"]}
    assert columns["group"]["kind"] == "category"
    assert columns["gap"]["zeros"] == 10
    client.edit(kind="column", name="code", column={"kind": "category"})
    client.edit(kind="column", name="size", column={"log": True})
    client.edit(kind="column", name="gap", column={"missing": ["0"]})
    client.edit(kind="column", name="other", column={"drop": True})
    parts = client.wait_for_graph()
    columns = {one["name"]: one for one in parts["columns"]["columns"]}
    assert columns["code"]["kind"] == "category"
    assert columns["size"]["high"] == pytest.approx(4.6151, abs=1e-3)
    assert columns["gap"]["missing"] == 10
    assert "other" not in columns
    assert {node["id"] for node in parts["graph"]["nodes"]} <= {"code", "size", "group", "gap"}


def test_a_bad_file_gets_a_sentence_and_the_earlier_table_stays(client: Client) -> None:
    client.upload(table())
    client.wait_for_graph()
    answer = client.upload(b"\x00\x01\x02\x03", "x.parquet")
    assert answer.status_code == 400
    assert len(answer.json()["error"]) > 20
    assert client.state()["state"]["title"] == "data.csv"
    client.upload(b"a,b\n1,2\n")
    assert client.wait(lambda parts: parts["problem"])["problem"].startswith(("table", "The", "/"))


STATES: list[list[dict[str, Any]]] = [
    [],
    [
        {"kind": "place", "columns": ["x5"], "tier": 0},
        {"kind": "edge", "cause": "x1", "effect": "x0", "rule": "require"},
    ],
    [{"kind": "column", "name": "x2", "column": {"drop": True}}, {"kind": "place", "columns": ["x1"], "tier": 2}],
]


@pytest.mark.parametrize("edits", STATES, ids=["plain", "knowledge", "columns"])
def test_the_saved_script_and_command_give_the_same_edges(client: Client, edits: list[dict[str, Any]]) -> None:
    client.upload(table())
    client.wait_for_graph()
    for edit in edits:
        assert client.edit(**edit).status_code == 200
    client.wait_for_graph(checked=True)
    files = client.post("/api/save").json()["files"]
    assert {"report.html", "graph.json", "command.sh", "script.py"} <= {*files}
    saved = json.loads(client.get("/api/results/graph.json").content)
    assert saved["refits"] >= 1
    assert len(saved["history"]) == 1 + len(edits)
    folder, wanted = client.folder / "results", _rows(saved)
    subprocess.run([sys.executable, "script.py"], cwd=folder, check=True, capture_output=True)
    assert _rows(json.loads((folder / "out" / "graph.json").read_text())) == wanted
    command = (
        (folder / "command.sh")
        .read_text()
        .replace("golem fit", f"{sys.executable} -m golem fit")
        .replace("-o out", "-o two")
    )
    subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)
    assert _rows(json.loads((folder / "two" / "graph.json").read_text())) == wanted


def _rows(document: Any) -> list[tuple[Any, ...]]:
    return [(row["source"], row["target"], row["directed"], row["weight"]) for row in document["edge_table"]]


def test_snapshots_are_kept_and_restored(client: Client) -> None:
    client.upload(table())
    client.wait_for_graph()
    client.post("/api/snapshot", {"version": client.state()["state"]["version"], "name": "before"})
    number = client.state()["state"]["snapshots"][0]["number"]
    kept = client.get(f"/api/snapshots/{number}").json()
    client.edit(kind="place", columns=["x0"], tier=2)
    client.wait_for_graph()
    client.post("/api/restore", {"version": client.state()["state"]["version"], "number": number})
    parts = client.wait_for_graph()
    assert parts["state"]["state"]["places"] == {}
    assert edges_of(parts["graph"]) == edges_of(kept)
    assert client.get("/api/snapshots/9999").status_code == 400


def test_experiments_are_read_from_a_column(client: Client) -> None:
    from golem.datasets import load_sachs

    sachs = load_sachs(interventional=True)
    assert sachs.environments is not None
    labels = sachs.environments.tolist()
    lines = [",".join([*sachs.names, "experiment"])]
    lines += [",".join([*map(str, row), label]) for row, label in zip(sachs.values.tolist(), labels, strict=True)][::4]
    client.upload("\n".join(lines).encode())
    client.wait_for_graph()
    targets = {label: [*columns] for label, columns in (sachs.targets or {}).items()}
    assert client.edit(kind="experiments", environment="experiment", targets=targets).status_code == 200
    names = {node["id"] for node in client.wait_for_graph()["graph"]["nodes"]}
    assert names == {*sachs.names}


def test_the_api_describes_itself(client: Client) -> None:
    from golem.studio.server import HANDLERS

    described = client.get("/api/openapi.json").json()
    assert {path.replace(":int", "") for _, path in HANDLERS} - {"/api/openapi.json"} == {*described["paths"]}
    assert "Place" in described["components"]["schemas"]
    references = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(described)))
    assert references <= {*described["components"]["schemas"]}
