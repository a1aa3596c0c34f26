"""Every finding is explained, in the terminal and on its page, by the same words."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from golem.assessment.diagnostics.diagnosis import CHECKS
from golem.assessment.diagnostics.explanations import EXPLANATIONS, GROUPS

DOCS = Path(__file__).parents[3] / "docs"


def test_every_finding_is_explained_once():
    names = [name for group in GROUPS.values() for name in group]
    assert len(names) == len(set(names))
    assert set(names) == {name for name, _ in CHECKS} | {"intervals"}


def test_headlines_fit_into_a_line():
    assert not [name for name, one in EXPLANATIONS.items() if not 10 < len(one.headline) <= 76]


def test_the_page_of_findings_is_current():
    spec = importlib.util.spec_from_file_location("generate_findings", DOCS / "generate_findings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "findings.md").read_text(encoding="utf-8") == module.page(), "run `make docs`"
