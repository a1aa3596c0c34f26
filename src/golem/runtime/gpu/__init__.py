"""Code for GPUs: CUDA graphs, half-precision products, and the faster matrix functions built on them.

The same code runs on CPU tensors, where the tests check it.
"""

# From this size on, a matrix product on a GPU takes much longer than its start, and LU as long as twelve products.
LARGE = 1024
