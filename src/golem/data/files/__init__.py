"""Tables in files, read in pieces: what the files hold, their rows in batches, and one pass to moments."""
