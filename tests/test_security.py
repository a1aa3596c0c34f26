"""The source keeps the promises of docs/security.md: no foreign pickles, no evaluated text, no network."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "golem"
# The two ends of a pipe between golem and its own child process, and the errors of numba's own cache.
OWN_PICKLES = {"comparison/method_process.py", "runtime/child_process.py", "search/numba_compiler.py"}
UNPICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "multiprocessing"}
NETWORK = {"urllib.request", "http", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "ssl", "webbrowser"}


@functools.cache
def modules():
    paths = sorted(SOURCE.rglob("*.py"))
    parsed = [(path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]
    return [(name, list(ast.walk(tree))) for name, tree in parsed]


def imported(nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name for alias in node.names for name in (alias.name, alias.name.split(".")[0]))
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "", (node.module or "").split(".")[0])


def test_only_golems_own_child_processes_are_sent_pickles():
    assert {name for name, nodes in modules() if UNPICKLERS & set(imported(nodes))} == OWN_PICKLES


def test_no_module_opens_connections():
    serving = {"studio/running.py", "studio/security.py"}  # golem studio listens; it connects to nothing
    assert {name for name, nodes in modules() if NETWORK & set(imported(nodes))} == serving
    attributes = {
        (name, node.attr)
        for name, nodes in modules()
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "socket"
    }
    assert {attribute for name, attribute in attributes if name not in serving} <= {"gethostname"}


def test_no_text_is_evaluated():
    calls = [
        (name, node.func.id)
        for name, nodes in modules()
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    assert calls
    assert not [call for call in calls if call[1] in ("eval", "exec", "compile", "__import__")]


def test_numpy_is_not_allowed_to_unpickle():
    keywords = [node for _, nodes in modules() for node in nodes if isinstance(node, ast.keyword)]
    values = [ast.literal_eval(node.value) for node in keywords if node.arg == "allow_pickle"]
    assert values
    assert not any(values)
