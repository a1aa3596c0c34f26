"""The order solver: minimize the likelihood and a penalty per edge by searching over orders of the nodes.

`solver` is the entry point. Every search returns a `FoundGraph`. Equal variances: `equal_variances`, `variance_order`,
`variance_kernels`, `reversal_kernels`, `regression_kernels`. Free variances: `free_order`, `exact_order`,
`order_search`, `candidates`, `chains`, `order_kernels` with its parts `order_move_kernels`, `order_state_kernels`,
`order_parent_kernels`, `order_regression_kernels` and `order_kernel_arrays`. Choosing between them: `tied_order`,
`noise_choice`.

Interventions and categories use a second search that only asks for the cost of a node with given parents:
`local_scores`, `local_search`, `local_chains`, `local_chain`, `local_problem`, `local_kernels` with its parts
`local_parent_kernels`, `local_cost_kernels`, `local_count_kernels` and `local_kernel_arrays`.
`score_choice` chooses the score of categories. Both searches use `chain_run`, `search_clock`, `queue_kernels` and
`shared_kernels`.
"""
