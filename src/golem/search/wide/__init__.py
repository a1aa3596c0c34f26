"""The search over very many columns: correlations are computed when they are needed, and no array is d x d."""
