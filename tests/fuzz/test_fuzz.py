"""A few seeded inputs of each kind, and every input that once was handled badly."""

from __future__ import annotations

import functools
import time
import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fuzz import corpus
from fuzz.rules import ViolationError, answer, bounded

EXAMPLES = {"tables": 60, "graphs": 60, "documents": 8, "options": 8, "containers": 40}
EXAMPLES |= {"categories": 20, "environments": 20, "checkpoints": 20, "spreadsheets": 10, "sessions": 20}
known = functools.cache(corpus.known)


@pytest.mark.parametrize("kind", corpus.KINDS)
def test_seeded_inputs_give_the_right_answer_or_one_sentence(kind):
    module = corpus.KINDS[kind]

    @settings(
        max_examples=EXAMPLES[kind],
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],  # `make fuzz` makes cases small
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(module.READERS).flatmap(module.cases))
    def holds(case):
        violation = corpus.violation_of(kind, case)
        if violation is not None and violation.signature not in known():
            raise violation

    holds()


def marked(path):
    needs_torch = corpus.read(path)["case"]["reader"] == "tensor"
    return pytest.param(path, id=path.stem, marks=[pytest.mark.torch] if needs_torch else [])


@pytest.mark.parametrize("path", [marked(path) for path in corpus.files()])
def test_inputs_of_the_corpus(path, request):
    content = corpus.read(path)
    if content["case"]["reader"] == "tensor":
        pytest.importorskip("torch")
    if "defect" in content:
        reason = f"defect {content['defect']} of the reliability issue is open"
        request.applymarker(pytest.mark.xfail(strict=True, raises=ViolationError, reason=reason))
    violation = corpus.violation_of(content["kind"], content["case"])
    if violation is not None:
        raise violation


@pytest.mark.parametrize(
    ("action", "what"),
    [
        (lambda: [][0], "IndexError"),
        (lambda: int("x"), "obscure ValueError"),
        (lambda: warnings.warn("a", RuntimeWarning, stacklevel=1), "RuntimeWarning: a"),
    ],
)
def test_the_rule_rejects_other_errors_and_foreign_warnings(action, what):
    with pytest.raises(ViolationError) as raised:
        answer(action)
    assert raised.value.signature[0] == what


def test_the_rule_notices_a_hang():
    with pytest.raises(ViolationError, match="no answer"), bounded(0.01):
        time.sleep(60)


def test_wrong_numbers_are_violations():
    case = {"reader": "csv", "bytes": "a,b\n121,5\n3,4\n", "pandas": {"sep": ",", "thousands": "2"}}
    violation = corpus.violation_of("tables", case)
    assert violation is not None
    assert violation.signature == ("values differ from pandas", "thousands")
