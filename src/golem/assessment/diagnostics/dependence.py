"""Dependent rows: copies of others, rows that depend on those before them, and rows in groups that were shuffled."""

from __future__ import annotations

from golem.assessment.diagnostics.finding import Finding
from golem.assessment.diagnostics.groups import find_groups
from golem.assessment.diagnostics.repetition import find_repetition
from golem.data.dependence import HARMLESS, LEVEL, REMEDY, dependence
from golem.data.moments import Moments
from golem.runtime.types import Matrix


def find_dependent_rows(
    names: tuple[str, ...], numbers: Matrix, rows: Matrix, moments: Moments
) -> tuple[Finding | None, int | None]:
    """Check whether rows are copies of others, depend on the rows before them, or come in groups.

    `numbers` are the numeric columns of the rows, which may be some of those behind the moments. Also return the
    effective number of all rows if it is smaller.
    """
    repeated, left = find_repetition(rows, moments, has_numbers=True)
    dependent, effective = find_dependence(names, numbers, moments)
    if left is None and effective is None and (found := find_groups(names, numbers, moments)) is not None:
        return found
    # Copies in neighbouring rows look dependent as well.
    return (dependent, effective) if repeated.level == "ok" or (left is None and effective) else (repeated, left)


def find_dependence(names: tuple[str, ...], rows: Matrix, moments: Moments) -> tuple[Finding | None, int | None]:
    """Check whether rows depend on the rows before them; also return the effective number of rows if it is smaller.

    The rows may be some of those behind the moments, such as the complete ones; the effective number is for all.
    """
    found = dependence(names, rows)
    if found is None:
        return None, None
    if not found.is_found:
        numbers = f"largest rank autocorrelation {abs(found.lag1):.2f}; portmanteau test: p = {found.p_value:.2g}"
        sentence = f"Neighbouring rows do not depend strongly on each other ({numbers}, not below {LEVEL:.0e})."
        return Finding("dependent-rows", "ok", sentence), None
    effective = max(2, round(found.share * moments.n))
    sentence = found.sentence(len(names), moments.rows, effective)
    if found.share >= HARMLESS:
        return Finding("dependent-rows", "note", sentence, REMEDY), None
    sentence += " Standard errors are therefore too small. Bootstrap intervals are too narrow and frequencies too high."
    return Finding("dependent-rows", "warning", sentence, REMEDY), effective
