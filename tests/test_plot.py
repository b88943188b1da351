"""Pictures: what is drawn of each kind of result, and by the command line."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import frontier as fr
from frontier.cli import main

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

KARATE = fr.karate()


@pytest.fixture(autouse=True)
def _closed():
    """Figures of pyplot, if anything has imported it, stay open until they are closed."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


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


def vertices_of(axes):
    """Coordinates, areas and colours of the dots, all together."""
    dots = [each for each in axes.collections if type(each).__name__ == "PathCollection"]
    for each in dots:
        each.update_scalarmappable()
    colours = [np.resize(each.get_facecolors(), (len(each.get_offsets()), 4)) for each in dots]
    return [np.concatenate(parts) for parts in
            ([each.get_offsets() for each in dots], [each.get_sizes() for each in dots], colours)]  # fmt: skip


def lines_of(axes):
    (lines,) = (each for each in axes.collections if type(each).__name__ == "LineCollection")
    return {tuple(map(tuple, np.sort(line, axis=0))) for line in np.asarray(lines.get_segments()).tolist()}


def test_a_graph_has_dots_and_lines():
    g = fr.from_edges([0, 0, 2, 2, 3], [1, 1, 1, 2, 2], num_vertices=5, directed=True)
    x = np.array([[0, 0], [1, 2], [3, 1], [4, 4], [9, 9]])
    axes = fr.plot.graph(g, x, title="five")
    np.testing.assert_array_equal(vertices_of(axes)[0], x)
    between = {tuple(map(tuple, np.sort(x[list(pair)], axis=0))) for pair in ((0, 1), (2, 1), (3, 2))}
    assert lines_of(axes) == between
    assert ([each.get_text() for each in axes.texts], axes.get_title()) == (list("01234"), "five")
    assert not fr.plot.graph(g, x, names=False).texts


def test_a_graph_lays_itself_out():
    named = fr.from_edges(["ann", "bob"], ["bob", "cid"])
    for given in (None, fr.layout(named), fr.layout(named).position):
        axes = fr.plot.graph(named, given)
        np.testing.assert_array_equal(vertices_of(axes)[0], fr.plot.layout(named))
        assert [each.get_text() for each in axes.texts] == ["ann", "bob", "cid"]
    assert len(vertices_of(fr.plot.graph(named, fr.plot.layout(named, dimensions=3)))[0]) == 3
    for n in (0, 1):
        assert len(vertices_of(fr.plot.graph(fr.from_edges([], [], num_vertices=n)))[0]) == n


def test_values_groups_and_sizes_of_vertices():
    g = fr.from_edges([0, 1, 2], [1, 2, 3], num_vertices=6)
    by_place = np.arange(12.0).reshape(6, 2)
    level = fr.bfs(g, 0).level
    place, area, colour = vertices_of(fr.plot.graph(g, by_place, level, sizes=[5, 4, 3, 2, 1, 0]))
    order = np.argsort(place[:, 0])
    area, colour = area[order], colour[order]
    assert (np.diff(area) < 0).all()
    assert len(np.unique(colour[:4], axis=0)) == 4
    np.testing.assert_array_equal(colour[4:], [[0.75, 0.75, 0.75, 1]] * 2)  # unreached
    groups = vertices_of(fr.plot.graph(g, by_place, groups=["b", "a", "b", "a", "a", "c"]))
    colour = groups[2][np.argsort(groups[0][:, 0])]
    for same in ([0, 2], [1, 3, 4]):
        assert len(np.unique(colour[same], axis=0)) == 1
    assert len(np.unique(colour, axis=0)) == 3


def test_results_stand_for_their_first_column():
    named = fr.from_edges(["ann", "bob", "dan"], ["bob", "cid", "eve"])
    x, search, parts, ranks = (
        np.arange(10.0).reshape(5, 2), fr.bfs(named, "ann"), fr.connected_components(named), fr.pagerank(named),
    )  # fmt: skip
    for results, arrays in (
        ({"values": search, "sizes": ranks}, {"values": search.level, "sizes": ranks.rank}),
        ({"groups": parts}, {"groups": parts.label}),
    ):
        drawn, expected = (vertices_of(fr.plot.graph(named, x, **given)) for given in (results, arrays))
        for one, other in zip(drawn, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_many_edges_are_sampled():
    assert len(lines_of(fr.plot.graph(KARATE))) == 78
    assert len(lines_of(fr.plot.graph(KARATE, edges=20))) == 20


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"values": [1, 2]}, r"values has shape \(2,\), expected \(34,\)"),
        ({"position": np.zeros((34, 1))}, r"position has shape \(34, 1\), expected \(34, 2\)"),
        ({"sizes": -np.ones(34)}, "sizes must be numbers that are not negative, and the least is -1"),
        ({"values": np.zeros(34), "groups": np.zeros(34)}, "by values or by groups, not by both"),
        ({"values": ["a"] * 34}, "values must be numbers, not <U1; groups= takes names"),
        ({"edges": -1}, "edges=-1: it must not be negative"),
        ({"values": fr.edge_betweenness(KARATE)}, "values: a EdgeBetweennessResult has no entry for each vertex"),
    ],
)
def test_wrong_arrays(given, words):
    with pytest.raises(fr.GraphError, match=words):
        fr.plot.graph(KARATE, **given)


def test_a_trace_names_its_steps():
    from matplotlib.figure import Figure

    def steps(t):
        return [row.step for row in t.rows if not row.compile_seconds]

    with fr.trace() as t:
        fr.bfs(KARATE, 0)
    axes = t.plot(Figure().add_subplot())
    assert [each.get_text() for each in axes.get_xticklabels()] == steps(t)
    with fr.trace() as t:
        fr.pagerank(KARATE, tolerance=1e-12)
    axes = t.plot(Figure().add_subplot())
    assert {each.get_text() for each in axes.get_legend().get_texts()} == set(steps(t))
    assert len(axes.patches) == len(steps(t)) > 40


def test_the_command_line_draws_layouts(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(fr.plot, "graph", lambda *given: drawn.append(fr.plot.degrees(given[0])) or drawn[0])
    assert main(["layout", "karate", "--plot", str(tmp_path / "karate.png")]) == 0
    assert drawn[0].get_title() == "layout of karate"
