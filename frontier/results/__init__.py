"""Results of primitives: mappings and tables in the names of the graph.

``result`` is the class that users hold; ``columns`` is its base, with what a result class says of its columns and what
the methods of a subclass use.
"""

from frontier.results.columns import by_pairs
from frontier.results.result import Result

__all__ = ["Result", "by_pairs"]
