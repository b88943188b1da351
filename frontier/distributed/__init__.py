"""One program on many GPUs, processes and hosts.

``partition`` says which part owns which vertex and edge, ``transport`` moves arrays between members of a run, ``ranks``
divides the steps of a program among processes, threads or GPUs of a process, ``devices`` inside the kernels of GPUs
that reach each other's memory. ``merge`` makes one value of what several members have changed. ``clusters`` starts
ranks on the workers of Dask and Ray.
"""
