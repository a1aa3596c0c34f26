"""Write the pages of the site whose text is elsewhere: API reference, evidence, and the pages of the root folder.

docs/conf.py calls `write` before each build. These folders are ignored by git.
"""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent

# The public modules, in the order of the reference. A name that several of them have is described in the first.
MODULES = {
    "golem": "Learn, check and export a graph",
    "golem.output": "Results as tables, files and objects of other packages",
    "golem.output.report": "The report as an HTML page",
    "golem.plots": "Figures",
    "golem.metrics": "Distances between graphs",
    "golem.diagnostics": "What a learned graph depends on",
    "golem.assessment.selection": "Choosing penalties",
    "golem.comparison": "Several methods on one table",
    "golem.baselines": "Other methods",
    "golem.datasets": "Bundled data",
    "golem.readers": "Tables, files and graphs",
    "golem.simulate": "Simulated graphs and tables",
    "golem.workflow": "What the command line does",
    "golem.estimator": "Several fits at once",
    "golem.score": "Terms of the score",
    "golem.solvers": "Solvers and solutions",
    "golem_experiments": "The paper's experiments",
}
# On many disks, names of files that differ only in their case are the same.
FILE_NAMES = {"golem.diagnostics.survival": "golem.diagnostics.survival-function"}
API_INTRO = """These are the public names; [what is public](../public.md) says what that promises. Each page has
an example, which the tests run. Start with {py:class}`golem.Golem`."""
EVIDENCE = ("benchmarks", "results")
PROJECT = {"CONTRIBUTING.md": "contributing.md", "ARCHITECTURE.md": "architecture.md", "CHANGELOG.md": "changelog.md"}


def public_names() -> dict[str, list[str]]:
    """Return the names to describe by module, each in the first module that has it, without submodules."""
    seen: list[Any] = []
    found: dict[str, list[str]] = {}
    for path in MODULES:
        module = importlib.import_module(path)
        found[path] = []
        for name in sorted(module.__all__, key=str.lower):
            value = getattr(module, name)
            if inspect.ismodule(value) or any(value is other for other in seen):
                continue
            seen.append(value)
            found[path].append(name)
    return found


def is_described(value: Any) -> bool:
    """Return whether a name is a class or function; types and constants have a line instead of a page."""
    return inspect.isclass(value) or inspect.isfunction(value)


def write() -> None:
    """Write docs/api and docs/project, and copy pages and figures of the evidence into docs/."""
    for folder in ("api", "project", *EVIDENCE):
        shutil.rmtree(HERE / folder, ignore_errors=True)
        (HERE / folder).mkdir()
    _write_api()
    for source, target in PROJECT.items():
        (HERE / "project" / target).write_text(_moved((ROOT / source).read_text(encoding="utf-8")), encoding="utf-8")
    for source in (path for folder in EVIDENCE for path in (ROOT / folder).rglob("*.*")):
        target = HERE / source.relative_to(ROOT)
        if source.suffix in (".md", ".png"):
            target.parent.mkdir(exist_ok=True)
            shutil.copy(source, target)


def site_links(name: str, text: str) -> str:
    """Return a page with the links that it needs where docs/ is the root: the evidence is in it, docs/ is not."""
    if name.startswith("project/"):
        return text  # `_moved` wrote its links
    folders = "|".join(EVIDENCE)
    if name.startswith(tuple(f"{folder}/" for folder in EVIDENCE)):
        return re.sub(r"\]\(((?:\.\./)+)docs/", r"](\1", text)
    return re.sub(rf"\]\(\.\./((?:\.\./)*(?:{folders})/[^)]*\.(?:md|png)\b)", r"](\1", text)


def _write_api() -> None:
    """Write one page per public module, and the list of them with their names."""
    lines = ["# API reference", "", API_INTRO, ""]
    entries = []
    for path, names in public_names().items():
        page = path.removeprefix("golem.").replace(".", "-")
        entries.append(f"{path} <{page}>")
        (HERE / "api" / f"{page}.rst").write_text(_module_page(path, names), encoding="utf-8")
        module = importlib.import_module(path)
        links = [f"{{py:obj}}`{name} <{path}.{name}>`" for name in names if is_described(getattr(module, name))]
        lines += [f"**[{path}]({page}.rst)**: {MODULES[path][0].lower()}{MODULES[path][1:]}", "", ", ".join(links), ""]
    lines += ["```{toctree}", ":hidden:", "", *entries, "```", ""]
    (HERE / "api" / "index.md").write_text("\n".join(lines), encoding="utf-8")


def _module_page(path: str, names: list[str]) -> str:
    """Return the page of a module: a table of its names, each with a page of its own."""
    module = importlib.import_module(path)
    title = f"{path}: {MODULES[path][0].lower()}{MODULES[path][1:]}"
    pages = [name for name in names if is_described(getattr(module, name))]
    others = [name for name in names if name not in pages]
    lines = [title, "=" * len(title), "", f".. currentmodule:: {path}", ""]
    lines += [
        ".. autosummary::",
        "   :toctree: generated",
        "   :nosignatures:",
        "",
        *(f"   {name}" for name in pages),
        "",
    ]
    if others:
        lines += ["Types and constants:", ""]
        lines += [f"- ``{path}.{name}``: ``{getattr(module, name)}``" for name in others]
    return "\n".join(lines) + "\n"


def _moved(text: str) -> str:
    """Return a page of the root folder with the links that it needs in docs/project."""

    def link(match: re.Match[str]) -> str:
        target = match[1]
        if "://" in target or target.startswith("#"):
            return match[0]
        if target in PROJECT:
            return f"]({PROJECT[target]})"
        on_site = target.startswith(("docs/", *(f"{folder}/" for folder in EVIDENCE)))
        return f"](../{target.removeprefix('docs/')})" if on_site else f"](../../{target})"

    return re.sub(r"\]\(([^)]+)\)", link, text)
