"""How experiments run: tasks, the store of their rows, claims on tasks, child processes and clusters.

Nothing here knows what an experiment measures.
"""
