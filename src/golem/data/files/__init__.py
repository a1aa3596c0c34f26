"""Tables in files, read in batches of rows: find the files, parse them, and compute moments in one pass."""
