"""A sample of rows that represents a large table: blocks of consecutive rows, spread evenly over it.

Blocks, not single rows, so that dependence between neighbouring rows can still be seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCKS, ROWS_PER_BLOCK = 20, 500
MOST_ROWS = BLOCKS * ROWS_PER_BLOCK


def row_sample(n: int) -> NDArray[np.intp]:
    """Return the numbers of the rows of the sample: all of n rows, or `BLOCKS` blocks.

    Examples
    --------
    >>> len(row_sample(300)), len(row_sample(10**6))
    (300, 10000)
    """
    if n <= MOST_ROWS:
        return np.arange(n)
    starts = np.linspace(0, n - ROWS_PER_BLOCK, BLOCKS).astype(np.intp)
    return (starts[:, None] + np.arange(ROWS_PER_BLOCK)).ravel()
