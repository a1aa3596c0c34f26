"""The server of the studio: the JSON API, the events and the page."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.resources import files
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from golem.runtime.files import csv_text, write_text
from golem.studio.api import (
    BootstrapRequest,
    EditRequest,
    ExampleRequest,
    RestoreRequest,
    SnapshotRequest,
    Version,
    openapi,
)
from golem.studio.background import CancelledWorkError
from golem.studio.journal import ConflictError
from golem.studio.security import App, Guard
from golem.studio.session import RESULTS, Session, upload_path

LARGEST_UPLOAD, LARGEST_REQUEST = 2**28, 2**20
ENDINGS = (
    ".csv", ".csv.gz", ".tsv", ".txt", ".parquet", ".npy", ".xlsx", ".xls", ".dta", ".sav", ".feather",
)  # fmt: skip
EXAMPLES = ("diabetes", "sachs")
SAVED = {
    "report.html": "text/html", "graph.json": "application/json", "edges.csv": "text/csv", "weights.csv": "text/csv",
    "coefficients.csv": "text/csv", "graph.png": "image/png", "knowledge.json": "application/json",
    "targets.json": "application/json", "command.sh": "text/plain", "script.py": "text/plain",
}  # fmt: skip
_PAGE = {
    "index.html": "text/html", "api.html": "text/html", "studio.css": "text/css", "studio.js": "text/javascript",
    "tiers.js": "text/javascript", "panels.js": "text/javascript", "requests.js": "text/javascript",
    "reference.js": "text/javascript",
    "golem_graph.js": "text/javascript", "golem_graph.css": "text/css",
}  # fmt: skip
Body = TypeVar("Body", bound=msgspec.Struct)
Handler = Callable[["Request"], Awaitable[Response]]


def make_app(session: Session, token: str, hosts: set[str]) -> App:
    """Return the application of a session, which answers only requests with the token to these hosts."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        session.start()
        yield
        await session.close()

    routes = [
        Route("/", _page),
        Route("/page/{name}", _page),
        *(Route(path, _guarded(handler, session), methods=[method]) for (method, path), handler in HANDLERS.items()),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token, hosts)


def _guarded(handler: Callable[[Session, Request], Awaitable[Any]], session: Session) -> Handler:
    """Return a handler whose errors are sentences."""

    async def handle(request: Request) -> Response:
        try:
            found = await handler(session, request)
        except ConflictError as error:
            return _json({"error": str(error), "state": session.state_part()}, 409)
        except CancelledWorkError:
            return _json({"error": "The work was cancelled."}, 409)
        except TooLargeError as error:
            return _json({"error": str(error)}, 413)
        except msgspec.ValidationError as error:
            return _json({"error": f"The request has the wrong form: {error}"}, 400)
        except ValueError as error:
            return _json({"error": str(error)}, 400)
        return found if isinstance(found, Response) else _json(found if found is not None else session.state_part())

    return handle


class TooLargeError(ValueError):
    """The body of a request is too large."""


def _json(content: Any, status: int = 200) -> Response:
    return Response(encoded(content), status, media_type="application/json")


def encoded(content: Any) -> bytes:
    """Return JSON; sentences with remedies are subclasses of str."""
    return msgspec.json.encode(content, enc_hook=str)


async def _chunks(request: Request, limit: int) -> AsyncIterator[bytes]:
    """Yield the body of a request; raise an error as soon as it is too large."""
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise TooLargeError(f"The file is larger than {limit // 2**20} MB. Use `golem fit` for it.")
            yield chunk
    except ClientDisconnect:
        raise ValueError("The connection was lost.") from None


async def _body(request: Request, kind: type[Body]) -> Body:
    """Read the JSON body of a request."""
    return msgspec.json.decode(b"".join([chunk async for chunk in _chunks(request, LARGEST_REQUEST)]), type=kind)


async def _page(request: Request) -> Response:
    """Answer with a file of the page."""
    name = request.path_params.get("name", "index.html")
    if name not in _PAGE:
        return _json({"error": "There is no such page."}, 404)
    shared = name.startswith("golem_graph")
    folder = files("golem.output.report") / "assets" if shared else files("golem.studio") / "page"
    return Response((folder / name).read_bytes(), media_type=_PAGE[name])


async def _state(session: Session, request: Request) -> Any:
    return session.parts | {"examples": EXAMPLES}


async def _events(session: Session, request: Request) -> Any:
    async def lines() -> AsyncIterator[bytes]:
        async for name, content in session.watch():
            yield b"event: %s\ndata: %s\n\n" % (name.encode(), encoded(content))

    return StreamingResponse(lines(), media_type="text/event-stream")


async def _edit(session: Session, request: Request) -> None:
    body = await _body(request, EditRequest)
    session.change("edit", body.version, edit=body.edit)


async def _undo(session: Session, request: Request) -> None:
    session.change("undo", (await _body(request, Version)).version)


async def _redo(session: Session, request: Request) -> None:
    session.change("redo", (await _body(request, Version)).version)


async def _snapshot(session: Session, request: Request) -> None:
    body = await _body(request, SnapshotRequest)
    session.snapshot(body.name, body.version)


async def _restore(session: Session, request: Request) -> None:
    body = await _body(request, RestoreRequest)
    session.change("restore", body.version, name=str(body.number))


async def _snapshot_graph(session: Session, request: Request) -> Any:
    return session.snapshot_graph(int(request.path_params["number"]))


async def _data(session: Session, request: Request) -> None:
    title = request.query_params.get("name", "")[-200:]
    ending = max((end for end in ENDINGS if title.lower().endswith(end)), key=len, default=None)
    if ending is None:
        raise ValueError(f"The name must end with one of {', '.join(ENDINGS)}.")
    path = upload_path(session.folder, ending)
    try:
        with path.open("xb") as file:
            async for chunk in _chunks(request, LARGEST_UPLOAD):
                file.write(chunk)
        await session.load(path, title)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


async def _example(session: Session, request: Request) -> None:
    name = (await _body(request, ExampleRequest)).name
    if name not in EXAMPLES:
        raise ValueError(f"The examples are {', '.join(EXAMPLES)}.")
    path = session.folder / "tables" / f"{name}.csv"
    write_text(path, example_text(name))
    await session.load(path, f"{name}.csv")


def example_text(name: str) -> str:
    """Return a table that golem or scikit-learn contains, as CSV."""
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        found = load_diabetes(scaled=False)
        rows = [[*row, target] for row, target in zip(found.data.tolist(), found.target.tolist(), strict=True)]
        return csv_text([[*found.feature_names, "progression"], *rows])
    from golem.data.datasets import load_sachs

    sachs = load_sachs()
    return csv_text([[*sachs.names], *sachs.values.tolist()])


async def _costs(session: Session, request: Request) -> Any:
    return await session.costs(*_asked(request, "cause", "effect"))


async def _effects(session: Session, request: Request) -> Any:
    return await session.effects(*_asked(request, "source"))


async def _neighbourhood(session: Session, request: Request) -> Any:
    name, steps = _asked(request, "name", "steps")
    return await session.neighbourhood(name, int(steps) if steps in ("1", "2", "3") else 0)


async def _adjustment(session: Session, request: Request) -> Any:
    return session.adjustment(*_asked(request, "cause", "effect"))


def _asked(request: Request, *names: str) -> list[str]:
    """Return parameters of the address."""
    if missing := [name for name in names if name not in request.query_params]:
        raise ValueError(f"The parameter {missing[0]} is missing.")
    return [request.query_params[name] for name in names]


async def _bootstrap(session: Session, request: Request) -> None:
    session.bootstrap((await _body(request, BootstrapRequest)).replicates)


async def _cancel(session: Session, request: Request) -> None:
    session.cancel()


async def _save(session: Session, request: Request) -> Any:
    return await session.save()


async def _result(session: Session, request: Request) -> Response:
    name = request.path_params["name"]
    path = session.folder / RESULTS / name
    if name not in SAVED or not path.is_file():
        raise ValueError("There is no such file. Save first.")
    return FileResponse(path, media_type=SAVED[name], filename=name)


async def _openapi(session: Session, request: Request) -> Any:
    return openapi()


HANDLERS: dict[tuple[str, str], Callable[[Session, Request], Awaitable[Any]]] = {
    ("GET", "/api/state"): _state,
    ("GET", "/api/events"): _events,
    ("POST", "/api/edit"): _edit,
    ("POST", "/api/undo"): _undo,
    ("POST", "/api/redo"): _redo,
    ("POST", "/api/snapshot"): _snapshot,
    ("POST", "/api/restore"): _restore,
    ("GET", "/api/snapshots/{number:int}"): _snapshot_graph,
    ("POST", "/api/data"): _data,
    ("POST", "/api/example"): _example,
    ("GET", "/api/costs"): _costs,
    ("GET", "/api/effects"): _effects,
    ("GET", "/api/adjustment"): _adjustment,
    ("GET", "/api/neighbourhood"): _neighbourhood,
    ("POST", "/api/bootstrap"): _bootstrap,
    ("POST", "/api/cancel"): _cancel,
    ("POST", "/api/save"): _save,
    ("GET", "/api/results/{name}"): _result,
    ("GET", "/api/openapi.json"): _openapi,
}


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(24)


def allowed_hosts(host: str, port: int) -> set[str]:
    """Return the names of a server: the given one, and those of this machine if it is local."""
    local = {"127.0.0.1", "localhost"} if host in ("127.0.0.1", "localhost", "0.0.0.0") else set()
    return {f"{name.lower()}:{port}" for name in {host, *local}}
