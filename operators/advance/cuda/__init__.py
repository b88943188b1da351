"""Phases of Advance as text for the cuda backend: one file for each balance, and pull."""
