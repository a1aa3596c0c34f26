"""The order solver: minimize the likelihood and a penalty per edge by searching over orders of the nodes.

`solver` is the entry point for one table of numbers, `search_order` for any score that is a sum of costs of nodes given
their parents. `order_search` is the driver and `order_kernels` its compiled part; `engines` has the compiled costs, one
engine per type of score. `exact_order` is for few nodes, `equal` for equal noise variances, `free_order` for free ones,
and `tied_order` chooses between equal, tied and free variances. ARCHITECTURE.md tells more.
"""
