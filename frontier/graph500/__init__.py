"""The Graph500 benchmark: a Kronecker graph, built, searched from 64 roots, every result validated.

- ``run``: the benchmark from the first step to the last: which steps there are, and what is timed
- ``work``: the interface of what goes through the list of edges; ``run`` has that for the host, ``on_gpus`` for GPUs
- ``kernels``: what a GPU does with each edge of a range: make it, or check a result against it
- ``edges``: the list of edge tuples, in memory and in order
- ``others``: what the processes that run the benchmark together tell each other
- ``generator``: makes the list, or any range of it
- ``roots``: the search keys, drawn from the vertices that have a neighbour
- ``validation``: the specification's rules for a BFS or SSSP tree, checked against the list, or a range of it
- ``statistics``: quartiles, means, and the harmonic mean of rates with its deviation
- ``report``: the results in the format of the reference code, and as JSON

What the specification leaves open, and how it is done here, is said in docs/graph500.md. Functions that go through the
edges take a range of them, so that several processes, or GPUs, can share the work.
"""
