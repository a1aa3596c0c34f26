"""How the tasks of experiments run: the store of their rows, leases of tasks, child processes and clusters.

Nothing here depends on what an experiment measures.
"""
