"""Answers and messages stay the same: small tables give the records in tests/golden (benchmarks/golden.py).

After an intended change, write the records again and look at the difference:

    PYTHONPATH=src python benchmarks/golden.py write tests/golden --only NAME
"""

import json
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from golden import differences  # noqa: E402
from golden_tables import JOBS  # noqa: E402

# Take half a second or more each.
SLOW = {"demo", "file-csv", "file-select", "file-compare", "numbers-20"}
# Sums in another order, as other processors have them, change the last digits.
TOLERANCE = 1e-8


def _tolerance(golden):
    """Return the tolerance for a record: descents end near a minimum, where further digits depend on the processor."""
    document = golden.get("document")
    return 1e-5 if isinstance(document, dict) and document.get("stationarity") else TOLERANCE


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in JOBS])
def test_answers_stay_the_same(name):
    golden = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    found = list(differences(golden, json.loads(json.dumps(JOBS[name]())), tolerance=_tolerance(golden)))
    assert not found, "\n".join([f"{name} differs from tests/golden:", *found])


def test_every_record_has_a_table():
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(JOBS)


def test_differences_are_named():
    old = {"edges": [{"source": "a", "target": "b", "weight": 1.0}, {"source": "b", "target": "c", "weight": 2.0}]}
    new = {"edges": [{"source": "a", "target": "b", "weight": 1.1}, {"source": "c", "target": "b", "weight": 2.0}]}
    assert list(differences(old, new)) == [
        "edges: a -> b.weight: 1.0 -> 1.1",
        "edges: b -> c removed",
        "edges: c -> b added",
    ]
    close = {"weight": 1.0, "text": "One. Two.", "flag": True, "none": None}
    assert not list(differences(close, close | {"weight": 1 + 1e-12}))
    assert list(differences(close, close | {"text": "One. Three.", "flag": 1, "none": 0.0, "more": []})) == [
        "text:",
        "  @@ -2 +2 @@",
        "  -Two.",
        "  +Three.",
        "flag: true -> 1",
        "none: null -> 0.0",
        "more: added",
    ]
