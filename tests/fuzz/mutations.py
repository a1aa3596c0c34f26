"""Damage to bytes and to JSON, as strategies."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

# One letter stands for each in the corpus, to keep its files small.
LONG = {"\ue000": b"x" * 140_000, "\ue001": b"[" * 3000, "\ue002": b"9" * 400}
TOKENS = [
    *LONG.values(),
    *(b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"', b"'", b",", b";", b"\t", b"|", b" ", b"#"),
    *(b"{", b"}", b"[", b"]", b"<", b">", b"&", b"\\", b"/*", b"//", b"->", b"--", b"=", b":", b"null", b"true"),
    *(b"nan", b"inf", b"-inf", b"1e400", b"-1", b"0x10", b"1,234", b"1_000"),
    *("\u0663".encode(), "ä".encode("latin-1"), b"\x1b[2J", b"<script>", b"\xed\xa0\x80", b"__proto__", b"\\u0000"),
]
HOSTILE: list[Any] = [
    *(None, True, -1, 0, 1.5, 1e308, 10**400, -(10**30), 2**63, "", "a", "\x1b[2J", "<script>alert(1)</script>"),
    *("\0", "x" * 140_000, [], [1], [[]], [None], ["a"], {}, {"a": 1}, {"a": {}}, [[1, 2, 3]], "NaN", "../../x"),
]


@st.composite
def mutated(draw: st.DrawFn, original: bytes) -> bytes:
    """Cut, repeat and replace a few pieces of a text."""
    text = original
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.sampled_from([0, 1, 2, 8, 1000])))
        piece = draw(st.one_of(st.sampled_from(TOKENS), st.just(text[begin:end] * 2), st.binary(max_size=4)))
        text = text[:begin] + piece + text[end:]
    return text


@st.composite
def mutated_json(draw: st.DrawFn, original: Any) -> Any:
    """Replace, remove or add a few values anywhere in plain data."""
    content = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 2))):
        places = list(_places(content))
        if not places:
            return content
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        action = draw(st.sampled_from(["replace", "replace", "replace", "remove", "add"]))
        value = copy.deepcopy(draw(st.sampled_from(HOSTILE)))
        if action == "remove":
            del holder[key]
        elif action == "add" and isinstance(holder, dict):
            holder["strange"] = value
        elif action == "add":
            holder.insert(key, value)
        else:
            holder[key] = value
    return content


def _places(content: Any) -> Any:
    """Yield each dict or list in plain data with each of its keys."""
    keys = content.keys() if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    for key in keys:
        yield content, key
        yield from _places(content[key])


def as_text(content: bytes) -> str:
    """Return bytes as text for JSON, a letter for each byte and one for each of `LONG`."""
    text = content.decode("latin-1")
    for letter, long in LONG.items():
        text = text.replace(long.decode(), letter)
    return text


def as_bytes(text: str) -> bytes:
    """Return the bytes that `as_text` was given."""
    for letter, long in LONG.items():
        text = text.replace(letter, long.decode())
    return text.encode("latin-1")
