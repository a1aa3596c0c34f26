"""From rows to results: tables, means over seeds, verdicts on claims, figures, and the files of a run.

Everything here is a function of the table of an experiment. Nothing here runs a method.
"""
