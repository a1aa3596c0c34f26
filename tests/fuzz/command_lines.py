"""Options of the command line in random combinations, valid or not."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.documents import TABLE, original
from fuzz.rules import RefusedError, ViolationError, command
from golem.graphs.formats import FORMATS
from methods_here import methods_here

NUMBERS = ["0", "1", "2", "-1", "0.1", "1e-9", "1e400", "nan", "inf", "", "x", "99999999999999999999", "0x10", "1,5"]
WORDS = [
    "",
    "auto",
    "ev",
    "nv",
    "bic",
    "cv",
    "order",
    "lbfgs",
    "a",
    "d",
    "a,b",
    "a,,b",
    "zz",
    '"',
    "\x1b[2J",
    "ü",
    "-",
    "*",
]
EDGES = ["a->b", "b->a", "a->a", "a->zz", "->", "a", "", "a->b->c", '"a"->"b"', "\x1b[2J->a"]
FILES = [
    "{table}",
    "{other}",
    "{folder}/missing.csv",
    "{empty}",
    "{folder}/*.csv",
    "{graph}",
    "{document}",
    "{categories}",
    "{experiments}",
    "{targets}",
    "{covariance}",
    "{binary}",
    "",
    "\x1b[2J",
]
UNREADABLE = ("{folder}/missing.csv", "{empty}", "{binary}", "")
# Names for results that cannot be used: none, and a link to itself.
NO_OUTPUT = ["", "{folder}/out/loop", "{folder}/out/loop/file.csv"]
# Large numbers are not tried where a valid answer would take hours.
SMALL = ["0", "1", "2", "-1", "x", "", "1.5", "nan"]
ROWS = [*SMALL, "123456789012345678901234567890"]
SCORES = ["auto", "gaussian", "mixed", "bdeu", "discrete-bic", "x"]
OPTIONS: dict[str, dict[str, list[str] | None]] = {
    "fit": {
        **{"--noise": ["auto", "nv", "ev", *WORDS], "--solver": ["order", "order", "lbfgs", "x"]},
        **{"--lambda-sparsity": NUMBERS + WORDS, "--lambda-dag": NUMBERS, "--threshold": [*NUMBERS, "lr"]},
        **{"--select": ["bic", "cv", "stability", "x"], "--effort": ["fast", "thorough", "x"], "--max-iter": SMALL},
        **{"--time-limit": ["1", "5", "-1", "nan", "x"], "--device": ["cpu", "auto", "cuda", "x", ""]},
        **{"--certificate": None, "--forbid": EDGES, "--require": EDGES, "--knowledge": FILES},
        **{
            "--missing": ["error", "drop", "em", "x"],
            "--na": [*NUMBERS, "NA", ".", "a=1", "zz=1"],
            "--no-diagnose": None,
        },
        **{"--bootstrap": SMALL, "--columns": WORDS, "--drop": WORDS, "--header": None, "--no-header": None},
        **{"--drop-dependent": None, "--covariance": None, "--rows": ROWS, "--scatter": None},
        **{"--categorical": WORDS, "--numeric": WORDS, "--score": SCORES, "--shape": ["auto", "off", "x"]},
        **{"--environment": ["a", "d", "zz", ""], "--environments": None, "--targets": ["{targets}", *FILES]},
        **{"--intervention": ["soft", "hard", "x"], "--intercepts": ["separate", "shared", "x"]},
        **{"--environment d --targets {targets}": None, "--from": FILES, "--checkpoint": ["{folder}/c.npz", ""]},
        **{"--seed": NUMBERS, "--quiet": None, "--json": None, "--unknown": None},
        **{"--lags": ["1", "2", "auto", "999", *SMALL], "--lags 1": None, "--time": WORDS, "--unit": WORDS},
        **{"--tiers": ["a; b; c", "a,b; *", "*; *", ";", *WORDS], "--exogenous": WORDS, "--outcome": WORDS},
        **{"--log": WORDS, "--robust": ["ranks", "off", "x"], "--evidence": ["fast", "x"], "--strict": None},
    },
    "simulate": {
        **{"--graph": ["ER", "SF", "ER2", "SF4", "ER0", "ER-1", "ERx", "", "er1", "\x1b[2J"], "--degree": SMALL},
        **{"--d": ["1", "2", "5", "0", "-1", "x"], "--n": ["2", "10", "1", "x", "-1"], "--seed": NUMBERS},
        **{"--noise": ["gaussian-ev", "gaussian-nv", "exponential", "gumbel", "x"], "--weight-scale": NUMBERS},
        **{"--standardize": None, "--quiet": None, "--noise-std": ["1 2", "2 1", "0 1", "x 1", "nan inf"]},
        **{
            "--categories": ["threshold", "logistic", "discrete", "x"],
            "--levels": ["2 3", "3 2", "1 2", "2 99", "x 2"],
        },
        **{"--interventions": ["hard", "soft", "x"], "--target-count": SMALL},
    },
    "score": {"--cpdag": None, "--normalize": None, "--nodes": [*SMALL, "10"], "--json": None},
    "score --data": {
        **{
            "--data": FILES,
            "--plot": ["{folder}/here/p.png", "{folder}/no/p.png", ""],
            "--json": None,
        },
        **{"--missing": ["error", "drop", "em", "x"], "--na": [*NUMBERS, "NA", "a=1"], "--columns": WORDS},
        **{"--drop": WORDS, "--header": None, "--no-header": None, "--covariance": None, "--rows": ROWS},
        **{"--cpdag": None, "--nodes": SMALL},
    },
    "compare": {
        **{"--methods": ["fgs", "order", "pc,fgs", "sort-regress-var", "direct-lingam", "lingam", "x", "", ","]},
        **{"--time-limit": ["1", "-1", "nan", "x"], "--forbid": EDGES, "--require": EDGES, "--knowledge": FILES},
        **{"--truth": FILES, "--missing": ["error", "drop", "em", "x"], "--na": [*NUMBERS, "NA", "a=1"]},
        **{"--columns": WORDS, "--drop": WORDS, "--drop-dependent": None, "--header": None, "--no-header": None},
        **{"--covariance": None, "--rows": ROWS, "--categorical": WORDS, "--quiet": None, "--json": None},
        **{"--numeric": WORDS, "--environment": ["a", "d", "zz", ""], "--targets": ["{targets}", *FILES]},
        **{"--environment d --targets {targets}": None},
    },
    # It runs nothing, so it is quick, and it needs a table that is not there.
    "experiment --plot": {
        **{"--quick": None, "--seeds": SMALL, "--sizes": [*SMALL, "5,10", "5,x"], "--methods": WORDS, "--list": None},
        **{"--workers": SMALL, "--time-limit": NUMBERS, "--executor": ["local", "dask", "x"], "--retry": None},
        **{"--scheduler": WORDS, "--device": ["cpu", "cuda", "x", ""], "--batch": SMALL, "--quiet": None},
    },
    "export": {
        "--to": [*FORMATS, "x"],
        "--cpdag": None,
        "--spreadsheet": None,
    },
    "report": {"--truth": FILES, "--compare": FILES, "--title": WORDS, "--quiet": None},
}
READERS = [f"golem {name}" for name in OPTIONS]
ARGUMENTS = {"fit": 1, "simulate": 0, "score": 2, "score --data": 1, "compare": 1, "experiment --plot": 1}
ARGUMENTS |= {"export": 1, "report": 1}
_TABLES = ["{table}", "{table}", "{categories}", "{experiments}"]
USUAL = {"fit": _TABLES, "compare": _TABLES, "report": ["{document}"], "experiment --plot": ["identifiable"]}
PROMISED = {
    "fit": ["graph.json", "edges.csv", "weights.csv", "graph.png", "report.html"],
    "simulate": ["data.csv", "truth.csv"],
    "export": [],
    "report": ["report.html"],
    "score": [],
    "compare": ["comparison.csv", "agreement.csv", "distances.csv", "comparison.png", "report.html"],
    "experiment": [],
}


@st.composite
def cases(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw the arguments and a few of the options of a command."""
    name = reader.removeprefix("golem ")
    usual = USUAL.get(name, ["{graph}"])
    files = [draw(st.sampled_from(usual if draw(st.integers(0, 2)) else FILES)) for _ in range(ARGUMENTS[name])]
    first, *typed = name.split()
    typed += {"score --data": ["{table}"], "compare": ["--methods", "fgs"]}.get(name, [])
    for option in draw(st.lists(st.sampled_from(list(OPTIONS[name])), max_size=4)):
        values = OPTIONS[name][option]
        typed += option.split() if values is None else [option, *_parts(option, draw(st.sampled_from(values)))]
    output = {"output": draw(st.sampled_from(NO_OUTPUT))} if draw(st.integers(0, 9)) == 0 else {}
    return {"reader": reader, "arguments": [first, *files, *typed], **output}


def _parts(option: str, value: str) -> list[str]:
    """Return the values of an option; a range has two."""
    return value.split() if option in ("--levels", "--noise-std") else [value]


def check(case: dict[str, Any]) -> None:
    """Run the command; it writes all that it promises, or nothing."""
    name = case["arguments"][0]
    with tempfile.TemporaryDirectory() as folder:
        places = _files(Path(folder))
        typed = [part.format(**places) if "{" in part else part for part in case["arguments"]]
        out = Path(folder, "out")
        out.mkdir()
        (out / "loop").symlink_to(out / "loop")
        if name != "score" and "output" in case:
            typed += ["-o", case["output"].format(**places)]
        elif name != "score":
            typed += ["-o", str(out / {"report": "report.html", "export": "graph.json"}.get(name, ""))]
        here = Path(folder, "here")
        here.mkdir()
        (here / "table.csv").write_text(TABLE)  # an empty name must not find it
        before = Path.cwd()
        os.chdir(here)
        try:
            with methods_here():
                result = command(*typed)
        finally:
            os.chdir(before)
        written = {path.name for path in out.rglob("*") if path.is_file()}
    # A comparison in which every method failed is saved with the reasons.
    if result.exit_code and written and "Every method failed" not in result.stderr:
        raise ViolationError("a command that failed left files behind", name, ", ".join(sorted(written)))
    if result.exit_code:
        raise RefusedError(result.stderr)
    if "--list" in case["arguments"]:  # writes nothing
        return
    # A file replaces the link.
    is_file = name in ("report", "export") and case.get("output", "").endswith("loop")
    written |= set(PROMISED[name]) if is_file and "loop" in written else set()
    if "output" in case and name != "score" and not is_file:
        raise ViolationError("results were written to a place that does not exist", name)
    files = case["arguments"][1 : 1 + ARGUMENTS.get(name, 0)]  # an experiment has none
    if any(file in UNREADABLE for file in files):
        raise ViolationError("a file that cannot be read was accepted", name)
    # A table with categories has coefficients instead of weights.
    written = {"weights.csv" if file == "coefficients.csv" else file for file in written}
    if missing := set(PROMISED[name]) - written:
        raise ViolationError("a command that succeeded did not write its files", name, ", ".join(sorted(missing)))


def _files(folder: Path) -> dict[str, str]:
    """Write the files that arguments can name."""
    graph = "source,target,weight\na,b,1.5\nb,c,-0.5\n"
    contents = {"table": TABLE, "other": "a,b\n1,x\n2,\n", "empty": "", "graph": graph, "binary": "\0\x01"}
    contents["document"] = original()
    contents["covariance"] = "a,b,c\n1,0.5,0.2\n0.5,1,0.1\n0.2,0.1,1\n"
    contents["targets"] = '{"control": [], "drug": ["a"]}'
    lines = TABLE.splitlines()
    for name, texts in {"categories": ("x", "y", "z"), "experiments": ("control", "drug")}.items():
        cells = ["d", *(texts[k % len(texts)] for k in range(len(lines) - 1))]
        contents[name] = "\n".join(f"{line},{cell}" for line, cell in zip(lines, cells, strict=True))
    for name, content in contents.items():
        (folder / f"{name}.csv").write_text(content)
    return {name: str(folder / f"{name}.csv") for name in contents} | {"folder": str(folder)}
