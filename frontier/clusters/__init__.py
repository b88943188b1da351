"""Ranks on the workers of a cluster of Dask or Ray, as one handle of the program that uses them.

::

    the program                      a worker                          beside it
    -----------                      --------                          ---------
    handle: Cluster    -- asks -->   agent: Agent     -- pipes -->     rank: Rank
      workers: on_dask, on_ray         keeps the process                 keeps graphs and results (keeping)
      remote: graphs and arrays        hands over tables                 reads tables (handed), makes rows (rows)
                                                                         talks to other ranks over sockets

A rank has a process of its own. For it ends the process when it cannot go on, and takes Ctrl-C in its main thread;
and a worker has to answer its scheduler while kernels run.
"""

from __future__ import annotations

from frontier.clusters.handle import Cluster, cluster

__all__ = ["Cluster", "cluster"]
