"""The graph: its arrays, how it is built and converted, and what follows from it."""
