"""A server in this process, with its worker processes, and a browser's view of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HOST, TOKEN = "127.0.0.1:8000", "secret"
ORIGIN = f"http://{HOST}"


class Client:
    """Requests as the page makes them."""

    def __init__(self, client: Any, folder: Path) -> None:
        self.http, self.folder = client, folder

    def get(self, path: str, **parameters: str) -> Any:
        return self.http.get(path, params=parameters)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self.http.post(path, json=body or {}, headers={"origin": ORIGIN}, **options)

    def upload(self, content: bytes, name: str = "data.csv") -> Any:
        return self.http.post("/api/data", params={"name": name}, content=content, headers={"origin": ORIGIN})

    def state(self) -> Any:
        return self.get("/api/state").json()

    def edit(self, **edit: Any) -> Any:
        return self.post("/api/edit", {"version": self.state()["state"]["version"], "edit": edit})

    def wait(self, done: Callable[[Any], Any], seconds: float = 120) -> Any:
        """Wait for a state of the page."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            parts = self.state()
            if done(parts):
                return parts
            time.sleep(0.03)
        raise AssertionError(f"This did not happen in {seconds} s: {parts}")

    def wait_for_graph(self, checked: bool = False) -> Any:
        """Wait for the graph of the present state."""

        def is_there(parts: Any) -> bool:
            graph = parts["graph"]
            there = graph is not None and graph["version"] == parts["state"]["version"]
            return there and (parts.get("findings") is not None if checked else True)

        return self.wait(is_there)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    starlette = pytest.importorskip("starlette.testclient", exc_type=ImportError)
    pytest.importorskip("httpx")
    import asyncio

    from golem.studio.server import make_app
    from golem.studio.session import Session

    async def new() -> Session:
        return Session(tmp_path / "session")

    app = make_app(asyncio.run(new()), TOKEN, {HOST})
    with starlette.TestClient(app, base_url=ORIGIN, follow_redirects=False) as http:
        assert http.get("/", params={"token": TOKEN}).status_code == 303
        yield Client(http, tmp_path / "session")
