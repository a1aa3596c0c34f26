"""The pages in docs/ that show code: it runs, block by block, and prints what they say it prints."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ["handover.md"]
# A block of code, the package it needs where it needs one of its own, and the text block after it: what it prints.
BLOCK = re.compile(
    r"(?:<!-- needs (?P<needs>\w+) -->\n)?```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?", re.DOTALL
)
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?")


def run(page, folder, monkeypatch, wanted):
    """Run the blocks of a page in order, in an empty folder, those that need a package only where it is wanted."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    blocks = list(BLOCK.finditer((DOCS / page).read_text(encoding="utf-8")))
    assert blocks
    for block in blocks:
        if block["needs"] and not wanted(block["needs"]):
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["code"], page, "exec"), names)
        assert_alike(printed.getvalue(), block["printed"] or "")


def assert_alike(found, expected):
    """Compare texts: the words and the layout exactly, numbers nearly, since the last digits are the machine's."""
    assert re.sub(r"\s+", " ", NUMBER.sub("#", found)) == re.sub(r"\s+", " ", NUMBER.sub("#", expected))
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (found, expected)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=0.02)


@pytest.mark.parametrize("page", PAGES)
def test_pages_run_without_other_packages(page, tmp_path, monkeypatch):
    run(page, tmp_path, monkeypatch, lambda package: False)


@pytest.mark.handover
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES)
def test_pages_run_with_the_packages_they_name(page, tmp_path, monkeypatch):
    needs = {block["needs"] for block in BLOCK.finditer((DOCS / page).read_text(encoding="utf-8"))} - {None}
    for package in needs:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    run(page, tmp_path, monkeypatch, lambda package: True)
