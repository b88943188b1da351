"""Backends: who executes. One folder each; a graph names the one that holds it."""
