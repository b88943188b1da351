"""Files of which each rank reads a part: the same graph as of the whole, the same errors, and less memory."""

from __future__ import annotations

import gc
import gzip
import importlib.util
import re

import numpy as np
import pytest
from mpi import mpirun, processes
from test_divided import same

import frontier as fr
from frontier.distributed.ranks import building
from frontier.io import files
from frontier.memory import detection

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")

arrow = pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="no PyArrow: pip install .[tables]")


SUFFIXES = ("el", "wel", "csv", "tsv", "txt", "csv.gz", "mtx", "gr", "npz")


@pytest.mark.parametrize(
    ("suffix", "directed"), [("graph", False), *((suffix, way) for suffix in SUFFIXES for way in (False, True))]
)
def test_a_file_is_read_in_parts_as_it_is_read_whole(suffix, directed, tmp_path):
    weights = None if suffix == "el" else (1, 9) if suffix == "graph" else (0.5, 2.0)
    path = tmp_path / f"graph.{suffix}"
    fr.write(fr.rmat(8, 8, seed=5, directed=directed, weights=weights), path)
    for place in ("ranks:1", "ranks:3"):
        same(fr.read(path, placement=place), fr.read(path))


def saved(name: str, folder, graph: fr.Graph):
    """A graph as an archive: as ``fr.write`` writes it, packed, or as a list of edges."""
    path = folder / f"{name}.npz"
    fr.write(graph, path)
    if name == "plain":
        kept = slice(None) if graph.directed else graph.sources <= graph.targets
        arrays = {"src": graph.sources[kept], "dst": graph.targets[kept], "n": graph.num_vertices}
        arrays["directed"] = graph.directed
        if graph.weights is not None:
            arrays["weights"] = graph.weights[kept]
        np.savez(path, **arrays)
    elif name == "packed":
        with np.load(path) as archive:
            np.savez_compressed(path, **dict(archive))
    return path


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", ["own", "plain", "packed"])
@pytest.mark.parametrize("weights", [None, (1, 9), (0.5, 2.0)])
def test_archives_are_read_in_parts(name, directed, weights, tmp_path, monkeypatch):
    g = fr.rmat(8, 8, seed=5, directed=directed, weights=weights)
    if name != "plain":
        g = g.with_columns(vertices={"age": np.arange(256)}, edges={"year": np.arange(g.num_slots) % 7 * directed})
    path = saved(name, tmp_path, g)
    whole = fr.read(path)
    monkeypatch.setattr(building, "LEAST", 100)  # many pieces
    monkeypatch.setattr(files, "_read", None)  # nothing is read as a whole
    for place in ("ranks:1", "ranks:3"):
        found = fr.read(path, placement=place)
        same(found, whole)
        assert all(np.array_equal(found.vertices[name], whole.vertices[name]) for name in whole.vertices)
        assert all(np.array_equal(found.edges[name], whole.edges[name]) for name in whole.edges)


@pytest.mark.parametrize("suffix", ["mtx", "gr", "wel", "csv", "mtx.gz", "gr.gz", "wel.gz", "csv.gz"])
@pytest.mark.parametrize("directed", [False, True])
def test_files_of_lines_are_read_in_parts(suffix, directed, tmp_path, monkeypatch):
    path = tmp_path / f"graph.{suffix}"
    fr.write(fr.rmat(8, 8, seed=5, directed=directed, weights=(1, 9)), path)
    whole = fr.read(path)
    monkeypatch.setattr(building, "LEAST", 100)
    monkeypatch.setattr(files, "_read", None)
    same(fr.read(path, placement="ranks:3"), whole)


@pytest.mark.parametrize(
    "options",
    [
        {"directed": True}, {"directed": False}, {"duplicates": "sum"}, {"self_loops": "drop"}, {"duplicates": "keep"},
        {"labels": [f"v{i}" for i in range(64)]}, {"directed": False, "self_loops": "drop", "duplicates": "max"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["mtx", "gr", "npz", "wel"])
@pytest.mark.parametrize("directed", [False, True])
def test_options_mean_the_same_in_parts(suffix, directed, options, tmp_path):
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 64, (2, 700))
    src[-1] = 63
    g = fr.from_edges(src, dst, src + dst, num_vertices=64, directed=directed, duplicates="keep")
    path = tmp_path / f"graph.{suffix}"
    fr.write(g, path)
    same(fr.read(path, placement="ranks:3", **options), fr.read(path, **options))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n", "a.mtx:2: expected 3 entries"),
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n2 3\n", "a.mtx:2: expected 1 entries"),
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 4\n", "a.mtx:3: expected a vertex id"),
        ("a.gr", "p sp 3 2\na 1 2 5\n", "a.gr:1: expected 2 arcs"),
        ("a.gr", "c frontier: directed=no\np sp 3 2\na 1 2 5\na 2 1 6\n", "every edge both ways, with the same weight"),
        ("a.gr", "c frontier: directed=no\np sp 3 2\na 1 2 5\na 2 3 5\n", "every edge both ways"),
    ],
)
def test_files_that_are_wrong_are_refused_in_parts_too(name, text, message, tmp_path):
    (tmp_path / name).write_text(text)
    for place in ("ranks:1", "ranks:2"):
        with pytest.raises(fr.GraphError, match=message):
            fr.read(tmp_path / name, placement=place)


def test_gzipped_files_that_are_damaged_are_refused_in_parts_too(tmp_path):
    packed = gzip.compress("".join(f"{i} {i * 7919 % 10007}\n" for i in range(10000)).encode())
    path = tmp_path / "graph.el.gz"
    wrong = [
        (packed[: len(packed) // 2], "more gzip data"), (packed[:-4], "more gzip data"), (packed[:3], "more gzip data"),
        (packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:], "gzip data"), (b"0 1\n1 2\n", "gzip data"),
    ]  # fmt: skip
    for data, message in wrong:
        path.write_bytes(data)
        for place in ("cpu", "ranks:2"):
            with pytest.raises(fr.GraphError, match=rf"graph\.el\.gz:\d+: expected {message}"):
                fr.read(path, placement=place)


@pytest.mark.parametrize("vertices", [0, 1, 5])
def test_archives_without_edges_are_read_in_parts(vertices, tmp_path):
    for directed in (False, True):
        for weights in (None, np.array([], np.float32)):
            g = fr.from_edges([], [], weights, num_vertices=vertices, directed=directed)
            fr.write(g, tmp_path / "graph.npz")
            same(fr.read(tmp_path / "graph.npz", placement="ranks:3"), g)


def test_archives_that_are_wrong_are_refused_in_parts_too(tmp_path):
    path = tmp_path / "a.npz"
    wrong = [
        ({"offsets": [0, 1, 1], "targets": [1], "directed": False}, "every edge both ways"),
        ({"offsets": [0, 2, 1], "targets": [1], "directed": True}, "offsets"),
        ({"offsets": [0, 1, 1], "targets": [2], "directed": True}, "there are 2"),
        ({"src": [0, 1], "dst": [1], "directed": True}, "src|dst"),
        ({"src": [0.5], "dst": [1], "directed": True}, "must be integers"),
        ({"src": [0], "dst": [1], "weights": [float("nan")]}, "NaN"),
        ({"src": [0], "dst": [1], "n": [3]}, "one integer as n"),
    ]
    for arrays, message in wrong:
        np.savez(path, **{name: np.array(value) for name, value in arrays.items()})
        with pytest.raises(fr.GraphError, match=message):
            fr.read(path, placement="ranks:2")
    fr.write(fr.rmat(8, 8, seed=1), path)
    with np.load(path) as archive:
        np.savez_compressed(path, **dict(archive))
    whole = path.read_bytes()
    at = whole.index(b"targets.npy") + 400
    path.write_bytes(whole[:at] + bytes(200) + whole[at + 200 :])
    with pytest.raises(fr.GraphError, match="found damage"):
        fr.read(path, placement="ranks:2")


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n2 3\n", "0 1 5\n1 2 2.5\n7 1 3", "# a\n\n0 1\n# b\n3 0\n\n", "u,v\n0,1\n",
        "source\ttarget\tweight\n5\t1\t2",
    ],
)
@pytest.mark.parametrize("place", ["ranks:1", "ranks:2", "ranks:4"])
def test_small_files_are_read_alike(text, place, tmp_path):
    path = tmp_path / ("graph.csv" if "," in text else "graph.txt")
    path.write_text(text)
    same(fr.read(path, placement=place), fr.read(path))


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n2 3\n", "0 1\n2 3", "# a\n\n\n0 1\n# b\n3 0\n\n\n", "0 1\r\n2 3\r\n\r\n4 0", "5 6\n", "\ufeff0 1\n1 2\n",
        "# frontier: vertices=9 directed=no\n", "0 1 7\n" + "# long" * 99 + "\n1 2 2.5\n7 1 3",
        "1 2\n" * 99 + "\n" * 99,
    ],
)  # fmt: skip
@pytest.mark.parametrize("pieces", [1, 9])
def test_gzipped_lines_are_those_of_the_whole(text, pieces, tmp_path, monkeypatch):
    (tmp_path / "graph.txt").write_bytes(text.encode())
    half = len(text) // 2  # of which a file is joined, as by cat
    packed = gzip.compress(text[:half].encode()) + gzip.compress(text[half:].encode())
    (tmp_path / "graph.txt.gz").write_bytes(packed)
    whole = fr.read(tmp_path / "graph.txt")
    monkeypatch.setattr(building, "turns", lambda edges, ranks, least: pieces)
    monkeypatch.setattr(files, "_read", None)  # nothing is read as a whole
    for name in ("graph.txt", "graph.txt.gz"):
        for ranks in (1, 2, 3, 5):
            same(fr.read(tmp_path / name, placement=f"ranks:{ranks}"), whole)


@pytest.mark.parametrize("suffix", ["el", "el.gz"])
def test_an_error_in_a_file_names_its_line(suffix, tmp_path):
    path = tmp_path / f"graph.{suffix}"
    text = ("# comment\n" + "0 1\n" * 40000 + "0 x\n" + "1 2\n" * 30000).encode()
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    for place in (None, "ranks:1", "ranks:3"):
        with pytest.raises(fr.GraphError, match=r"graph\.el(\.gz)?:40002: expected a vertex id"):
            fr.read(path, placement=place)
    with pytest.raises(fr.GraphError, match="goes with placement="):
        fr.read(path, parts=True)


def test_the_first_of_several_errors_is_raised(tmp_path, monkeypatch):
    """Ranks find them at the same time, in different turns, and in any order."""
    monkeypatch.setattr(building, "LEAST", 100)
    path = tmp_path / "graph.el"
    lines = ["0 1"] * 3000
    for wrong in (2900, 1211, 1777, 2000):
        lines[wrong] = f"0 wrong{wrong}"
        path.write_text("\n".join(lines))
        with pytest.raises(fr.GraphError) as whole:
            fr.read(path)
        with pytest.raises(fr.GraphError) as divided:
            fr.read(path, placement="ranks:4")
        assert str(divided.value) == str(whole.value)
        assert re.search(r"rank \d of 4", divided.value.__notes__[0])


@pytest.mark.parametrize("dtype", ["u1", "u4", "u8", "i1", "i8"])
@pytest.mark.parametrize("options", [{}, {"self_loops": "drop"}, {"directed": False}])
def test_offsets_of_any_integers_are_read_in_parts(dtype, options, tmp_path):
    path = tmp_path / "graph.npz"
    for offsets, targets in (([0, 3, 5, 8], [0, 1, 2, 0, 2, 0, 1, 2]), ([0, 0, 0, 0], [])):
        np.savez(path, offsets=np.array(offsets, dtype), targets=np.array(targets, np.int64))
        whole = fr.read(path, **options)
        for place in ("ranks:1", "ranks:2", "ranks:9"):
            same(fr.read(path, placement=place, **options), whole)


def test_what_is_refused_of_an_archive_is_refused_in_parts(tmp_path):
    path = tmp_path / "graph.npz"
    own = {"offsets": [0, 2, 4, 5], "targets": [1, 2, 0, 2, 0], "directed": True}
    for arrays in ({"labels": list("aab")}, {"vertices/x": 3}, {"weights": [1, 2, 3, 4, np.nan]}):
        np.savez(path, **{name: np.array(value) for name, value in (own | arrays).items()})
        with pytest.raises(fr.GraphError) as whole:
            fr.read(path)
        for place in ("ranks:1", "ranks:3"):
            with pytest.raises(fr.GraphError) as divided:
                fr.read(path, placement=place)
            assert str(divided.value) == str(whole.value)
    np.savez(path, **{name: np.array(value) for name, value in own.items()})
    for options in ({"duplicates": "drop"}, {"self_loops": "typo"}):
        with pytest.raises(fr.GraphError, match="must be one of keep, "):
            fr.read(path, placement="ranks:2", **options)
    (tmp_path / "few.csv").write_text("source,target\n6,\n0,1\n")
    for place in (None, "ranks:2"):
        with pytest.raises(fr.GraphError, match="3 labels for 7 vertices"):
            fr.read(tmp_path / "few.csv", placement=place, labels=list("abc"))


def test_columns_of_times_are_read_in_parts(tmp_path):
    days = np.array(["2026-11-28", "2026-11-29", "2026-11-30"], "M8[D]")
    g = fr.from_edges([0, 1, 2], [1, 2, 0], directed=True).with_columns(edges={"day": days})
    fr.write(g, tmp_path / "graph.npz")
    for place in ("ranks:1", "ranks:2"):
        assert fr.read(tmp_path / "graph.npz", placement=place).edges["day"].gather().tolist() == days.tolist()


@pytest.mark.filterwarnings("error::ResourceWarning", "error::pytest.PytestUnraisableExceptionWarning")
def test_files_that_are_wrong_are_closed(tmp_path):
    path = tmp_path / "graph.el.gz"
    path.write_bytes(gzip.compress(b"0 1\n0 x\n"))
    for place in ("ranks:1", "ranks:5"):
        with pytest.raises(fr.GraphError, match=":2: expected a vertex id"):
            fr.read(path, placement=place)
        gc.collect()


@processes
def test_an_error_of_one_rank_is_that_of_all(tmp_path):
    """All raise it, at once, and it is printed once."""
    lines = ["0 1"] * 3000
    (tmp_path / "part0.el").write_text("\n".join(lines))
    (tmp_path / "part1.el").write_text("\n".join([*lines[:2000], "0 x"]))
    (tmp_path / "part2.el").write_text("\n".join(lines))
    (tmp_path / "sorted.npz").write_bytes(saved("own", tmp_path, fr.rmat(9, 8, seed=1)).read_bytes())
    with np.load(tmp_path / "sorted.npz") as archive:
        arrays = dict(archive)
    arrays["targets"] = np.append(arrays["targets"][:-1], 999)
    np.savez(tmp_path / "sorted.npz", **arrays)
    made = mpirun(3, tmp_path, """
        import frontier as fr
        from mpi4py import MPI
        said = "dst has the vertex 999, but there are 512, from 0"
        for name, options, message in (
            (f"part{MPI.COMM_WORLD.rank}.el", {"parts": True}, "part1.el:2001: expected a vertex id"),
            ("part1.el", {}, "part1.el:2001: expected a vertex id"),
            (f"part{2 - MPI.COMM_WORLD.rank}.el", {"parts": True, "num_vertices": 1}, "dst has the vertex 1, but"),
            ("sorted.npz", {}, f"sorted.npz: {said}"),
        ):
            try:
                fr.read(name, placement="ranks", **options)
            except fr.GraphError as error:
                assert str(error).startswith(message), error
            else:
                raise AssertionError(name)
        print("right")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 3
    made = mpirun(3, tmp_path, ["-m", "frontier", "bfs", "part1.el", "--backend", "ranks"])
    assert made.returncode == 2
    assert made.stderr.startswith("frontier: part1.el:2001: expected a vertex id"), made.stderr
    assert made.stderr.count("\n") == 1, made.stderr


@pytest.mark.parametrize(("suffix", "directed"), [
    ("npz", False), ("npz", True), ("gr", False), ("gr", True), ("mtx", True), ("graph", False), ("wel", False),
    ("csv", False), pytest.param("parquet", False, marks=arrow),
])  # fmt: skip
@pytest.mark.parametrize("both", [None, True])
def test_files_of_ones_own_say_how_many_vertices_there_are(suffix, directed, both, tmp_path):
    """Also those that are read as a whole, as with every edge both ways."""
    path = tmp_path / f"graph.{suffix}"
    ends = [0, 1], [2, 1 if suffix != "graph" else 2]
    fr.write(fr.from_edges(*ends, [2, 3], num_vertices=9, directed=directed), path)
    same(fr.read(path, directed=both, placement="ranks:3", parts=True), fr.read(path, directed=both))


def test_an_archive_of_ones_own_has_columns_of_vertices(tmp_path):
    g = fr.from_edges([0], [2], num_vertices=6).with_columns(vertices={"age": np.arange(6)})
    fr.write(g, tmp_path / "graph.npz")
    found = fr.read(tmp_path / "graph.npz", placement="ranks:2", parts=True)
    assert found.vertices["age"].tolist() == list(range(6))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", [{}, {"self_loops": "drop"}, {"directed": False}, {"duplicates": "sum"}])
@pytest.mark.parametrize("name", ["own", "plain"])
@pytest.mark.filterwarnings("ignore:the edge")
def test_an_archive_of_ones_own_keeps_the_duplicates_that_one_of_all_keeps(name, options, directed, tmp_path):
    g = fr.from_edges([0, 0, 1, 1, 3, 2, 2], [2, 2, 1, 1, 4, 0, 0], range(7), directed=directed, duplicates="keep")
    path = saved(name, tmp_path, g)
    same(fr.read(path, placement="ranks:2", parts=True, **options), fr.read(path, **options))


def test_names_of_several_files_are_no_vertices_of_one_graph(tmp_path):
    """Each file would number its own."""
    (tmp_path / "names.el").write_text("alice bob\n")
    with pytest.raises(fr.GraphError, match="with parts=True, files have ids"):
        fr.read(tmp_path / "names.el", labels=True, placement="ranks:2", parts=True)


@processes
def test_files_of_ones_own_must_say_the_same_number_of_vertices(tmp_path):
    made = mpirun(2, tmp_path, """
        import frontier as fr
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
        for suffix in ("npz", "gr", "mtx", "graph"):
            for sizes in ((9, 9), (5, 9)):
                name = f"part{rank}.{suffix}"
                fr.write(fr.from_edges([rank], [2], num_vertices=sizes[rank]), name)
                try:
                    g = fr.read(name, placement="ranks", parts=True)
                except fr.GraphError as error:
                    assert sizes == (5, 9) and str(error) == "all ranks must say the same num_vertices=", error
                else:
                    assert sizes == (9, 9) and (g.num_vertices, g.num_edges) == (9, 2), (suffix, sizes, g)
        for rows in ("0,1,a\\n", "0,1,a\\n6,,\\n") [rank:rank + 1]:  # which say of how many at least
            with open(f"part{rank}.csv", "w") as file:
                file.write(f"source,target,kind\\n{rows}")
        g = fr.read(f"part{rank}.csv", placement="ranks", parts=True)
        assert g.num_vertices == 7, g
        print("right")
    """)  # fmt: skip
    assert (made.returncode, made.stdout.count("right")) == (0, 2), made.stdout + made.stderr


@processes
def test_what_one_rank_finds_wrong_before_a_graph_is_built_is_an_error_of_all(tmp_path):
    """Programs that handle it go on, and the next graph is built by all."""
    for rank in range(3):
        for name, text in (("missing.el", "0 1\n"), ("empty.el", "0 1\n"), ("head.mtx", "%%MatrixMarket matrix\n"),
                           ("few.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n")):  # fmt: skip
            wrong = {"empty.el": "", "few.mtx": text.replace("3 1\n", "3 2\n")}.get(name, text)
            (tmp_path / f"{rank}{name}").write_text(wrong if rank == 1 else text)
        if rank != 1:
            (tmp_path / f"{rank}head.mtx").write_text((tmp_path / f"{rank}few.mtx").read_text())
    (tmp_path / "1missing.el").unlink()
    made = mpirun(3, tmp_path, """
        import frontier as fr
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
        def read(name):
            return lambda: fr.read(f"{rank}{name}", placement="ranks", parts=True)
        def given(src, **options):
            return lambda: fr.from_edges(src, [1] * len(src), placement="ranks", parts=True, **options)
        class Denied:
            def __array__(self, dtype=None, copy=None):
                raise PermissionError(13, "Permission denied", "mine")
        one = rank == 1
        for call, kind, message in (
            (given([0, -1 if one else 1]), fr.GraphError, "vertex ids start at 0, but src[1] is -1"),
            (given([0], weights=["x" if one else 1]), fr.GraphError, "weights must be real numbers"),
            (given([0], duplicates="typo" if one else "first"), fr.GraphError, "duplicates must be one of"),
            (given([0], weights=Denied() if one else [1]), PermissionError, "[Errno 13] Permission denied: 'mine'"),
            (given([0, 0], duplicates="error"), fr.GraphError, "the edge (0, 1) is given more than once"),
            (read("missing.el"), fr.GraphError, "1missing.el: there is no such file"),
            (read("empty.el"), fr.GraphError, "1empty.el:1: expected a graph, found an empty file"),
            (read("head.mtx"), fr.GraphError, "1head.mtx:1: expected '%%MatrixMarket"),
            (read("few.mtx"), fr.GraphError, "1few.mtx:2: expected 2 entries"),
        ):
            try:
                call()
            except kind as error:
                assert str(error).startswith(message) and error.of_all_ranks, error
            else:
                raise AssertionError(message)
            assert fr.from_edges([rank], [rank + 1], placement="ranks", parts=True).num_vertices == 4
        print("right")
    """)  # fmt: skip
    assert (made.returncode, made.stdout.count("right")) == (0, 3), made.stdout + made.stderr


@processes
def test_processes_read_a_file_together_or_one_each(tmp_path):
    whole = fr.rmat(9, 8, seed=5, weights=(0.5, 2.0), directed=True)
    fr.write(whole, tmp_path / "graph.wel")
    thirds = np.array_split(np.arange(whole.num_slots), 3)
    for rank, mine in enumerate(thirds):
        part = fr.from_edges(
            whole.sources[mine], whole.targets[mine], whole.weights[mine], directed=True, num_vertices=512
        )
        fr.write(part, tmp_path / f"part{rank}.wel")
    made = mpirun(3, tmp_path, """
        import numpy as np, frontier as fr
        from mpi4py import MPI
        whole = fr.read("graph.wel")
        for g in (fr.read("graph.wel", placement="ranks"),
                  fr.read(f"part{MPI.COMM_WORLD.rank}.wel", placement="ranks", parts=True)):
            first, own = g.targets.first, g.targets.own
            assert len(own) < whole.num_slots
            assert np.array_equal(own, whole.targets[first : first + len(own)])
            assert np.array_equal(g.weights.own, whole.weights[first : first + len(own)])
            assert np.array_equal(fr.bfs(g, 3).level, fr.bfs(whole, 3).level)
        print("right")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 3


@processes
@pytest.mark.parametrize("first", ["source target weight", "# frontier: vertices=9 directed=no"])
def test_a_part_has_no_edges(first, tmp_path):
    for rank in range(3):
        (tmp_path / f"part{rank}.wel").write_text(first + "\n" + "0 5 2\n3 5 4\n" * (rank == 1))
    made = mpirun(3, tmp_path, """
        import frontier as fr
        from mpi4py import MPI
        name = f"part{MPI.COMM_WORLD.rank}.wel"
        g = fr.read(name, placement="ranks", parts=True, duplicates="keep").to("cpu")
        whole = fr.read("part1.wel")
        assert (g.directed, g.num_vertices) == (whole.directed, whole.num_vertices)
        assert g.targets.tolist() == whole.targets.tolist() and g.weights.tolist() == whole.weights.tolist()
        open("empty" + name, "w").close()
        try:
            fr.read("empty" + name, placement="ranks", parts=True)
        except fr.GraphError as error:
            print(str(error))
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("wel:1: expected a graph, found an empty file") == 3


def compile_what_reads(path):
    """Compiling takes memory in the process that does it, and what it has compiled is kept on disk."""
    made = mpirun(2, path.parent, f"import frontier as fr; fr.read({path.name!r}, placement='ranks')")
    assert made.returncode == 0, made.stderr


@processes
@pytest.mark.parametrize(
    "name",
    [
        "own", "packed", "graph.mtx", "graph.wel.gz",
        pytest.param("graph.parquet", marks=arrow),
    ],
)  # fmt: skip
def test_reading_takes_the_memory_of_the_part(name, tmp_path):
    archive = "." not in name or name.endswith("parquet")
    g = fr.rmat(19 if archive else 17, 16, seed=5, directed=True, weights=(1, 9))
    path = tmp_path / name
    if "." in name:
        fr.write(g, path)
    else:
        path = saved(name, tmp_path, g)
    fr.read(path)  # compiling takes memory, too
    suffix = path.name.partition(".")[2]
    fr.write(fr.rmat(8, 8, seed=1, directed=True, weights=(1, 9)), tmp_path / f"small.{suffix}")
    compile_what_reads(path)
    made = mpirun(2, tmp_path, f"""
        import numpy as np, frontier as fr
        def kilobytes(name):
            return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
        fr.rmat(17, 16, seed=1, weights=(1, 9), directed=True, placement="ranks")
        fr.read("small.{suffix}", placement="ranks")  # imports what is needed
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # forgets the most that compiling has taken
        before = kilobytes("VmRSS")
        g = fr.read({path.name!r}, placement="ranks")
        part = (g.targets.own.nbytes + g.weights.own.nbytes + g.offsets.nbytes) / 1024
        taken = kilobytes("VmHWM") - before
        print("took", taken, part)
        assert taken < 1.5 * part + 4096, (taken, part)
        print("right")
    """)  # fmt: skip
    print(made.stdout)
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 2


@processes
@pytest.mark.parametrize(("name", "scale"), [("own", 19), ("packed", 19), ("plain", 18)])
@pytest.mark.parametrize("weights", [None, (1, 9)])
def test_one_of_many_ranks_reads_an_archive_in_the_memory_of_its_part(name, scale, weights, tmp_path):
    """No rank gets edges of all others at once, as these are sorted, nor converts the offsets of all vertices."""
    saved(name, tmp_path, fr.rmat(8, 8, seed=1, weights=weights)).rename(tmp_path / "small.npz")
    path = saved(name, tmp_path, fr.rmat(scale, 16, seed=5, weights=weights))
    compile_what_reads(path)
    made = mpirun(16, tmp_path, f"""
        import frontier as fr
        def kilobytes(name):
            return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
        fr.rmat(17, 16, seed=1, weights={weights}, placement="ranks")
        fr.read("small.npz", placement="ranks")  # imports what is needed
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # forgets the most that compiling has taken
        before = kilobytes("VmRSS")
        g = fr.read({path.name!r}, placement="ranks")
        part = (g.targets.own.nbytes + g.offsets.nbytes + (0 if g.weights is None else g.weights.own.nbytes)) / 1024
        taken = kilobytes("VmHWM") - before
        print("took", taken, part)
        assert taken < 1.5 * part + 512, (taken, part)  # in pieces, which an allocator keeps
        print("right")
    """)  # fmt: skip
    print(made.stdout)
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 16


@processes
def test_a_graph_in_parts_is_written_by_one_rank(tmp_path):
    made = mpirun(3, tmp_path, """
        import os, pathlib
        import numpy as np, frontier as fr
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
        for options in ({"weights": (1, 9)}, {"directed": True}, {"weights": (0.5, 2.0), "directed": True}):
            g, there = fr.rmat(6, 4, seed=3, **options), fr.rmat(6, 4, seed=3, placement="ranks", **options)
            for name in ("graph.txt", "graph.mtx", "graph.npz", "graph.txt.gz"):
                pathlib.Path(f"{rank}").mkdir(exist_ok=True)
                fr.write(there, f"{rank}/{name}")
                assert os.listdir(f"{rank}") == ([name] if rank == 0 else [])
                if rank == 0:
                    again = fr.read(f"0/{name}", directed=g.directed)
                    assert np.array_equal(again.offsets, g.offsets) and np.array_equal(again.targets, g.targets)
                    assert g.weights is None or np.array_equal(again.weights, g.weights)
                    os.remove(f"0/{name}")
        assert there.targets.gather(1) is None or rank == 1
        assert np.array_equal(there.targets.gather(), g.targets)
        try:
            fr.write(there, "missing/graph.txt")
        except fr.GraphError as error:
            assert "missing/graph.txt" in str(error), error
            print("right")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 3


def test_a_graph_in_parts_of_one_process_is_written(tmp_path):
    g = fr.rmat(6, 4, seed=3, placement="ranks:3", weights=(1, 9))
    fr.write(g, tmp_path / "graph.npz")
    same(fr.read(tmp_path / "graph.npz"), fr.rmat(6, 4, seed=3, weights=(1, 9)))
