"""Who may talk to the studio: only pages that it served itself, with its token.

A server on 127.0.0.1 can be reached by every page that the browser shows. `Guard` refuses other hosts (DNS rebinding),
other origins (cross-site requests) and requests without the token, which only the link in the terminal has.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "golem-studio"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class Guard:
    """Refuse requests that do not come from the studio's own page.

    Parameters
    ----------
    app : ASGI application
        What answers the others.
    token : str
        The secret. A link with `?token=` sets it as a cookie, which pages of other sites cannot send.
    hosts : set of str
        The values of `Host` that are allowed, such as "127.0.0.1:8000".
    """

    def __init__(self, app: App, token: str, hosts: set[str]) -> None:
        self.app, self.token, self.hosts = app, token, hosts
        self._cookie = f"{COOKIE}-{max(hosts).rpartition(':')[2]}"  # cookies do not know ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return None
        headers = {name.lower(): value for name, value in scope["headers"]}
        if headers.get(b"host", b"").decode("latin-1").lower() not in self.hosts:
            return await _refuse(send, 421, "This is golem studio. Open the link that it printed.")
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        changes = scope["method"] not in ("GET", "HEAD")
        if (origin or changes) and origin not in {f"http://{host}" for host in self.hosts}:
            return await _refuse(send, 403, "Requests from other sites are not allowed.")
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and given and self._is_token(given):
            return await self._welcome(send)
        if not self._is_token(_cookie(headers.get(b"cookie", b""), self._cookie)):
            return await _refuse(send, 403, "The token is missing or wrong. Open the link that golem studio printed.")

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        return await self.app(scope, receive, send_guarded)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    async def _welcome(self, send: Send) -> None:
        """Keep the token in a cookie, and remove it from the address."""
        cookie = f"{self._cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *_HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _cookie(header: bytes, name: str) -> str:
    """Return the value of a cookie, or nothing."""
    try:
        found = SimpleCookie(header.decode("latin-1")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


async def _refuse(send: Send, status: int, sentence: str) -> None:
    """Answer with a sentence."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sentence.encode()})
