"""Make fgs_pc.npz: what causal-learn's GES and PC answer on small random problems.

    python -m venv .other-packages/causal-learn && .other-packages/causal-learn/bin/pip install causal-learn==0.1.4.8
    PYTHONPATH=src .other-packages/causal-learn/bin/python tests/oracles/make_fgs_pc.py

causal-learn's local BIC is -n/2 (1 + log r) - lambda (k + 1) log n, higher is better: -2 times it is ours with
discount = 2 lambda. Its graphs have graph[j, i] = 1 and graph[i, j] = -1 for i -> j, both -1 for i - j, both 1 for an
edge that two colliders claim; here `marks[i, j]` is True where the edge has an arrowhead or line from i to j.

Problems have at most 10 variables; smaller ones stand in the upper left corner of the arrays.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from causallearn.search.ConstraintBased.PC import pc
from causallearn.search.ScoreBased.GES import ges
from causallearn.utils.cit import CIT, fisherz
from causallearn.utils.PCUtils import Meek, SkeletonDiscovery, UCSepset

from golem.simulate import simulate

HERE = Path(__file__).parent
LARGEST = 10
ALPHA = 0.01
# Model, nodes, rows and lambda go round at different speeds, so that many combinations occur.
MODELS = ("ER1", "ER2", "ER3", "SF2")
ROWS = (200, 1000, 5000)
LAMBDAS = (0.5, 1.0)
PROBLEMS = 120


def directions(graph: np.ndarray) -> np.ndarray:
    """Read causal-learn's end marks: [i, j] alone is i -> j, with [j, i] it is i - j or i <-> j."""
    adjacent = graph != 0
    arrow = (graph == -1) & (graph.T == 1)  # [i, j]: a tail at i and a head at j
    return adjacent & ~arrow.T


def triples(listed: list[tuple[int, int, int]]) -> np.ndarray:
    """Mark unshielded triples (end, middle, end) in a (d, d, d) array, both ways round."""
    marked = np.zeros((LARGEST,) * 3, dtype=bool)
    for x, y, z in listed:
        marked[x, y, z] = marked[z, y, x] = True
    return marked


def corner(matrix: np.ndarray) -> np.ndarray:
    """Put a small matrix into the upper left corner of one of full size."""
    full = np.zeros((LARGEST, LARGEST), dtype=matrix.dtype)
    full[: len(matrix), : len(matrix)] = matrix
    return full


def solve(k: int) -> dict[str, Any]:
    """Draw one problem and ask causal-learn."""
    d, n = 4 + k % 7, ROWS[k % 3]
    weight = LAMBDAS[k // 3 % 2]
    drawn = simulate(d, n, MODELS[k % 4], "gaussian-nv", standardize=k % 5 == 0, random_state=1000 + k)
    X = drawn.data
    covariance = np.cov(X.T, ddof=0)
    searched = ges(score_func="local_score_BIC_from_cov", cov=covariance, n=n, lambda_value=weight)
    plain = pc(X, ALPHA, fisherz, stable=True, uc_rule=0, uc_priority=1, show_progress=False)
    # uc_rule = 2 in steps: pc() ends with Meek's rules as if ambiguous triples were no colliders.
    skeleton = SkeletonDiscovery.skeleton_discovery(X, ALPHA, CIT(X, fisherz), stable=True, show_progress=False)
    decided = UCSepset.definite_maxp(skeleton, ALPHA, priority=2)
    careful = Meek.definite_meek(decided)
    return {
        "d": d,
        "n": n,
        "discount": 2 * weight,
        "covariance": corner(covariance),
        "truth": corner(drawn.sem.adjacency),
        "ges": corner(directions(searched["G"].graph)),
        "ges_score": -2 * searched["score"],
        "pc": corner(directions(plain.G.graph)),
        "conservative": corner(directions(careful.G.graph)),
        "colliders": triples(decided.definite_UC),
        "no_colliders": triples(decided.definite_non_UC),
    }


def main() -> None:
    """Write the file next to this script."""
    solved = [solve(k) for k in range(PROBLEMS)]
    arrays = {name: np.array([one[name] for one in solved]) for name in solved[0]}
    versions = f"causal-learn {version('causal-learn')}, numpy {np.__version__}, python {sys.version.split()[0]}"
    np.savez_compressed(HERE / "fgs_pc.npz", allow_pickle=False, made_with=np.array(versions), **arrays)


if __name__ == "__main__":
    main()
