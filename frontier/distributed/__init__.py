"""One program on many GPUs, processes and hosts.

``partition`` says which part owns which vertex and edge, ``transport`` moves arrays between members of a run, ``ranks``
divides the steps of a program among processes, ``devices`` among the GPUs of a process or of a host, whose kernels
reach each other's memory. These two share the host's ``walk`` through a program, and ``merge``, which makes one value
of what several members have changed. ``clusters`` starts ranks on the workers of Dask and Ray.
"""
