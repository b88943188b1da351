"""``fr.cluster``: ranks on the workers of a Dask or Ray cluster.

::

    client process                   worker process                   rank process
    --------------                   --------------                   ------------
    handle: Cluster     -- calls --> agent: Agent       -- pipes -->  rank: Rank
      dask_workers, ray_workers        starts the rank process,         store: graphs and results kept for the client
      remote: graphs and arrays        passes requests on               edges: partitions of tables, made into graphs
      serializer                                                        rows: partitions of result tables

A rank has a process of its own for two reasons: it handles Ctrl-C in its main thread, and its worker must answer the
scheduler while kernels run. Ranks exchange over sockets (:mod:`frontier.distributed.transport.sockets`).
"""

from __future__ import annotations

from frontier.distributed.clusters.handle import Cluster, cluster

__all__ = ["Cluster", "cluster"]
