"""Orders with equal noise variances: a pivoted Cholesky factorization, and the parents in its order."""
