"""Loops with an order, rewritten to loops of other steps."""
