"""The paper's method: gradient solvers of the score (Adam, L-BFGS), its recipe, and the rounding of weights."""
