"""What the other packages build on: arrays, devices, threads, child processes, files, messages.

This package knows nothing about graphs, data or scores. Only this package imports torch; code for GPUs is in `gpu/`.
"""
