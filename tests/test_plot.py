"""Pictures: what is drawn of each kind of result, and by the command line."""

from __future__ import annotations

import numpy as np
import pytest

import frontier as fr
from frontier.cli import main

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

KARATE = fr.karate()


def points(axes):
    (line,) = axes.get_lines()
    return [values.tolist() for values in line.get_data()]


def test_levels_get_bars():
    axes = fr.bfs(fr.from_edges([0, 1, 1], [1, 2, 3], num_vertices=6), 0).plot()
    assert [bar.get_height() for bar in axes.patches] == [1, 1, 2]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("level (2 unreached)", "vertices", "BFS")


def test_numbers_are_counted_from_above():
    ranks = fr.pagerank(KARATE)
    x, y = points(ranks.plot())
    assert x == sorted(set(ranks.rank.tolist()))
    assert y == [int((ranks.rank >= value).sum()) for value in x]
    assert fr.hits(KARATE).plot("authority").get_xlabel() == "authority"


def test_groups_by_size():
    found = fr.louvain(KARATE, seed=1)
    x, y = points(found.plot())
    assert y == [len(group) for group in found.communities]
    assert x == list(range(1, len(y) + 1))


def test_negative_numbers_get_a_histogram():
    axes = fr.plot.distribution({"vertex": np.arange(4), "x": np.array([-1.5, 0.0, 2.0, np.inf])})
    assert sum(bar.get_height() for bar in axes.patches) == 3
    assert axes.get_xlabel() == "x (1 unreached)"


def test_edges_and_empty_graphs():
    axes = fr.k_truss(KARATE, 4).plot()
    assert sum(bar.get_height() for bar in axes.patches) == KARATE.num_slots
    assert axes.get_ylabel() == "edges"
    assert fr.bfs_many(KARATE, [0]).plot().get_xlabel() == "level"
    fr.pagerank(fr.from_edges([], [])).plot()
    fr.plot.degrees(fr.from_edges([], [], num_vertices=3))


def test_degrees():
    x, y = points(fr.plot.degrees(fr.star(5)))
    assert (x, y) == ([1, 4], [5, 1])
    directed = fr.plot.degrees(fr.from_edges([0, 0], [1, 2], directed=True))
    assert [line.get_label() for line in directed.get_lines()] == ["out-edges", "in-edges"]


def test_where_it_is_drawn():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert fr.pagerank(KARATE).plot(ax=axes) is axes


def test_names_are_not_drawn():
    with pytest.raises(fr.FrontierError, match="there is no column to plot; there is none"):
        fr.maximal_matching(KARATE).plot()
    with pytest.raises(fr.FrontierError, match="there is no column of numbers 'parent'; there is level"):
        fr.bfs(KARATE, 0).plot("parent")


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_command_line_draws(tmp_path, suffix, begins, capsys):
    file = tmp_path / f"ranks.{suffix}"
    assert main(["pagerank", "karate", "--plot", str(file)]) == 0
    assert file.read_bytes().startswith(begins)


def test_pictures_that_cannot_be_drawn(capsys):
    assert main(["pagerank", "karate", "--plot", "ranks.txt"]) == 2
    assert "cannot draw 'ranks.txt': expected .png, .svg, .pdf" in capsys.readouterr().err
