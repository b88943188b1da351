"""Functors: what they are, what they may use, and what they take from outside."""
