"""The code on the pages in docs/ runs, block by block, and prints what the page shows; its commands can be parsed."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import typer

from golem.cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.glob("*.md"), *ROOT.glob("benchmarks/*.md")])
spec = importlib.util.spec_from_file_location("run_pages", DOCS / "run_pages.py")
run_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_pages)
# The pages of the user guide, and what explains and supports it; docs/cli.md and the API reference are generated.
TARGETS = {
    "index", "install", "ten-minutes", "tutorial", "suitability", "preparing", "reading", "looks-wrong", "knowledge",
    "stability", "interventions", "categories", "series", "effects", "report", "compare", "tools", "large", "questions",
    "findings", "glossary", "how", "accuracy", "paper",
}  # fmt: skip
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?")


def assert_alike(found, expected):
    """Compare texts: words exactly, numbers approximately, because they differ a little between machines."""
    words = [" ".join(NUMBER.sub("#", text).split()) for text in (found, expected)]
    assert words[0] == words[1], "run `make docs`"
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (found, expected)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.1, abs=0.05), "run `make docs`"


@pytest.mark.site
@pytest.mark.parametrize("page", run_pages.PAGES)
def test_pages_run_without_other_packages(page, tmp_path):
    for block, printed in run_pages.run(page, tmp_path, set()):
        assert_alike(printed, block["printed"] or "")


@pytest.mark.export
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", [page for page in run_pages.PAGES if run_pages.needed_packages(page)])
def test_pages_run_with_the_packages_they_name(page, tmp_path):
    needed = run_pages.needed_packages(page)
    for package in needed:
        pytest.importorskip(package)
    for block, printed in run_pages.run(page, tmp_path, needed):
        assert_alike(printed, block["printed"] or "")


def commands(text):
    """Return the `golem` commands of the shell and indented blocks of a page, each as a list of words."""
    blocks = re.findall(r"```(?:sh|bash)\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"^    (golem .*)$", text, re.MULTILINE)
    words = [shlex.split(line.split(" | ")[0], comments=True) for line in lines if line.startswith("golem ")]
    return [line[: line.index("<")] if "<" in line else line for line in words]


@pytest.mark.site
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_have_the_options_that_pages_give_them(page):
    program = typer.main.get_command(app)
    for _, name, *options in commands(page.read_text(encoding="utf-8")):
        command = program.commands[name]
        command.make_context(name, list(options))  # raises an error that names the option


@pytest.mark.site
def test_commands_are_found_on_pages():
    assert commands("```sh\ngolem fit a.csv \\\n  -o out  # a comment\n```\n\n    golem fit - < b.csv\n") == [
        ["golem", "fit", "a.csv", "-o", "out"],
        ["golem", "fit", "-"],
    ]


@pytest.mark.site
def test_pages_in_folders_have_no_python_that_nobody_runs():
    pages = [*DOCS.glob("*/*.md"), *ROOT.glob("benchmarks/*.md")]
    assert not [path for path in pages if "```python" in path.read_text(encoding="utf-8")]


def test_user_pages_are_complete_and_short():
    words = {path.stem: len(path.read_text(encoding="utf-8").split()) for path in DOCS.glob("*.md")}
    assert not TARGETS - set(words)
    assert sum(words.values()) - words["cli"] <= 25_000, "shorten a page before you add to another"


@pytest.mark.site
def test_pages_have_the_share_of_wrong_claims_that_was_measured():
    measured = (ROOT / "benchmarks" / "claims.md").read_text(encoding="utf-8")
    found = re.search(r"(\d+) of ([\d,]+) claims are wrong", measured)
    assert found is not None
    for page in ("accuracy.md", "suitability.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        assert f" {found[1]} " in text, page
        assert found[2] in text, page
