"""Random and damaged inputs against one rule: the right answer, or one sentence.

Each module about one kind of input has `READERS`, the names of what reads it; `cases`, which returns a strategy of JSON
objects for a reader; and `check`, which raises an error if the rule does not hold for a case. `test_fuzz.py` runs a few
seeded cases and all files in corpus/; `make fuzz` runs new ones for as long as it is told.
"""
