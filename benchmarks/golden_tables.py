"""The tables of golden.py: a name, a small table drawn from a seed, and how it is fitted.

Tables are drawn with NumPy alone, so that they stay the same whatever becomes of golem.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import golem
from golden_records import Job, calls, command, commands, csv, memory, process, refused, typed
from golem import Golem, GolemCV, Knowledge, Moments, simulate

NAMES = "abcdefghijklmnopqrstuvwxyz"


def numbers(d: int, n: int = 400, seed: int = 0, *, degree: float = 3.0, draw: str = "normal") -> np.ndarray:
    """Draw a table of a linear model with free noise variances, shape (n, d), its columns in random order."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, (d, d)) * rng.choice([-1, 1], (d, d))
    weights *= np.triu(rng.random((d, d)) < degree / max(d - 1, 1), k=1)
    X = (rng.exponential(size=(n, d)) - 1 if draw == "exponential" else rng.normal(size=(n, d))) * rng.uniform(1, 2, d)
    for j in range(d):
        X[:, j] += X @ weights[:, j]
    return X[:, rng.permutation(d)]


def standardized(X: np.ndarray) -> np.ndarray:
    """Return the columns with mean 0 and variance 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def equal(d: int, n: int = 400, seed: int = 0) -> np.ndarray:
    """Draw a table with equal noise variances."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] += 1.2 * X[:, rng.integers(j)] - 0.8 * X[:, rng.integers(j)]
    return X[:, rng.permutation(d)]


def frame(X: np.ndarray) -> pd.DataFrame:
    """Name the columns a, b, c and so on."""
    return pd.DataFrame(X, columns=list(NAMES[: X.shape[1]]))


def holes(table: pd.DataFrame, share: float = 0.06, seed: int = 1) -> pd.DataFrame:
    """Remove values at random, but not from the first column."""
    gone = np.random.default_rng(seed).random(table.shape) < share
    gone[:, 0] = False
    return table.mask(gone)


def categories(d: int, n: int = 500, seed: int = 0, *, every: int = 2) -> pd.DataFrame:
    """Draw a table in which each `every`-th column is cut into 2 to 4 levels."""
    X = standardized(numbers(d, n, seed))
    table = frame(X)
    for j in range(0, d, every):
        levels = 2 + j % 3
        cuts = np.quantile(X[:, j], np.arange(1, levels) / levels)
        table[NAMES[j]] = np.array(["low", "mid", "high", "top"], dtype=object)[np.searchsorted(cuts, X[:, j])]
    return table


def experiments(d: int = 6, n: int = 600, seed: int = 0, *, hard: bool = True) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Draw a table with a column 'run' of three environments, and the targets of each."""
    rng = np.random.default_rng(seed)
    targets = {"control": [], "on_c": ["c"], "on_e": ["e"]}
    parts = []
    for label, changed in targets.items():
        X = rng.normal(size=(n // 3, d)) * np.linspace(1, 2, d)
        for j in range(1, d):
            cut = NAMES[j] in changed
            effect = 0.9 * X[:, j - 1] + (0.7 * X[:, j - 2] if j > 1 else 0)
            X[:, j] += (2.0 if hard else 2 * effect) if cut else effect
        parts.append(frame(X).assign(run=label))
    return pd.concat(parts, ignore_index=True), targets


def by_run(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return one table per environment."""
    return {str(label): part.drop(columns="run") for label, part in table.groupby("run", sort=False)}


def messy(n: int = 60) -> pd.DataFrame:
    """Return a table with identifiers, dates, constants, a copy, and a linear combination."""
    table = frame(numbers(4, n)).assign(site=np.random.default_rng(0).choice(["u", "v"], n))
    days = pd.date_range("2020-01-01", periods=n).astype(str)
    return table.assign(name=[f"id{k}" for k in range(n)], day=days, one="same", two=7, again=2 * table["a"]).assign(
        total=table["b"] + table["c"]
    )


def runs(folder: Path) -> None:
    """Write a table with an environment column, one file per environment, and the targets."""
    table, targets = experiments()
    table.to_csv(folder / "data.csv", index=False)
    (folder / "runs").mkdir()
    for label, part in by_run(table).items():
        part.to_csv(folder / "runs" / f"{label}.csv", index=False)
    (folder / "targets.json").write_text(json.dumps(targets))
    (folder / "wrong.json").write_text(json.dumps(targets | {"on_e": ["z"], "other": ["a"]}))


def files(folder: Path) -> None:
    """Write the same table as Parquet, .npy, a folder of CSV files and a covariance matrix."""
    table = frame(numbers(6))
    table.to_parquet(folder / "data.parquet")
    np.save(folder / "data.npy", table.to_numpy())
    (folder / "parts").mkdir()
    for k in range(4):
        table[100 * k : 100 * k + 100].to_csv(folder / "parts" / f"part-{k}.csv", index=False)
    table.cov().to_csv(folder / "covariance.csv", index=False)


def earlier(folder: Path) -> None:
    """Write a table and the results of a fit."""
    csv(lambda: CHAIN)(folder)
    typed(folder, "fit", "data.csv", "-o", "before", "--no-diagnose", "--noise", "nv", "--require", "a->b")


def bad_files(folder: Path) -> None:
    """Write files that are no tables."""
    (folder / "ragged.csv").write_text("a,b,c\n1,2,3\n4,5\n6,7,8,9\n")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b,c\n")
    (folder / "twice.csv").write_text("a,a\n" + "1,2\n3,5\n" * 20)
    (folder / "data.parquet").write_bytes(b"no parquet")
    (folder / "text.csv").write_text("a,b\n" + "".join(f"{k},{k * k % 7}\n" for k in range(50)) + "<1,oops\n")


def with_typo(n: int = 60) -> pd.DataFrame:
    """Return a table with text among the numbers of a column."""
    table = frame(numbers(3, n)).assign(dose=[f"{k / 7:.3f}" for k in range(n)])
    table.loc[5, "dose"] = "<0.01"
    return table


def of_labels(kind: str) -> Job:
    """Return a job that fits a table with environments by its label column."""
    table, targets = experiments(hard=kind == "hard")
    return memory(
        lambda: table, lambda: Golem(intervention=kind), environments="run", targets=targets, diagnose=True, bootstrap=5
    )


FIT = ("fit", "data.csv", "-o", "out")
KNOWN = Knowledge.named(forbidden=[("a", "b")], required=[("c", "d")], tiers=[["c", "a"], ["d", "e"]])
CHAIN = frame(numbers(5))
RUNS, TARGETS = experiments()

JOBS: dict[str, Job] = {
    # numbers
    "numbers-5": memory(lambda: numbers(5), diagnose=True),
    "numbers-12": memory(lambda: frame(numbers(12)), diagnose=True, bootstrap=5),
    "numbers-12-standardized": memory(lambda: standardized(numbers(12)), diagnose=True),
    "numbers-12-equal": memory(lambda: equal(12), diagnose=True, bootstrap=5),
    "numbers-12-exponential": memory(lambda: numbers(12, 2000, draw="exponential"), diagnose=True),
    "numbers-20": memory(lambda: numbers(20, seed=2), diagnose=True),
    "numbers-20-nv": memory(lambda: standardized(numbers(20, seed=3)), lambda: Golem("nv"), diagnose=True),
    "numbers-20-ev": memory(lambda: equal(20), lambda: Golem("ev"), diagnose=True, bootstrap=5),
    "numbers-50": memory(lambda: numbers(50, 1000), diagnose=True),
    "numbers-50-standardized": memory(lambda: standardized(numbers(50, 1000, seed=1))),
    "numbers-200": memory(lambda: numbers(200, 500)),
    "numbers-few-rows": memory(lambda: numbers(8, 24), diagnose=True),
    "numbers-fewer-rows-than-columns": memory(lambda: numbers(30, 20), diagnose=True),
    "numbers-constant-offset": memory(lambda: numbers(6) + 1e7),
    "effort-fast": memory(lambda: numbers(25, seed=4), lambda: Golem("nv", effort="fast", random_state=1)),
    "effort-thorough": memory(lambda: numbers(25, seed=4), lambda: Golem("nv", effort="thorough")),
    "penalty-ebic": memory(lambda: numbers(15), lambda: Golem("nv", lambda_sparsity="ebic")),
    "penalty-bic": memory(lambda: numbers(15), lambda: Golem(lambda_sparsity="bic", shape="off")),
    "penalty-number": memory(lambda: numbers(8), lambda: Golem("nv", lambda_sparsity=0.01)),
    "simulated": memory(lambda: simulate.simulate(10, 500, "SF2", "gumbel", random_state=3).data),
    # knowledge and starts
    "knowledge": memory(lambda: frame(numbers(6)), lambda: Golem(knowledge=KNOWN), diagnose=True, bootstrap=5),
    "knowledge-20": memory(
        lambda: numbers(20), lambda: Golem("nv", knowledge=Knowledge.of(20, [(0, 1)], [(2, 3)], [[4, 5], [6, 7]]))
    ),
    "init-order": memory(lambda: numbers(20), lambda: Golem("nv", init=np.arange(20)[::-1])),
    "init-ev": memory(lambda: numbers(20), lambda: Golem("nv", init="ev")),
    # missing values
    "missing-drop": memory(lambda: holes(frame(numbers(6))), lambda: Golem(missing="drop"), diagnose=True),
    "missing-em": memory(lambda: holes(frame(numbers(6))), lambda: Golem(missing="em"), diagnose=True, bootstrap=5),
    "missing-em-20": memory(lambda: holes(frame(numbers(20))), lambda: Golem("nv", missing="em")),
    # categories
    "mixed": memory(lambda: categories(8), diagnose=True, bootstrap=5),
    "mixed-16": memory(lambda: categories(16, seed=5)),
    "mixed-polars": memory(lambda: pl.from_pandas(categories(8)), diagnose=True),
    "mixed-em": memory(lambda: holes(categories(6)), lambda: Golem(missing="em"), diagnose=True, bootstrap=3),
    "mixed-drop": memory(lambda: holes(categories(6)), lambda: Golem(missing="drop")),
    "mixed-knowledge": memory(lambda: categories(6), lambda: Golem(knowledge=KNOWN)),
    "booleans": memory(lambda: categories(6).assign(a=lambda t: t["a"] == "low", b=lambda t: t["b"] > 0)),
    "pandas-categories": memory(lambda: categories(6).assign(c=lambda t: t["c"].astype("category"))),
    "mixed-determined": memory(lambda: categories(6).assign(g=lambda t: t["a"].str.upper()), diagnose=True),
    "bdeu": memory(lambda: categories(6, every=1), diagnose=True, bootstrap=5),
    "bdeu-14": memory(lambda: categories(14, every=1, seed=6), lambda: Golem(score_function="bdeu")),
    "discrete-bic": memory(lambda: categories(6, every=1), lambda: Golem(score_function="discrete-bic")),
    "discrete-mixed": memory(lambda: categories(6, every=1), lambda: Golem(score_function="mixed")),
    # environments
    "environments-soft": of_labels("soft"),
    "environments-hard": of_labels("hard"),
    "environments-tables": memory(lambda: by_run(RUNS), targets=TARGETS),
    "environments-moments": memory(
        lambda: {label: Moments.from_table(part) for label, part in by_run(RUNS).items()}, targets=TARGETS
    ),
    "environments-shared": memory(
        lambda: RUNS, lambda: Golem(intercepts="shared", knowledge=KNOWN), environments="run", targets=TARGETS
    ),
    "environments-16": memory(lambda: experiments(16)[0], environments="run", targets=TARGETS),
    # moments
    "moments": memory(lambda: Moments.from_table(frame(numbers(7))), diagnose=True),
    "covariance": memory(lambda: Moments.from_covariance(np.corrcoef(numbers(7).T), 400)),
    # gradients
    "adam": memory(lambda: numbers(6), lambda: Golem("ev", "adam", max_iter=3000)),
    "adam-paper": memory(lambda: numbers(6), lambda: Golem.paper("nv", max_iter=300)),
    "adam-lr": memory(lambda: numbers(6), lambda: Golem("nv", "adam", max_iter=300, threshold="lr"), diagnose=True),
    "lbfgs": memory(lambda: numbers(6), lambda: Golem("nv", "lbfgs", max_iter=100, threshold=0.2, acyclicity="logdet")),
    "lbfgs-auto": memory(lambda: frame(numbers(6)), lambda: Golem("auto", "lbfgs", max_iter=50, knowledge=KNOWN)),
    # selection
    "select-bic": memory(lambda: numbers(8), lambda: GolemCV(Golem("nv"), "bic", random_state=0, n_jobs=1)),
    "select-cv": memory(lambda: numbers(6), lambda: GolemCV(Golem("nv"), "cv", cv=3, random_state=0, n_jobs=1)),
    "select-mixed": memory(lambda: categories(6), lambda: GolemCV(select="bic", random_state=0, n_jobs=1)),
    # files
    "file-csv": command(csv(lambda: CHAIN), *FIT, "--bootstrap", "5", "--forbid", "a->b", "--seed", "1"),
    "file-mixed": command(csv(lambda: holes(categories(6))), *FIT, "--missing", "em", "--bootstrap", "3"),
    "file-drop-dependent": command(csv(messy), *FIT, "--drop-dependent", "--drop", "name,day"),
    "file-select": command(csv(lambda: CHAIN), *FIT, "--select", "stability", "--noise", "nv"),
    "file-json": command(csv(lambda: CHAIN), *FIT, "--json", "--solver", "lbfgs", "--max-iter", "50"),
    "file-parquet": command(files, "fit", "data.parquet", "-o", "out"),
    "file-npy": command(files, "fit", "data.npy", "-o", "out", "--no-diagnose"),
    "file-folder": command(files, "fit", "parts", "-o", "out"),
    "file-covariance": command(files, "fit", "covariance.csv", "--covariance", "--rows", "400", "-o", "out"),
    "file-environments": command(runs, *FIT, "--environment", "run", "--targets", "targets.json", "--bootstrap", "3"),
    "file-runs": command(runs, "fit", "runs", "--environments", "--targets", "targets.json", "-o", "out"),
    "file-repeat": command(earlier, "fit", "--from", "before/graph.json", "-o", "out"),
    "file-compare": command(csv(lambda: CHAIN), "compare", "data.csv", "--methods", "order,fgs,pc", "-o", "out"),
    "demo": process("demo"),
    # refused
    "refused-text": refused(with_typo),
    "refused-constant": refused(lambda: CHAIN.assign(one=1.0, two=2.0)),
    "refused-copies": refused(lambda: CHAIN.assign(again=3 * CHAIN["b"], more=CHAIN["c"])),
    "refused-combination": refused(lambda: CHAIN.assign(total=CHAIN["a"] + CHAIN["b"] - CHAIN["c"])),
    "refused-one-row": refused(lambda: CHAIN[:1]),
    "refused-two-rows": refused(lambda: CHAIN[:2]),
    "refused-infinite": refused(lambda: CHAIN.assign(b=CHAIN["b"].where(CHAIN.index % 90 > 0, np.inf))),
    "refused-missing": refused(lambda: holes(CHAIN)),
    "refused-missing-mixed": refused(lambda: holes(categories(6))),
    "refused-empty-column": refused(lambda: CHAIN.assign(void=np.nan), ["--missing", "em"], missing="em"),
    "refused-few-complete": refused(lambda: holes(CHAIN, 0.9)[:40], ["--missing", "drop"], missing="drop"),
    "refused-identifiers": refused(lambda: CHAIN[:60].assign(name=[f"id{k}" for k in range(60)])),
    "refused-dates": refused(lambda: CHAIN[:60].assign(day=pd.date_range("2020-01-01", periods=60).astype(str))),
    "refused-everything": refused(messy),
    "refused-everything-holes": refused(lambda: holes(messy()), ["--missing", "drop"], missing="drop"),
    "refused-score": refused(lambda: categories(6), ["--score", "gaussian"], score_function="gaussian"),
    "refused-bdeu-numbers": refused(lambda: CHAIN, ["--score", "bdeu"], score_function="bdeu"),
    "refused-knowledge": refused(
        lambda: CHAIN,
        ["--forbid", "a->z", "--require", "q->b"],
        knowledge=Knowledge.named(forbidden=[("a", "z")], required=[("q", "b")]),
    ),
    "refused-settings": calls(
        unknown=lambda: Golem(lambda_sparse=1),
        set_params=lambda: Golem().set_params(sparseness=1),
        noise=lambda: Golem("equal").fit(CHAIN),
        solver=lambda: Golem(solver="sgd").fit(CHAIN),
        threshold=lambda: Golem(threshold=0.3).fit(CHAIN),
        lambda_dag=lambda: Golem(lambda_dag=5, max_iter=10).fit(CHAIN),
        effort=lambda: Golem("ev", effort="fast").fit(CHAIN),
        effort_adam=lambda: Golem(solver="adam", effort="fast").fit(CHAIN),
        negative=lambda: Golem(lambda_sparsity=-1.0).fit(CHAIN),
        missing=lambda: Golem(missing="impute").fit(CHAIN),
        init=lambda: Golem(init=[0, 0, 1, 2, 3]).fit(CHAIN),
        adam_mixed=lambda: Golem(solver="adam").fit(categories(4)),
        ev_mixed=lambda: Golem("ev").fit(categories(4)),
        shape=lambda: Golem().fit(np.zeros(5)),
        empty=lambda: Golem().fit(np.zeros((0, 3))),
        words=lambda: Golem().fit("data.csv"),
        select=lambda: GolemCV(select="aic").fit(CHAIN),
        bootstrap=lambda: golem.bootstrap(Golem(), CHAIN, 0),
        diagnose=lambda: Golem().diagnose(),
        cycle=lambda: Knowledge.named(required=[("a", "b"), ("b", "a")]),
        knowledge=lambda: Golem(knowledge=Knowledge.of(4, [(0, 1)])).fit(CHAIN),
    ),
    "refused-environments": calls(
        targets=lambda: Golem().fit(RUNS, environments="run", targets={"control": [], "on_c": ["z"], "on_e": ["e"]}),
        labels=lambda: Golem().fit(RUNS, environments="run", targets={"control": [], "other": ["a"]}),
        column=lambda: Golem().fit(RUNS, environments="batch", targets=TARGETS),
        no_targets=lambda: Golem().fit(RUNS, environments="run"),
        only_targets=lambda: Golem().fit(CHAIN, targets=TARGETS),
        length=lambda: Golem().fit(CHAIN, environments=["u", "v"], targets={"u": [], "v": ["a"]}),
        columns=lambda: Golem().fit({"u": CHAIN, "v": CHAIN[["a", "b"]]}, targets={"u": [], "v": ["a"]}),
        few=lambda: Golem().fit(pd.concat([RUNS[:200], RUNS[200:202]]), environments="run", targets=TARGETS),
        ev=lambda: Golem("ev").fit(RUNS, environments="run", targets=TARGETS),
        adam=lambda: Golem(solver="adam").fit(RUNS, environments="run", targets=TARGETS),
        mixed=lambda: Golem().fit(
            RUNS.assign(f=np.where(RUNS["f"] > 0, "u", "v")), environments="run", targets=TARGETS
        ),
        holes=lambda: Golem().fit(holes(RUNS[list("abcdef")]).assign(run=RUNS["run"]), environments="run"),
    ),
    "refused-files": commands(
        bad_files,
        ragged=["fit", "ragged.csv"],
        empty=["fit", "empty.csv"],
        header=["fit", "header.csv"],
        twice=["fit", "twice.csv"],
        parquet=["fit", "data.parquet"],
        text=["fit", "text.csv"],
        absent=["fit", "absent.csv"],
        option=["fit", "text.csv", "--nosie", "ev"],
        value=["fit", "text.csv", "--noise", "equal"],
        setting=["fit", "text.csv", "--threshold", "0.3"],
        columns=["fit", "text.csv", "--columns", "a,z"],
        covariance=["fit", "text.csv", "--covariance"],
        cycle=["fit", "text.csv", "--require", "a->b", "--require", "b->a"],
    ),
    "refused-file-environments": commands(
        runs,
        wrong=[*FIT, "--environment", "run", "--targets", "wrong.json"],
        column=[*FIT, "--environment", "batch", "--targets", "targets.json"],
        absent=[*FIT, "--environment", "run", "--targets", "absent.json"],
        alone=[*FIT, "--targets", "targets.json"],
    ),
}
