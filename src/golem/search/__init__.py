"""The order solver: minimize the likelihood and a penalty per edge by searching over orders of the nodes.

`solver` is the entry point. `equal` has the searches with equal noise variances, `free` those with free ones, and
`local` those with any other sum of costs over the nodes, for environments and categories. `tied_order` and
`noise_choice` choose between equal, tied and free variances. The other modules serve several searches; `local` also
uses `free.candidates`. ARCHITECTURE.md tells more.
"""
