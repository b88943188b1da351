"""Phases of Advance as text for the cpu backend: one file for each balance, and pull."""

from frontier.operators.advance.cpu.balance import push
from frontier.operators.advance.cpu.pull import lower as pull
from frontier.operators.advance.cpu.thread import far_ends
from frontier.operators.advance.cpu.thread import lower as part

__all__ = ["far_ends", "part", "pull", "push"]
