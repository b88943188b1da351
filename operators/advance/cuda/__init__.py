"""Phases of Advance on the GPU: one file for each balance, and pull.

``balance`` chooses among ``thread``, ``merge_path`` and those that are registered; ``edges`` is the code for one edge
that all of them share. ``pull`` goes in the other direction, with ``shrink`` for consecutive pulls.
"""

from frontier.operators.advance.cuda.balance import push
from frontier.operators.advance.cuda.bitmap import BITMAP
from frontier.operators.advance.cuda.cull import CULL
from frontier.operators.advance.cuda.edges import DEDUPS, unique
from frontier.operators.advance.cuda.marks import MARK
from frontier.operators.advance.cuda.pull import lower as pull
from frontier.operators.advance.cuda.thread import far_ends
from frontier.operators.advance.cuda.thread import lower as part

__all__ = ["far_ends", "part", "pull", "push", "unique"]

DEDUPS.update(mark=MARK, cull=CULL, bitmap=BITMAP)
