"""Names for the arrays in signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The array API defines no type; an Array is anything that `golem.runtime.arrays.namespace` accepts.
Array = Any
Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
BoolMatrix = NDArray[np.bool_]
BoolVector = NDArray[np.bool_]
Indices = NDArray[np.intp]
