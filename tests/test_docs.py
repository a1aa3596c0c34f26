"""The code on the pages in docs/ runs, block by block, and prints what the page shows."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
spec = importlib.util.spec_from_file_location("run_pages", DOCS / "run_pages.py")
run_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_pages)
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?")


def assert_alike(found, expected):
    """Compare texts: words exactly, numbers approximately, because they differ a little between machines."""
    words = [" ".join(NUMBER.sub("#", text).split()) for text in (found, expected)]
    assert words[0] == words[1], "run `make docs`"
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (found, expected)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.1, abs=0.05), "run `make docs`"


@pytest.mark.parametrize("page", run_pages.PAGES)
def test_pages_run_without_other_packages(page, tmp_path):
    blocks = list(run_pages.run(page, tmp_path, set()))
    assert blocks
    for block, printed in blocks:
        assert_alike(printed, block["printed"] or "")


@pytest.mark.export
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", run_pages.PAGES)
def test_pages_run_with_the_packages_they_name(page, tmp_path):
    needed = run_pages.needed_packages(page)
    for package in needed:
        pytest.importorskip(package)
    for block, printed in run_pages.run(page, tmp_path, needed):
        assert_alike(printed, block["printed"] or "")
