"""Where arrays lie: placements, the memory of the host and of GPUs, and how much of it there is.

``placement`` says where the arrays of a graph lie and who computes on them. An array is in a ``Memory`` (``base``):
that of the ``host`` or of a ``gpu``, which makes and moves arrays and knows what is free. ``arrays`` are functions
that ask of any array where it is. ``detection`` says which GPUs can be used, ``lost`` which can no more, ``nvidia``
what their driver tells of them. ``limits`` is what the host's memory still has, and ``shortage`` has the errors for
what does not fit.
"""
