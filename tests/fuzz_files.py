"""Files with right checksums and wrong content: each is refused in one line, or is a graph on which searches are right.

``python -m tests.fuzz_files --mutations 10000 --seed 1`` changes arrays, dtypes, lengths and heads of small Frontier
graphs, archives and Parquet files, one to three changes a file. Each is opened, converted, and searched on ``cpu``,
with arrays that end where a page begins that may not be touched; the interpreter must find the same. Many files have
one process, with a limit of memory, so that a crash is counted and the next process goes on behind it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import io
import itertools
import json
import mmap
import os
import resource
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from frontier.io import stored
from frontier.io.npz import arrays_of

ROOT = Path(__file__).resolve().parent.parent
FORMATS = ("frontier", "npz", "parquet") if find_spec("pyarrow") else ("frontier", "npz")
Arrays = dict[str, Any]

#: Bytes of addresses for a process, and seconds for a file.
SPACE, PATIENCE = 12 << 30, 60

# ---- changes ---------------------------------------------------------------------------------------------------

DTYPES = [f"<{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)]
DTYPES += ["<f2", "<f4", "<f8", "<c16", "|b1", ">i4", ">i8", ">f8", "<U3", "|S4", "<M8[s]"]


def extreme(random: np.random.Generator, array: Any, n: int, m: int) -> Any:
    """A value that does not belong in an array, or hardly."""
    if array.dtype.kind == "f":
        return random.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, -0.0, 1e308, 1e-310, 2.0**63])
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        value = random.choice([-1, 0, 1, n - 1, n, n + 1, m - 1, m, m + 1, 2**16, 2**31 - 1, info.min, info.max])
        return min(max(int(value), info.min), info.max)
    return array[int(random.integers(len(array)))]


def changed(random: np.random.Generator, array: Any, n: int, m: int) -> Any:
    """An array with one change."""
    array = array.copy()
    how = int(random.integers(10))
    if array.ndim != 1 or len(array) == 0:
        return np.arange(3, dtype=np.int32) if how < 5 else array.reshape(-1)
    at, other = (int(i) for i in random.integers(len(array), size=2))
    if how < 3:
        array[at] = extreme(random, array, n, m)
    elif how == 3 and array.dtype.kind in "iuf":
        array[at] += array.dtype.type(random.choice([-1, 1])) if array.dtype.kind != "u" else array.dtype.type(1)
    elif how == 4:
        array[[at, other]] = array[[other, at]]
    elif how == 5:
        random.shuffle(array) if random.integers(2) else array.sort()
    elif how == 6:
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            array = array.astype(DTYPES[int(random.integers(len(DTYPES)))])
    elif how == 7:
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            array = array.view(DTYPES[int(random.integers(len(DTYPES)))])
    elif how == 8:
        array = array[: int(random.integers(len(array)))] if random.integers(2) else np.concatenate((array, array[:1]))
    else:
        array[at] = array[other]
    return array


def mutated(random: np.random.Generator, arrays: Arrays, n: int, m: int) -> None:
    """Change an array, or exchange, copy or leave out arrays."""
    names = sorted(arrays)
    name, other = (names[int(i)] for i in random.integers(len(names), size=2))
    how = int(random.integers(12))
    if how == 0:
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif how == 1:
        arrays[name] = arrays[other]
    elif how == 2 and len(arrays) > 2:
        del arrays[name]
    else:
        arrays[name] = changed(random, arrays[name], n, m)


def graph(random: np.random.Generator) -> fr.Graph:
    """A small graph with some of all that there may be."""
    n, k = int(random.integers(1, 30)), int(random.integers(0, 60))
    weights: Any = [None, random.integers(1, 9, k), random.random(k), random.random(k).astype(np.float32)]
    labels: Any = [None, [f"v{i}" for i in range(n)], np.arange(n) * 7]
    more: Arrays = {"edges": {"kind": np.arange(k)}} if random.integers(3) == 0 else {}
    return fr.from_edges(
        *random.integers(n, size=(2, k)), weights=weights[int(random.integers(4))], num_vertices=n,
        directed=bool(random.integers(2)), duplicates=str(random.choice(["first", "keep"])),
        labels=labels[int(random.integers(3))], vertices={"age": random.random(n)} if random.integers(2) else None,
        **more,
    )  # fmt: skip


# ---- files -----------------------------------------------------------------------------------------------------


def write_frontier(random: np.random.Generator, folder: Path) -> Path:
    g, path = graph(random), folder / "g.frontier"
    fr.write(g, path)
    head = json.loads((path / "graph.json").read_text())
    arrays = {name: np.fromfile(path / noted["file"], noted["dtype"]) for name, noted in head["arrays"].items()}
    for _ in range(int(random.integers(1, 4))):
        if random.integers(6) == 0:
            key = str(random.choice(["vertices", "slots", "directed"]))
            value = head[key]
            head[key] = (not value) if key == "directed" else max(value + int(random.choice([-1, 1, 10**12])), 0)
        else:
            mutated(random, arrays, g.num_vertices, g.num_slots)
    if random.integers(2):  # as many as are said
        head["vertices"], head["slots"] = len(arrays.get("offsets", [0])) - 1, len(arrays.get("targets", []))
    head["arrays"] = {}
    for i, (name, array) in enumerate(arrays.items()):
        content = array.tobytes()
        (path / f"{i}.bin").write_bytes(content)
        noted = {"file": f"{i}.bin", "dtype": array.dtype.str, "length": array.size}
        head["arrays"][name] = {**noted, "crc32": [zlib.crc32(content)] if content else []}
    if random.integers(2):
        head["mark"] = stored._mark(head)
    (path / "graph.json").write_text(json.dumps(head))
    return path


def write_npz(random: np.random.Generator, folder: Path) -> Path:
    g = graph(random)
    arrays: Arrays = {name: np.asarray(array) for name, array in arrays_of(g, "").items()}
    if random.integers(3) == 0:  # the plain layout
        arrays = {"src": np.array(g.sources), "dst": np.array(g.targets), "n": np.array(g.num_vertices)}
        arrays |= {} if g.weights is None else {"weights": np.array(g.weights)}
    for _ in range(int(random.integers(1, 4))):
        mutated(random, arrays, g.num_vertices, g.num_slots)
    np.savez(folder / "g.npz", **arrays)
    return folder / "g.npz"


def write_parquet(random: np.random.Generator, folder: Path) -> Path:
    import pyarrow
    import pyarrow.parquet

    g = graph(random)
    made = io.BytesIO()
    fr.write(g, made, format="parquet")
    table = pyarrow.parquet.read_table(io.BytesIO(made.getvalue()))
    arrays = {name: table.column(name).to_numpy() for name in table.column_names}
    for _ in range(int(random.integers(1, 4))):
        mutated(random, arrays, g.num_vertices, g.num_slots)
    columns: Arrays = {}
    for name, array in arrays.items():
        with contextlib.suppress(pyarrow.ArrowException, ValueError, TypeError):
            column = pyarrow.array(np.ascontiguousarray(array))
            if random.integers(12) == 0:
                kinds = (pyarrow.decimal128(20, 2), pyarrow.date32(), pyarrow.string(), pyarrow.uint64())
                column = column.cast(kinds[int(random.integers(4))])
            if random.integers(12) == 0 and len(column):
                column = pyarrow.concat_arrays([column[:-1], pyarrow.nulls(1, column.type)])
            columns[name] = column
    length = min(map(len, columns.values()), default=0)
    meta = dict(table.schema.metadata or {})
    if random.integers(4) == 0 and meta:
        key = sorted(meta)[0]
        digits = {b"0": b"9", b"1": b"-1", b"2": b"99999999999999999999", b"directed": b"undirected"}
        for old, new in digits.items():
            if old in meta[key]:
                meta[key] = meta[key].replace(old, new, 1)
                break
    wrong = pyarrow.table({name: column[:length] for name, column in columns.items()}).replace_schema_metadata(meta)
    for each in (table, wrong):
        with contextlib.suppress(pyarrow.ArrowException):  # of times that Parquet cannot hold
            pyarrow.parquet.write_table(each, folder / "g.parquet", row_group_size=7)
    return folder / "g.parquet"


WRITERS: dict[str, Callable[[np.random.Generator, Path], Path]] = {
    "frontier": write_frontier, "npz": write_npz, "parquet": write_parquet,
}  # fmt: skip


# ---- what is done with them --------------------------------------------------------------------------------------

_kept: list[mmap.mmap] = []  # as long as a file is at hand


def fenced(array: Any) -> Any:
    """The same array, which ends where a page begins that may not be touched."""
    if array is None or array.size == 0 or array.dtype.hasobject:
        return array
    page = mmap.PAGESIZE
    size = -(-array.nbytes // page) * page
    area = mmap.mmap(-1, size + page)
    _kept.append(area)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(start + size), page, 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    made = np.frombuffer(area, array.dtype, array.size, size - array.nbytes)
    made[:] = array
    return made


def in_fences(g: fr.Graph) -> fr.Graph:
    """The same graph in such arrays, with the in-edges that it has, and without labels: vertices have their ids."""
    made = fr.Graph(fenced(g.offsets), fenced(g.targets), fenced(g.weights), directed=g.directed, check=False)
    built = g._topology.built()
    if "in_lists" in built:
        made._once("in_lists", lambda: (fenced(g.in_offsets), fenced(g.in_sources)))
    if "in_edges" in built:
        made._once("in_edges", lambda: fenced(g.in_edges))
    return made


def check_is_graph(g: fr.Graph) -> None:
    """Assert what makes arrays a graph, edge by edge."""
    offsets, targets = g.offsets.tolist(), g.targets.tolist()
    assert offsets[0] == 0
    assert offsets[-1] == len(targets)
    assert all(a <= b for a, b in itertools.pairwise(offsets))
    rows = [targets[a:b] for a, b in itertools.pairwise(offsets)]
    assert all(0 <= t < g.num_vertices for t in targets)
    assert all(row == sorted(row) for row in rows)
    weights = [1] * len(targets) if g.weights is None else g.weights.tolist()
    assert all(w == w for w in weights)
    edges = [(v, t) for v, row in enumerate(rows) for t in row]
    if not g.directed:
        assert Counter((*e, w) for e, w in zip(edges, weights, strict=True)) == Counter(
            (*e[::-1], w) for e, w in zip(edges, weights, strict=True)
        )
    found = [(s, int(v)) for v in range(g.num_vertices)
             for s in g.in_sources[int(g.in_offsets[v]) : int(g.in_offsets[v + 1])].tolist()]  # fmt: skip
    assert Counter(found) == Counter(edges)
    assert Counter(edges[e] for e in g.in_edges.tolist()) == Counter(edges)
    assert g.labels is None or len(set(g.labels.tolist())) == g.num_vertices


def search(g: fr.Graph) -> None:
    """Search on cpu and in the interpreter, and compare."""
    check_is_graph(g)
    if g.num_vertices == 0:
        return
    here = in_fences(g)
    slow = here.to("python")
    source = int(np.argmax(g.out_degree))
    for direction in ("push", "pull"):
        level = fr.bfs(here, source, schedule=fr.Schedule(direction=direction)).level
        np.testing.assert_array_equal(level, fr.bfs(slow, source).level)
    if g.weights is not None and g.weights.dtype in (np.int64, np.float32, np.float64):
        np.testing.assert_allclose(fr.sssp(here, source).distance, fr.sssp(slow, source).distance)


def use(path: Path, folder: Path, random: np.random.Generator) -> Iterator[fr.Graph]:
    """The graphs that a file makes by all doors."""
    if path.suffix == ".frontier":
        yield fr.open(path, check=None if random.integers(2) else True)
        yield fr.read(path)
    else:
        for options in ({}, {"directed": False}, {"duplicates": "keep"}):
            with contextlib.suppress(fr.FrontierError):
                yield fr.read(path, **options)  # type: ignore[arg-type]
        fr.convert(path, folder / "out.frontier")
        yield fr.open(folder / "out.frontier")


def one(seed: int) -> str:
    """What becomes of a file: its format, and a word; raises what is no error of ours."""
    random = np.random.default_rng(seed)
    kind = FORMATS[seed % len(FORMATS)]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = WRITERS[kind](random, Path(folder))
        count = 0
        try:
            for g in use(path, Path(folder), random):
                count += 1
                with contextlib.suppress(fr.NegativeWeightError):
                    search(g)
        except fr.FrontierError as error:
            if "\n" in str(error):
                raise ValueError(f"more than a line: {error}") from None
        _kept.clear()
    return f"{kind} {'a graph' if count else 'refused'}"


# ---- processes ---------------------------------------------------------------------------------------------------


def child(first: int, count: int) -> None:
    """Do some files, and say before each which it is, and after what became of it."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    for seed in range(first, first + count):
        print(f"begin {seed}", flush=True)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            said = one(seed)
        except Exception as error:
            text = (str(error).splitlines() or [""])[0]
            said = f"{FORMATS[seed % len(FORMATS)]} WRONG {type(error).__name__}: {text}"
        print(f"end {seed} {said}", flush=True)
    faulthandler.cancel_dump_traceback_later()


def run(first: int, count: int, each: int = 500) -> tuple[Counter[str], list[str]]:
    """All files, in processes; what became of them, and what is wrong."""
    found: Counter[str] = Counter()
    wrong: list[str] = []
    at, stop = first, first + count
    while at < stop:
        command = [sys.executable, "-m", "tests.fuzz_files", "--child", str(at), str(min(each, stop - at))]
        given = {**os.environ, "FRONTIER_QUIET": "1", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
        made = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)
        begun = at
        for line in made.stdout.splitlines():
            word, seed, *rest = line.split(" ", 2)
            if word == "begin":
                begun = int(seed)
            elif "WRONG" in rest[0]:
                wrong.append(f"seed {seed}: {rest[0]}")
                found[rest[0].partition(":")[0]] += 1
            else:
                found[rest[0]] += 1
        at = min(at + each, stop)
        if made.returncode != 0:  # after the last that was begun
            wrong.append(f"seed {begun}: ended with {made.returncode}: {made.stderr[-2000:]}")
            found[f"{FORMATS[begun % len(FORMATS)]} CRASHED"] += 1
            at = begun + 1
    return found, wrong


def main(given: list[str] | None = None) -> int:
    """Fuzz; the status is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_files", description=__doc__)
    parser.add_argument("--mutations", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=int, nargs=2)
    options = parser.parse_args(given)
    if options.child:
        child(*options.child)
        return 0
    found, wrong = run(options.seed, options.mutations)
    for line in wrong[:50]:
        print(line)
    print(", ".join(f"{count} {what}" for what, count in sorted(found.items())))
    print(f"{found.total()} files, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
