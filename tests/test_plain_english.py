"""The text of the project avoids phrases that readers stumbled over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# What to write instead. CONTRIBUTING.md and docs/glossary.md have the words to use.
AVOID = {
    "speak for": "support",
    "speaks for": "supports",
    "believes the units": "depends on the units",
    "what to believe": "how far to trust",
    "that cannot be,": "forbidden",
    "stands for no": "unknown",
    "came to an end": "finished",
    "price of an edge": "penalty per edge",
    "mend": "fix",
    "mends": "fixes",
    "is no missing": "is not a missing",
    "are no missing": "are not missing",
    "seed of all that is random": "random seed",
    "typed twice": "concurrent runs",
    "close call": "weak evidence",
    "does not pay": "is not worth its penalty",
    "how to work": "how to compute",
    "tells of": "reports",
    "told of": "reported",
    "come along": "are included",
    "stands beside": "is next to",
    "the graph is another": "the graph differs",
}
SUFFIXES = {".py", ".html", ".js", ".css", ".md"}
PAGES = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md")


def texts():
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in SUFFIXES]
    pages = [path for folder in ("docs", "docs/how", "benchmarks") for path in (ROOT / folder).glob("*.md")]
    examples = (ROOT / "docs" / "examples").glob("*.py")
    return sorted([*sources, *pages, *examples, *(ROOT / name for name in PAGES)])


def find(phrase, text):
    """Return the lines on which a phrase begins."""
    gap = r"""(?:\s|["#*]|\bf(?="))+"""  # a line may end within a string or a comment
    words = gap.join(map(re.escape, phrase.split()))
    end = r"\b" if phrase[-1].isalpha() else ""
    return [text.count("\n", 0, hit.start()) + 1 for hit in re.finditer(rf"\b{words}{end}", text, re.IGNORECASE)]


@pytest.mark.parametrize("phrase", AVOID)
def test_no_page_or_message_has(phrase):
    hits = [(path, line) for path in texts() for line in find(phrase, path.read_text(encoding="utf-8"))]
    found = [f"{path.relative_to(ROOT)}:{line}" for path, line in hits]
    assert not found, f"'{phrase}': write '{AVOID[phrase]}' in {', '.join(found)}"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("what the data speak for", [1]),
        ("the data\n    Speak\n    for", [2]),
        ('"what they speak "\n    f"for here"', [1]),
        ("# they speak\n# for it", [1]),
        ("bespeak for, speak forth, speak. For", []),
    ],
)
def test_line_breaks_and_case_hide_nothing(text, lines):
    assert find("speak for", text) == lines


def test_the_pages_are_read():
    names = {path.name for path in texts()}
    assert {"README.md", "tutorial.md", "golem.py"} <= names


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900
