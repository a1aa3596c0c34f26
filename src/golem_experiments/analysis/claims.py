"""How a table decides claims: the same procedure for all experiments.

An experiment has a dictionary from the text of each claim to its `Judge`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from golem.runtime.messages import counted
from golem_experiments.analysis.inference import MIN_SEEDS, Mean, all_hold, is_lower, within
from golem_experiments.analysis.tables import (
    average,
    cell_columns,
    contrast,
    distinct,
    done,
    label,
    not_completed,
    paired,
    where,
)
from golem_experiments.experiment import Table, Verdict

# What was measured, whether it agrees with the claim (None: undecided), and why if that is not a matter of intervals.
Finding = tuple[str, bool | None] | tuple[str, bool | None, str]
# Most findings that the reason of a verdict quotes.
_MOST_QUOTED = 2
# Longer lists are abbreviated.
_MOST_VALUES = 7
# Columns that describe the data, in this order.
_COLUMNS = ("graph", "network", "preparation", "statement", "noise", "d", "nodes", "n", "weight_scale")


@dataclass(frozen=True)
class Judge:
    """Decides a claim, which holds if all findings agree with it. One finding that contradicts the claim refutes it.

    Parameters
    ----------
    findings : callable
        Takes the selected rows and yields findings.
    methods : tuple of str
        Methods that the claim is about. If one of them was not run, the claim is undecided and `findings` not called.
    title : str
        What the numbers are.
    criterion : str
        Which numbers count as low, close and so on.
    select : callable, optional
        Takes the table and returns the rows that the claim is about; by default all.
    partial : bool
        Judge the methods that were run even if others were not. The claim can then be refuted, but does not hold.
    paper : str
        What the paper reports, with the numbers of its text.
    """

    findings: Callable[[Table], Iterable[Finding]]
    methods: tuple[str, ...] = ()
    title: str = ""
    criterion: str = ""
    select: Callable[[Table], Table] | None = None
    partial: bool = False
    paper: str = ""

    def verdict(self, claim: str, table: Table) -> Verdict:
        """Judge a claim."""
        rows = table if self.select is None else self.select(table)
        absent = [name for name in self.methods if name not in distinct(rows, "method")]
        not_run = f"Not run: {', '.join(absent)}" if absent else ""
        findings = list(self.findings(rows)) if rows and (self.partial or not absent) else []
        if not findings:
            return Verdict(claim, not_run or "Not run", None, why="It needs runs that are missing.")
        numbers = "; ".join(text for text, *_ in findings)
        criterion = f"Criterion: {self.criterion}" if self.criterion else ""
        ended = not_completed(table, self.methods)
        missing = f"Runs that were not completed: {ended}" if ended else ""
        parts = (f"{self.title}: {numbers}" if self.title else numbers, criterion, not_run, missing)
        holds = all_hold([outcome for _, outcome, *_ in findings] + [None for _ in absent])
        used = where(rows, method=self.methods) if self.methods else rows
        paper = f"The paper: {self.paper}" if self.paper else ""
        details = (f"Run: {what_was_run(used)}", _listed(self.title, findings), criterion, not_run, missing, paper)
        why = _reason(findings, holds, not_run, seeds_per_cell(used))
        return Verdict(claim, ". ".join(filter(None, parts)), holds, why=why, details=tuple(filter(None, details)))


def _listed(title: str, findings: list[Finding]) -> str:
    """Write findings, each on a line of its own with what it says about the claim if there are several."""
    if len(findings) == 1:
        return f"{title}: {findings[0][0]}" if title else findings[0][0]
    marks = {True: "agrees", False: "contradicts", None: "undecided"}
    lines = [f"  - {text} ({marks[outcome]})" for text, outcome, *_ in findings]
    return "\n".join([f"{title or 'Numbers'}:", *lines])


def _reason(findings: list[Finding], holds: bool | None, not_run: str, seeds: tuple[int, int]) -> str:
    """Return why a claim holds, does not hold or is undecided."""
    outcomes = [outcome for _, outcome, *_ in findings]
    against, unclear, count = outcomes.count(False), outcomes.count(None), len(outcomes)
    stated = [one[2] for one in findings if len(one) > 2 and one[1] is holds]
    if holds is not None:
        one, some = ("agrees with", "agree with") if holds else ("contradicts", "contradict")
        decisive = count if holds else against
        text = (
            f"The numbers {some}"
            if count == 1
            else f"{decisive} of {count} comparisons {one if decisive == 1 else some}"
        )
        quoted = "" if holds or count == 1 else _quoted([finding[0] for finding in findings if finding[1] is False])
        return " ".join([f"{text} it{quoted}.", *stated])
    parts = [f"{not_run}."] if not_run else []
    # Other findings state their own reason.
    unclear, count = unclear - len(stated), count - len(stated)
    if unclear:
        text = (
            "The comparison is" if count == 1 else f"{unclear} of {count} comparisons {'is' if unclear == 1 else 'are'}"
        )
        parts.append(f"{text} open: {_too_little(*seeds)}.")
    return " ".join(parts + stated)


def _too_little(fewest: int, most: int) -> str:
    """Return why numbers decide nothing, given the numbers of seeds of a method in a cell; few have no interval."""
    if most < MIN_SEEDS:
        return f"there {'is' if most == 1 else 'are'} only {counted(most, 'seed')}"
    few = f", or there are fewer than {MIN_SEEDS} seeds" if fewest < MIN_SEEDS else ""
    return f"the 95% interval contains both outcomes{few}"


def _quoted(texts: list[str]) -> str:
    """Write the numbers that refute a claim of several comparisons, so that a reader need not search for them."""
    intro = ", for example: " if len(texts) > _MOST_QUOTED else ": "
    return intro + "; ".join(texts[:_MOST_QUOTED])


def judge(*methods: str, **options: Any) -> Callable[[Callable[[Table], Iterable[Finding]]], Judge]:
    """Return a decorator that makes a judge of a function; see `Judge` for the options."""
    return lambda findings: Judge(findings, methods, **options)


def verdicts(claims: Mapping[str, Judge]) -> Callable[[Table], list[Verdict]]:
    """Return the function that judges claims on a table."""
    return lambda table: [one.verdict(claim, table) for claim, one in claims.items()]


def finished(**values: Any) -> Callable[[Table], Table]:
    """Return a selection of the rows with these values whose task was completed."""
    return lambda table: where(done(table), **values)


def below(difference: Mean, margin: float) -> bool | None:
    """Return whether a difference is below zero, by the margin or more; None if the interval does not decide it."""
    return within(difference, float("-inf"), -margin) if margin else is_lower(difference)


def lower(metric: str, *pairs: tuple[str, str], margin: float = 0.0, **options: Any) -> Judge:
    """Return the judge of claims that the first method of each pair has the lower metric, by a margin or more.

    With a negative margin the first method may have a metric that is higher by that much.
    """

    def findings(table: Table) -> Iterable[Finding]:
        run = distinct(table, "method")
        for first, second in pairs:
            if first in run and second in run:
                found = paired(table, metric, first, second)
                yield f"{first} - {second}: {found.signed()}", below(found, margin)

    methods = tuple(dict.fromkeys(name for pair in pairs for name in pair))
    criterion = f"lower by {margin:g} or more" if margin > 0 else f"at most {-margin:g}" if margin else ""
    return Judge(findings, methods, label(metric), criterion, partial=True, **options)


def closer_with_rows(method: str, **options: Any) -> Judge:
    """Return the judge of claims that the SHD-C of a method on each network is lower with the most rows."""

    def findings(table: Table) -> Iterable[Finding]:
        sizes = distinct(table, "n")
        for network in distinct(table, "network") if len(sizes) > 1 else ():
            rows = where(table, network=network, method=method)
            gain = contrast(rows, "shd_c", {"n": sizes[-1]}, {"n": sizes[0]}, ("network",))
            text = ", ".join(f"n = {n}: {average(rows, 'shd_c', n=n)}" for n in sizes)
            yield f"{network} {text}", is_lower(gain)

    return Judge(findings, (method,), label("shd_c"), **options)


def what_was_run(table: Table) -> str:
    """Describe the runs of a table."""
    parts = [_values(name, distinct(table, name)) for name in _COLUMNS if distinct(table, name)]
    low, high = seeds_per_cell(table)
    parts.append(counted(high, "seed") if low == high else f"{low} to {high} seeds")
    missing = len(table) - len(done(table))
    parts.append(counted(len(table), "run") + (f", {missing} not completed" if missing else ""))
    devices = Counter(str(row["hardware"]).partition(";")[0] for row in table if row.get("device") == "cuda")
    parts += [f"{counted(count, 'run')} on {name}" for name, count in devices.items()]
    return "; ".join(parts)


def seeds_per_cell(table: Table) -> tuple[int, int]:
    """Return the smallest and the largest number of seeds that a method has completed in a cell."""
    seeds: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for row in done(table):
        seeds[row["method"], *(row[name] for name in cell_columns(row))].add(row["seed"])
    counts = [len(some) for some in seeds.values()] or [0]
    return min(counts), max(counts)


def _values(name: str, values: list[Any]) -> str:
    """Write the values of a column, or their number and range if there are many."""
    if len(values) <= _MOST_VALUES:
        return f"{name} = {', '.join(map(str, values))}"
    if isinstance(values[0], str):
        return f"{len(values)} values of {name}"
    return f"{name} = {values[0]} to {values[-1]} ({len(values)} values)"
