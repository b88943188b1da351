"""Phases of the operators on the CPU."""
