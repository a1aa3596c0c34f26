"""Measure the directions that experiments give in tables with categories: kind -> dose -> size -> sick.

Claim of docs/interventions.md: of the directions claimed by interventions at most 5 % are wrong, and at most 5 % of the
tables have a claim if the experiments change nothing. `kind` has three levels and `sick` two; effects are 0.2 to 0.8,
noise is normal or Student's t with 4 degrees of freedom, and two of the first three variables are targets, by soft and
hard interventions in turn.

    python benchmarks/mixed_experiments.py --seeds 80
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter

import numpy as np
import pandas as pd

from golem import Golem
from golem.runtime.version import __version__

TRUTH = {("kind", "dose"), ("dose", "size"), ("size", "sick")}
FIRST_SEED = 9000


class Mechanisms:
    """The mechanisms of one table."""

    def __init__(self, rng: np.random.Generator, heavy: bool, intervention: str) -> None:
        self.rng, self.heavy, self.intervention = rng, heavy, intervention
        self.shares = rng.dirichlet([4, 3, 2])
        self.of_kind = rng.uniform(0.2, 0.8, 3) * rng.choice([-1, 1], 3)
        self.weight = rng.uniform(0.2, 0.8)

    def noise(self, n: int) -> np.ndarray:
        """Return n draws of the noise."""
        return self.rng.standard_t(4, size=n) if self.heavy else self.rng.normal(size=n)

    def rows(self, n: int, changed: str | None = None) -> pd.DataFrame:
        """Return n rows, with one mechanism changed."""
        kind = self.rng.choice(3, size=n, p=self.shares[::-1] if changed == "kind" else self.shares)
        dose = self.noise(n) + self.of_kind[kind]
        if changed == "dose":
            dose = 2 * dose if self.intervention == "soft" else 1.5 * self.noise(n) + 1
        own = self.noise(n) * (2 if changed == "size" else 1)
        size = own if changed == "size" and self.intervention == "hard" else self.weight * dose + own
        sick = np.where(self.weight * size + self.rng.logistic(size=n) > 0, "yes", "no")
        return pd.DataFrame({"kind": np.array(list("abc"))[kind], "dose": dose, "size": size, "sick": sick})


def claims(seed: int, n: int, heavy: bool, null: bool) -> Counter[str]:
    """Return how many directions were claimed, by their source, and how many of these are right."""
    rng, intervention = np.random.default_rng(FIRST_SEED + seed), ("soft", "hard")[seed % 2]
    drawn = Mechanisms(rng, heavy, intervention)
    targets = rng.choice(["kind", "dose", "size"], 2, replace=False)
    parts = {"control": drawn.rows(2 * n)} | {name: drawn.rows(n, None if null else name) for name in targets}
    table = pd.concat([part.assign(arm=label) for label, part in parts.items()], ignore_index=True)
    known = {"control": []} | {name: [name] for name in targets}
    model = Golem(intervention=intervention).fit(table, environments="arm", targets=known)
    found: Counter[str] = Counter()
    for edge in model.edges_:
        if edge.direction_from == "interventions":
            found["right" if (edge.source, edge.target) in TRUTH else "wrong"] += 1
    found["tables with a claim"] += bool(found)
    return found


def main() -> None:
    """Print one line per cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=80, help="Tables per cell.")
    parser.add_argument("--quick", action="store_true", help="Ten tables per cell.")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = 10 if options.quick else options.seeds
    print(f"golem {__version__}\n\n| experiments | rows each | noise | right | wrong | tables with a claim |")
    print("|---|---|---|---|---|---|")
    for null in (False, True):
        for n in (150, 600):
            for heavy in (False, True):
                total = sum((claims(seed, n, heavy, null) for seed in range(seeds)), Counter())
                words = "without effect" if null else "with effect", n, "t4" if heavy else "normal"
                cells = total["right"], total["wrong"], f"{total['tables with a claim']} of {seeds}"
                print("| " + " | ".join(map(str, (*words, *cells))) + " |", flush=True)


if __name__ == "__main__":
    main()
