"""What the kernels of both searches know about an edge, as bits."""

ALLOWED, REQUIRED, LIKELY = 1, 2, 4
