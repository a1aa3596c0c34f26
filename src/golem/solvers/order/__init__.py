"""The order solver: minimize likelihood and number of edges by searching over orders of the nodes.

`solver.py` is the entry; every search returns a `FoundGraph`. Equal variances: `equal_variances`, `variance_order`,
`variance_kernels`. Free variances: `free_order`, `exact_order`, `order_search`, `order_kernels`. Choosing between them:
`tied_order`, `noise_choice`.
"""
