"""Special hardware: CUDA graphs, half-precision products, and the faster matrix functions built on them.

The same code runs on CPU tensors, where the tests check it.
"""

# From this size on, a matrix product on a GPU takes far longer than to start it, and LU takes as long as a dozen.
LARGE = 1024
