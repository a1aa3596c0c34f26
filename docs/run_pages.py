"""Run the code of documentation pages and write its output into them. Run with `make docs`.

The Python blocks of a page run in order in one empty folder; the text block after a Python block is its output. A block
after a comment `<!-- needs pgmpy -->` runs only if that package is installed and is otherwise left unchanged. One after
`<!-- not run: needs a GPU -->` never runs, and the lines of a comment `<!-- setup` run before its block. Pictures that
the code saves and the page shows are copied to docs/images. tests/site/test_pages.py fails if a page is out of date.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Examples with `>>>`, in blocks of `pycon`, run as doctests instead.
PAGES = tuple(sorted(path.name for path in HERE.glob("*.md") if "```python" in path.read_text(encoding="utf-8")))
BLOCK = re.compile(
    r"(?:<!-- needs (?P<needs>\w+) -->\n|<!-- (?P<skip>not run): [^>]* -->\n"
    r"|<!-- setup\n(?P<setup>(?:(?!-->).)*)-->\n)?"
    r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?",
    re.DOTALL,
)


def needed_packages(page: str) -> set[str]:
    """Return the packages that single blocks of a page need."""
    return {block["needs"] for block in BLOCK.finditer((HERE / page).read_text(encoding="utf-8")) if block["needs"]}


def run(page: str, folder: Path, packages: set[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Run the blocks of a page whose needs are in `packages`, in a folder; yield each with its output."""
    import matplotlib as mpl

    mpl.use("Agg")
    names: dict[str, Any] = {}
    for block in BLOCK.finditer((HERE / page).read_text(encoding="utf-8")):
        if block["skip"] or (block["needs"] and block["needs"] not in packages):
            continue
        printed = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            exec(compile((block["setup"] or "") + block["code"], page, "exec"), names)
        yield block, printed.getvalue()


def update(page: str) -> None:
    """Run a page, write the output of its blocks into it, and save its pictures."""
    installed = {package for package in needed_packages(page) if importlib.util.find_spec(package)}
    with tempfile.TemporaryDirectory() as folder:
        text = (HERE / page).read_text(encoding="utf-8")
        for block, printed in reversed(list(run(page, Path(folder), installed))):
            if block["printed"] is None:
                start = end = block.end()
                shown = f"\n```text\n{printed}```\n" if printed else ""
            else:
                (start, end), shown = block.span("printed"), printed
            text = text[:start] + shown + text[end:]
        (HERE / page).write_text(text, encoding="utf-8")
        for name in re.findall(r"\]\(images/([^)]+)\)", text):
            if Path(folder, name).exists():
                shutil.copy(Path(folder, name), HERE / "images" / name)


if __name__ == "__main__":
    for each in PAGES:
        update(each)
