"""How the tasks of experiments run: the store of their rows, claims of tasks, child processes and clusters.

Nothing here depends on what an experiment measures.
"""
