"""What files of each format mean: headers, comments, separators, kinds of numbers."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr

pytestmark = pytest.mark.usefixtures("reading")


def read(tmp_path, name, text, **options):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return fr.read(path, **options)


def edges(graph):
    """The edge slots, with weights if there are any."""
    columns = [graph.sources.tolist(), graph.targets.tolist()]
    if graph.weights is not None:
        columns.append(graph.weights.tolist())
    return list(zip(*columns, strict=True))


# -- Matrix Market -------------------------------------------------------------------------


def test_general_matrix(tmp_path):
    text = "%%MatrixMarket matrix coordinate real general\n% a comment\n\n3 3 2\n1 2 .5\n3 1 -2\n"
    graph = read(tmp_path, "g.mtx", text)
    assert graph.directed
    assert edges(graph) == [(0, 1, 0.5), (2, 0, -2.0)]
    assert graph.weights.dtype == np.float64


def test_symmetric_matrix_is_undirected(tmp_path):
    text = "%%MatrixMarket MATRIX Coordinate integer symmetric\n3 3 2\n2 1 7\n3 3 9\n"
    graph = read(tmp_path, "g.mtx", text)
    assert not graph.directed
    assert edges(graph) == [(0, 1, 7), (1, 0, 7), (2, 2, 9)]
    assert graph.weights.dtype == np.int64
    assert edges(read(tmp_path, "g.mtx", text, directed=True, duplicates="keep")) == edges(graph)


def test_skew_symmetric_matrix_has_negated_reverses(tmp_path):
    text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 7\n3 2 -1\n"
    graph = read(tmp_path, "g.mtx", text)
    assert graph.directed
    assert edges(graph) == [(0, 1, -7), (1, 0, 7), (1, 2, 1), (2, 1, -1)]


def test_pattern_matrix_has_no_weights(tmp_path):
    graph = read(tmp_path, "g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2")
    assert graph.weights is None
    assert edges(graph) == [(0, 1)]


@pytest.mark.parametrize("n", [0, 3])
def test_matrix_without_entries(tmp_path, n):
    text = f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} 0\n"
    graph = read(tmp_path, "g.mtx", text)
    assert (graph.num_vertices, graph.num_slots) == (n, 0)
    assert graph.weights.dtype == np.float64


# -- edge lists ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "0 1 5\n1 2 6\n",
        "0 1 5\n1 2 6",
        "0\t1\t5\r\n1\t2\t6\r\n",
        "0,1,5\n1,2,6\n",
        "0, 1 , 5\n1,2,6\n",
        "0;1;5\n1;2;6\n",
        "  0   1\t 5 \n\n\n1 2 6\n\n",
        "# comment\n% another\n0 1 5\n# between 1 2\n1 2 6\n",
        "\ufeff0 1 5\n1 2 6\n",
        "0 1 +5\n01 002 6\n",
    ],
)
@pytest.mark.parametrize("suffix", ["txt", "wel", "csv", "edges"])
def test_spellings_of_an_edge_list(tmp_path, text, suffix):
    graph = read(tmp_path, f"g.{suffix}", text)
    assert graph.directed
    assert edges(graph) == [(0, 1, 5), (1, 2, 6)]
    assert graph.weights.dtype == np.int64


@pytest.mark.parametrize("head", ["source,target,weight", "# x\nsource,target,weight", '"a";"b";"weight"'])
def test_csv_header(tmp_path, head):
    assert edges(read(tmp_path, "g.csv", f"{head}\n0,1,2.5\n")) == [(0, 1, 2.5)]


def test_directed_is_chosen(tmp_path):
    assert edges(read(tmp_path, "g.el", "0 1\n", directed=False)) == [(0, 1), (1, 0)]


def test_num_vertices(tmp_path):
    assert read(tmp_path, "g.el", "0 1\n").num_vertices == 2
    assert read(tmp_path, "g.el", "0 1\n", num_vertices=9).num_vertices == 9


def test_ids_as_names(tmp_path):
    graph = read(tmp_path, "g.el", "999999999999 5\n5 7\n", labels=True)
    assert graph.labels.tolist() == [999999999999, 5, 7]
    assert edges(graph) == [(0, 1), (1, 2)]


def test_marker(tmp_path):
    graph = read(tmp_path, "g.txt", "# frontier: vertices=5 directed=no\n0 1\n")
    assert graph.num_vertices == 5
    assert not graph.directed
    empty = read(tmp_path, "g.txt", "# frontier: vertices=5 directed=no\n")
    assert (empty.num_vertices, empty.num_slots) == (5, 0)


def test_one_real_makes_all_weights_float(tmp_path):
    graph = read(tmp_path, "g.wel", "0 1 1\n1 2 2.5\n2 3 9007199254740993\n")
    assert graph.weights.tolist() == [1.0, 2.5, 9007199254740992.0]


def test_large_integers_are_exact(tmp_path):
    graph = read(tmp_path, "g.wel", "0 1 9223372036854775807\n1 2 -9223372036854775808\n")
    assert graph.weights.tolist() == [2**63 - 1, -(2**63)]


# -- numbers -------------------------------------------------------------------------------


def read_numbers(tmp_path_factory, words):
    path = tmp_path_factory.getbasetemp() / "numbers.wel"
    path.write_text("0 0 0.5\n" + "".join(f"0 {i} {w}\n" for i, w in enumerate(words, 1)))
    return fr.read(path).weights[1:]


def check_numbers(tmp_path_factory, words):
    got = read_numbers(tmp_path_factory, words)
    expected = np.array([float(word) for word in words])
    assert np.array_equal(got.view(np.int64), expected.view(np.int64)), words


DIGITS = st.text("0123456789", min_size=1, max_size=30)
DECIMALS = st.builds(
    lambda sign, whole, part, power: sign + whole + part + power,
    st.sampled_from(["", "-", "+"]),
    DIGITS,
    st.one_of(st.just(""), st.just("."), DIGITS.map(lambda digits: "." + digits)),
    st.one_of(st.just(""), st.builds("{}{:+d}".format, st.sampled_from("eE"), st.integers(-350, 350))),
)


@given(words=st.lists(DECIMALS, min_size=1, max_size=50))
def test_decimals_are_read_as_python_reads_them(tmp_path_factory, words):
    check_numbers(tmp_path_factory, words)


@given(numbers=st.lists(st.floats(allow_nan=False), min_size=1), digits=st.integers(15, 40))
def test_floats_with_many_digits(tmp_path_factory, numbers, digits):
    check_numbers(tmp_path_factory, [f"{x:.{digits}e}" for x in numbers])


def test_floats_at_random_bits(tmp_path_factory):
    bits = np.random.default_rng(5).integers(0, 2**64, 20000, np.uint64)
    numbers = bits.view(np.float64)
    numbers = numbers[~np.isnan(numbers)].tolist()
    check_numbers(tmp_path_factory, [repr(x) for x in numbers])


def test_half_way_cases(tmp_path_factory):
    """A decimal exactly between two floats, and a hair to either side of it."""
    words = []
    for exponent in range(-40, 41):
        odd = 2 * (2**52 + 12345 + exponent % 2) + 1
        scaled = odd * 10**60 * 2 ** (exponent + 40) // 2**40  # odd * 2**exponent * 10**60
        words += [f"{digits}e-60" for digits in (scaled - 1, scaled, scaled + 1)]
    for odd in range(2**53 + 1, 2**53 + 20, 2):  # with fewer digits than 20
        words += [f"{odd}.0", f"{odd}0e-1", f"{odd * 5}e-1", f"{odd}e1", f"{odd * 25}e-2"]
    check_numbers(tmp_path_factory, words)


def test_odd_numbers(tmp_path_factory):
    check_numbers(
        tmp_path_factory,
        ["inf", "-inf", "+Infinity", ".5", "5.", "-0", "-0.0", "0e999", "4.9e-324", "1e-400", "1e400",
         "2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308",
         "1.7976931348623159e308", "9007199254740993", "1" + "0" * 5000, "0." + "0" * 5000 + "1"],
    )  # fmt: skip


# -- DIMACS --------------------------------------------------------------------------------


def test_dimacs(tmp_path):
    text = "c a road\nc\np sp 4 3\nc comment\na 1 2 7\na 2 1 8\nc x\na 4 1 9\n"
    graph = read(tmp_path, "g.gr", text)
    assert graph.directed
    assert edges(graph) == [(0, 1, 7), (1, 0, 8), (3, 0, 9)]
    undirected = read(tmp_path, "g.gr", text, directed=False, duplicates="first")
    assert edges(undirected) == [(0, 1, 7), (0, 3, 9), (1, 0, 7), (3, 0, 9)]


# -- METIS ---------------------------------------------------------------------------------


def test_metis(tmp_path):
    graph = read(tmp_path, "g.graph", "% a path and a vertex alone\n4 2\n2\n% here too\n1 3\n2\n\n")
    assert not graph.directed
    assert graph.num_vertices == 4
    assert edges(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_metis_weights(tmp_path):
    graph = read(tmp_path, "g.metis", "3 2 1\n2 5\n1 5 3 6\n2 6\n")
    assert edges(graph) == [(0, 1, 5), (1, 0, 5), (1, 2, 6), (2, 1, 6)]


def test_metis_vertex_data(tmp_path):
    graph = read(tmp_path, "g.metis", "3 2 111 2\n9 1 2 2 5\n8 3 4 1 5 3 6\n7 5 6 2 6\n")
    assert edges(graph) == [(0, 1, 5), (1, 0, 5), (1, 2, 6), (2, 1, 6)]
    columns = {name: column.tolist() for name, column in graph.vertices.items()}
    assert columns == {"size": [9, 8, 7], "weight0": [1, 3, 5], "weight1": [2, 4, 6]}
    graph = read(tmp_path, "g.metis", "2 1 010\n4 2\n5 1\n")
    assert graph.vertices["weight"].tolist() == [4, 5]


@pytest.mark.parametrize("loop", ["1", "1 1"])
def test_metis_self_loop_once_or_twice(tmp_path, loop):
    assert edges(read(tmp_path, "g.metis", f"2 2\n{loop} 2\n1\n")) == [(0, 0), (0, 1), (1, 0)]


# -- NumPy archives ------------------------------------------------------------------------


def test_plain_archive(tmp_path):
    path = tmp_path / "g.npz"
    src, dst = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
    np.savez(path, src=src, dst=dst, n=5, directed=False, weights=np.array([3, 4], np.int16))
    graph = fr.read(path)
    assert not graph.directed
    assert graph.num_vertices == 5
    assert graph.weights.dtype == np.int16
    assert edges(graph) == [(0, 1, 3), (1, 0, 3), (1, 2, 4), (2, 1, 4)]
    assert fr.read(path, directed=True).num_slots == 4
    np.savez_compressed(path, src=src, dst=dst)
    assert fr.read(path).directed


def test_gzip_members(tmp_path):
    """Files put together of several gzip streams are read whole."""
    text = gzip.compress(b"0 1\n1 ") + gzip.compress(b"2\n")
    assert edges(read(tmp_path, "g.el.gz", text)) == [(0, 1), (1, 2)]


def test_suffix_in_capitals(tmp_path):
    assert edges(read(tmp_path, "G.TXT.GZ", gzip.compress(b"0 1\n"))) == [(0, 1)]
