"""Only the studio's own page, with its token, gets an answer; nothing of a request becomes a path or a markup."""

from __future__ import annotations

from typing import Any

import pytest

from studio.conftest import HOST, ORIGIN, TOKEN, Client

pytestmark = pytest.mark.studio
EDIT = {"version": 0, "edit": {"kind": "place", "columns": [], "tier": 0}}


def test_a_request_without_the_token_is_refused(client: Client) -> None:
    client.http.cookies.clear()
    for path in ("/", "/page/studio.js", "/api/state", "/api/events", "/api/results/graph.json"):
        assert client.get(path).status_code == 403
    assert client.post("/api/edit", EDIT).status_code == 403
    assert client.get("/", token="wrong").status_code == 403
    assert client.get("/", token=TOKEN + "x").status_code == 403


def test_the_token_leaves_the_address_and_the_cookie_is_kept_from_scripts_and_other_sites(client: Client) -> None:
    answer = client.get("/", token=TOKEN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert {"httponly", "samesite=strict"} <= {word.strip().lower() for word in answer.headers["set-cookie"].split(";")}


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", ""])
def test_other_hosts_are_refused(client: Client, host: str) -> None:
    assert client.http.get("/api/state", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:8001", ""])
def test_requests_from_other_sites_are_refused(client: Client, origin: str) -> None:
    headers = {"origin": origin} if origin else {}
    assert client.http.post("/api/edit", json=EDIT, headers=headers).status_code == 403
    assert client.http.post("/api/cancel", headers=headers).status_code == 403
    if origin:
        assert client.http.get("/api/state", headers=headers).status_code == 403


@pytest.mark.parametrize(
    "name", ["../journal.jsonl", "..%2fjournal.jsonl", "%2e%2e/journal.jsonl", "/etc/passwd", "lock"]
)
def test_names_of_files_do_not_leave_the_folder(client: Client, name: str) -> None:
    for place in ("/api/results/", "/page/"):
        answer = client.http.get(place + name)
        assert answer.status_code in (400, 404)
        assert "root:" not in answer.text


def test_the_name_of_an_uploaded_file_is_only_a_title(client: Client) -> None:
    content = b"a,b\n" + b"".join(b"%d,%d\n" % (k % 7, k * k % 11) for k in range(50))
    title = "../../../evil.csv"
    assert client.upload(content, title).status_code == 200
    assert client.state()["state"]["title"] == title
    assert [path.name for path in (client.folder / "tables").iterdir()] == ["table-1.csv"]
    assert not [*client.folder.parent.glob("**/evil.csv")]
    for name in ("x.pickle", "x.pkl", "x.exe", "csv"):
        assert client.upload(content, name).status_code == 400


def test_large_requests_are_refused_before_they_are_kept(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("golem.studio.server.LARGEST_UPLOAD", 1000)
    assert client.upload(b"a,b\n" + b"1,2\n" * 1000).status_code == 413
    assert not [*(client.folder / "tables").iterdir()]
    big = {"version": 0, "name": "x" * 2**21}
    assert client.post("/api/snapshot", big).status_code == 413


def test_objects_of_python_in_a_file_are_not_loaded(client: Client, tmp_path: Any) -> None:
    import numpy as np

    np.save(tmp_path / "objects.npy", np.array([{"a": 1}, {"b": 2}], dtype=object), allow_pickle=True)
    assert client.upload((tmp_path / "objects.npy").read_bytes(), "objects.npy").status_code == 400


def test_the_policy_allows_only_our_own_files(client: Client) -> None:
    headers = client.get("/").headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_names_that_are_markup_stay_text(client: Client) -> None:
    name = '<script>alert("1")</script>'
    rows = "".join(f"{k % 5},{k * k % 13}\n" for k in range(60))
    assert client.upload(f'"{name.replace(chr(34), chr(34) * 2)}",b\n{rows}'.encode()).status_code == 200
    answer = client.get("/api/state")
    assert answer.headers["content-type"] == "application/json"
    assert name in answer.json()["state"]["names"]
    assert client.edit(kind="place", columns=[name], tier=0).status_code == 200


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"version": "1"}', b'{"version": 1, "edit": {"kind": "evil"}}'])
def test_requests_of_another_form_get_a_sentence(client: Client, body: bytes) -> None:
    answer = client.http.post("/api/edit", content=body, headers={"origin": ORIGIN})
    assert answer.status_code == 400
    assert answer.json()["error"]
