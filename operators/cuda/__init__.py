"""Phases of the operators as text for the cuda backend."""
