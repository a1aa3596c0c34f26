"""Directions that the equivalence class leaves open: whether anything decides them, and other members."""
