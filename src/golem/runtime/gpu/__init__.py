"""Special hardware: CUDA graphs, half-precision products, and the accelerated matrix functions built on them.

The same code runs on CPU tensors, where the tests check it.
"""
