"""Make notears.npz: what gcastle's NOTEARS answers on small random problems.

    python -m venv .other-packages/gcastle
    .other-packages/gcastle/bin/pip install gcastle==1.0.4 torch scikit-learn narwhals
    PYTHONPATH=src .other-packages/gcastle/bin/python tests/oracles/make_notears.py

gcastle has h = tr((I + B*B/d)^d) - d where ours is tr exp(B*B) - d; both vanish on acyclic weights alone, and to the
same tolerance 1e-8 the same problem is solved. The weights are those before the threshold, W[i, j] for i -> j.

Problems have at most 10 variables; smaller ones stand in the upper left corner of the arrays.
"""

from __future__ import annotations

import logging
from importlib.metadata import version
from pathlib import Path

import numpy as np

logging.disable(logging.CRITICAL)

from castle.algorithms import Notears  # noqa: E402

from golem.simulate import simulate  # noqa: E402

HERE = Path(__file__).parent
LARGEST = 10
ROWS = 1000
PROBLEMS = 16


def main() -> None:
    """Draw the problems, ask gcastle, and save covariances and answers."""
    sizes, penalties, covariances, weights = [], [], [], []
    for seed in range(PROBLEMS):
        d = 4 + seed % (LARGEST - 3)
        l1 = 0.1 * (seed % 2)
        X = simulate(d, ROWS, "ER1" if seed % 4 < 2 else "ER2", "gaussian-ev", random_state=seed).data
        model = Notears(lambda1=l1)
        model.learn(X)
        sizes.append(d)
        penalties.append(l1)
        covariances.append(np.pad(np.cov(X.T, bias=True), (0, LARGEST - d)))
        weights.append(np.pad(np.asarray(model.weight_causal_matrix), (0, LARGEST - d)))
    np.savez_compressed(
        HERE / "notears.npz",
        d=np.array(sizes),
        l1=np.array(penalties),
        n=np.array(ROWS),
        covariance=np.array(covariances),
        weights=np.array(weights),
        made_with=np.array(f"gcastle {version('gcastle')}"),
    )


if __name__ == "__main__":
    main()
