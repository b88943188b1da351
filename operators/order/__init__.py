"""Loops with an order, made of other steps."""
