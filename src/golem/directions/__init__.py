"""Directions that the equivalence class leaves open: which member is shown, and what its arrows rest on."""
