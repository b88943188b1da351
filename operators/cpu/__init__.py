"""Phases of the operators as text for the cpu backend."""
