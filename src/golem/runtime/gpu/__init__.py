"""Code for GPUs: CUDA graphs, half-precision products, and the faster matrix functions built on them.

The same code runs on CPU tensors, where the tests check it.
"""
