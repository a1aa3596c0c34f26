"""What everything else runs on: arrays of any library, devices, threads, files, messages.

Nothing here knows about graphs, data or scores. Only this package imports torch; what is special about a GPU is in
`gpu/`.
"""
