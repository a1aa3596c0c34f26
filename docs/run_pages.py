"""Run the code of documentation pages and write its output into them.

Run with `make docs`, or for some pages with `python docs/run_pages.py reading.md`.

The Python blocks of a page run in order in one empty folder; the text block after a Python block is its output. Shell
blocks that have a text block run there as well, with 80 columns. A block after a comment `<!-- needs pgmpy -->` runs
only if that package is installed and is otherwise left unchanged. One after `<!-- not run: needs a GPU -->` never runs,
and the lines of a comment `<!-- setup` run before its block. Pictures that the code saves and the page shows are copied
to docs/images. tests/site/test_pages.py fails if a page is out of date.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Examples with `>>>`, in blocks of `pycon`, run as doctests instead.
PAGES = tuple(
    path.name
    for path in sorted(HERE.glob("*.md"))
    if re.search(r"^```python\n|^```sh\n[^`]*```\n\n```text\n", path.read_text(encoding="utf-8"), re.MULTILINE)
)
BLOCK = re.compile(
    r"(?:<!-- needs (?P<needs>\w+) -->\n|<!-- (?P<skip>not run): [^>]* -->\n"
    r"|<!-- setup\n(?P<setup>(?:(?!-->).)*)-->\n)?"
    r"^```(?P<language>python|sh)\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?",
    re.DOTALL | re.MULTILINE,
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
        is_python = block["language"] == "python"
        printed = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            exec(compile((block["setup"] or "") + (block["code"] if is_python else ""), page, "exec"), names)
        if is_python:
            yield block, printed.getvalue()
        elif block["printed"] is not None:
            yield block, run_shell(block["code"], folder)


def run_shell(commands: str, folder: Path) -> str:
    """Run shell commands in a folder with this golem, and return what they print, without blanks at line ends."""
    script = f'set -e\ngolem() {{ "{sys.executable}" -m golem "$@"; }}\n{commands}'
    shown = {**os.environ, "COLUMNS": "80", "MPLBACKEND": "Agg"}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=shown, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{commands}\n{done.stderr}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


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
    for each in sys.argv[1:] or PAGES:
        update(each)
