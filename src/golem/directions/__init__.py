"""Edge directions that the equivalence class leaves open: evidence for them, and other members of the class."""
