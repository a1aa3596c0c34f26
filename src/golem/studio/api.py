"""The types of the JSON API, and its description in OpenAPI."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from golem.runtime.version import __version__
from golem.studio.edits import AnyEdit


class Version(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The version of the state that a change is meant for; a change of another version is answered with 409."""

    version: int


class EditRequest(Version, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An edit."""

    edit: AnyEdit


class SnapshotRequest(Version, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name for the present state."""

    name: str


class RestoreRequest(Version, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number of a snapshot."""

    number: int


class ExampleRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The name of a table that golem contains."""

    name: str


class BootstrapRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number of resamples."""

    replicates: int


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request was refused; after a conflict also the present state."""

    error: str
    state: Any = None


class Endpoint(NamedTuple):
    """A path of the API: what it does, the type of its request, the names of its parameters, and its answer."""

    method: str
    path: str
    summary: str
    request: Any = None
    parameters: tuple[str, ...] = ()
    answer: Any = dict[str, Any]


ENDPOINTS = (
    Endpoint("GET", "/api/state", "All parts of the page: state, graph, columns, findings, progress, problem."),
    Endpoint("GET", "/api/events", "The parts that change, as server-sent events named like the parts."),
    Endpoint("POST", "/api/edit", "Change what is known or how a column is used.", EditRequest),
    Endpoint("POST", "/api/undo", "Undo the last edit.", Version),
    Endpoint("POST", "/api/redo", "Do the last undone edit again.", Version),
    Endpoint("POST", "/api/snapshot", "Keep the present state and graph under a name.", SnapshotRequest),
    Endpoint("POST", "/api/restore", "Return to the state of a snapshot.", RestoreRequest),
    Endpoint("GET", "/api/snapshots/{number}", "The graph of a snapshot.", None, ("number",)),
    Endpoint("POST", "/api/data", "Open the table in the body; `name` ends as its file does.", bytes, ("name",)),
    Endpoint("POST", "/api/example", "Open a table that golem contains.", ExampleRequest),
    Endpoint(
        "GET", "/api/costs", "What rules about a pair cost in fit.", None, ("cause", "effect"), dict[str, float | str]
    ),
    Endpoint("GET", "/api/effects", "What changes downstream of a variable.", None, ("source",), list[dict[str, Any]]),
    Endpoint("GET", "/api/neighbourhood", "The part of a large graph around a variable.", None, ("name", "steps")),
    Endpoint("GET", "/api/adjustment", "The variables to adjust for.", None, ("cause", "effect")),
    Endpoint("POST", "/api/bootstrap", "Resample the rows in the background.", BootstrapRequest),
    Endpoint("POST", "/api/cancel", "End the work in the background."),
    Endpoint("POST", "/api/save", "Write report, graph, command and script."),
    Endpoint("GET", "/api/results/{name}", "A file that was saved.", None, ("name",)),
)


def openapi() -> dict[str, Any]:
    """Return the description of the API."""
    types = [one.request for one in ENDPOINTS if one.request not in (None, bytes)] + [Problem]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schema_of = {id(one): schema for one, schema in zip(types, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for one in ENDPOINTS:
        (answered,), _ = msgspec.json.schema_components([one.answer])
        refused = {"description": "A sentence", "content": {"application/json": {"schema": schema_of[id(Problem)]}}}
        answers = {"200": {"description": "Done", "content": {"application/json": {"schema": answered}}}}
        operation: dict[str, Any] = {"summary": one.summary, "responses": answers | {"400": refused}}
        if one.request is not None:
            binary = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
            typed = {"application/json": {"schema": schema_of.get(id(one.request))}}
            operation["requestBody"] = {"required": True, "content": binary if one.request is bytes else typed}
        operation["parameters"] = [
            {
                "name": name,
                "in": "path" if f"{{{name}}}" in one.path else "query",
                "required": True,
                "schema": {"type": "string"},
            }
            for name in one.parameters
        ]
        paths.setdefault(one.path, {})[one.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "golem studio", "version": __version__},
        "paths": paths,
        "components": {"schemas": components},
    }
