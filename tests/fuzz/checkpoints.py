"""Checkpoints with changed bytes or arrays: the fit is that without a checkpoint, or the file is refused."""

from __future__ import annotations

import functools
import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.mutations import as_bytes, as_text, mutated
from fuzz.rules import ViolationError, answer
from golem import Golem
from golem.gradient.checkpoint import Arrays, _hash_of_all

READERS = ["solution", "state"]
DATA = np.random.default_rng(0).normal(size=(40, 3)) @ np.array([[1, 0.8, 0], [0, 1, 0.5], [0, 0, 1.0]])
VALUES: dict[str, Any] = {"zero": 0.0, "text": "?", "matrix": [[1.0, 2.0]], "empty": [], "cube": [[[1.0]]]}
VALUES |= {"nan": float("nan"), "whole": -1, "large": 2**62, "nested": "[" * 3000, "other": [[0.5] * 3] * 3}
HASH = "sha256"


def _model(**options: Any) -> Golem:
    return Golem("ev", "adam", max_iter=30, **options)


@functools.cache
def original(reader: str) -> bytes:
    """Return the checkpoint of a fit that has ended, or of one that was stopped at once."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "run")
        _model(time_limit=1e-9 if reader == "state" else None).fit(DATA, checkpoint=path)
        return path.read_bytes()


@functools.cache
def expected() -> np.ndarray[Any, Any]:
    """Return the weights of a fit without a checkpoint."""
    return _model().fit(DATA).solution_.weights


def _arrays(reader: str) -> Arrays:
    with np.load(io.BytesIO(original(reader)), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


@st.composite
def cases(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw changed bytes, or arrays that are changed, removed or added, with the old hash or with a new one."""
    how = draw(st.sampled_from(["whole", "bytes", "arrays", "arrays", "forged", "forged"]))
    if how == "whole":
        return {"reader": reader}
    case: dict[str, Any] = {"reader": f"{reader}, damaged"}
    if how == "bytes":
        return case | {"bytes": as_text(draw(mutated(original(reader))))}
    names = [*(name for name in _arrays(reader) if name != HASH), "golem-ev/strange", "strange"]
    change = st.tuples(st.sampled_from(names), st.sampled_from([*VALUES, "remove"]))
    return case | {"changes": draw(st.lists(change, min_size=1, max_size=2)), "forged": how == "forged"}


def check(case: dict[str, Any]) -> None:
    """Continue a fit; unless the hash was forged, too, its weights are those of a fit without a checkpoint."""
    reader = case["reader"].removesuffix(", damaged")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run")
        path.write_bytes(as_bytes(case["bytes"]) if "bytes" in case else original(reader))
        if "changes" in case:
            with path.open("wb") as file:
                np.savez(file, allow_pickle=False, **_changed(case, reader))
        found = answer(lambda: _model().fit(DATA, checkpoint=path)).solution_.weights
    if not case.get("forged") and not np.array_equal(found, expected()):
        raise ViolationError("a damaged checkpoint changed the weights", reader)


def _changed(case: dict[str, Any], reader: str) -> Arrays:
    arrays = _arrays(reader)
    for name, value in case["changes"]:
        if value == "remove":
            arrays.pop(name, None)
        else:
            arrays[name] = np.array(VALUES[value])
    if case["forged"]:
        del arrays[HASH]
        arrays[HASH] = np.array(_hash_of_all(arrays))
    return arrays
