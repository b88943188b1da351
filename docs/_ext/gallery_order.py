"""The order of the gallery's pages."""

from __future__ import annotations

#: As a reader meets the subjects, not as files are named.
PAGES = [
    "search_waves", "travel_times", "betweenness", "percolation", "communities", "cores", "maze", "random_walks",
    "minimum_cut", "epidemic", "layouts", "degrees", "frontier_sizes", "schedule",
]  # fmt: skip


class Order:
    """Key by which sphinx-gallery sorts the files of its folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> int:
        """The place of ``plot_NAME.py`` in the list; a name that is missing there is an error."""
        return PAGES.index(file.removeprefix("plot_").removesuffix(".py"))
