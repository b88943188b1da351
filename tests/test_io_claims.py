"""Files that claim more than they hold are refused before any memory is taken for it."""

from __future__ import annotations

import gzip
import io
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr

GIB = 2**30


def header(shape: tuple[int, ...], dtype: str = "<i8") -> bytes:
    """The beginning of a .npy file."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": dtype, "fortran_order": False, "shape": shape})
    return out.getvalue()


def archive(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name, content in members.items():
            made.writestr(f"{name}.npy", content)
    return out.getvalue()


def small(values: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(values))
    return out.getvalue()


def lying(data: bytes, size: int) -> bytes:
    """The archive with another uncompressed size of its first member, in both of its places."""
    local, central = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    made = bytearray(data)
    struct.pack_into("<I", made, local + 22, size)
    struct.pack_into("<I", made, central + 24, size)
    return bytes(made)


ARCHIVES = {
    "shape": archive({"offsets": header((8 * GIB,)), "targets": small([1])}),
    "shape of two": archive({"offsets": header((2**20, 2**13)), "targets": small([1])}),
    "labels": archive({"offsets": small([0, 1]), "targets": small([0]), "labels": header((2**10,), "<U80000000")}),
    "shape beyond 64 bits": archive({"src": header((2**62, 2**62)), "dst": small([1])}),
    "size": lying(archive({"src": header((GIB // 3,)), "dst": small([1])}, zipfile.ZIP_DEFLATED), 8 * (GIB // 3) + 128),
    "size where stored": lying(archive({"src": header((GIB // 3,)), "dst": small([1])}), 8 * (GIB // 3) + 128),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("data", ARCHIVES.values(), ids=ARCHIVES)
def test_archive_that_claims(tmp_path: Path, data: bytes, zipped: bool) -> None:
    assert len(data) < 1000
    path = tmp_path / ("g.npz.gz" if zipped else "g.npz")
    path.write_bytes(gzip.compress(data) if zipped else data)
    tracemalloc.start()
    try:
        with pytest.raises(fr.GraphError) as caught:
            fr.read(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert message.startswith(f"{path}: expected ")
    assert ".npy" in message
    assert "found " in message
    assert "\n" not in message


def test_archives_that_are_well_packed_are_read(tmp_path: Path) -> None:
    zeros = np.zeros(2**22, np.int64)
    np.savez_compressed(tmp_path / "g.npz", src=zeros, dst=zeros, n=5)
    assert (tmp_path / "g.npz").stat().st_size < zeros.nbytes // 500
    assert fr.read(tmp_path / "g.npz").num_vertices == 5


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n9 9 1000000000000\n1 2\n", 2, "entries"),
        ("g.gr", "p sp 9 1000000000000\na 1 2 3\n", 1, "arcs"),
        ("g.graph", "1000000000000 1\n2\n1\n", 1, "vertices"),
        ("g.graph", "2 1000000000000\n2\n1\n", 1, "edges"),
    ],
)
def test_text_that_claims(tmp_path: Path, name: str, text: str, line: int, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(fr.GraphError, match=rf"{name}:{line}: expected at most \d+ {message}.*found 1000000000000"):
        fr.read(tmp_path / name)


@pytest.mark.parametrize("name", ["g.mtx", "g.gr"])
def test_vertices_that_no_memory_holds(tmp_path: Path, name: str) -> None:
    n = 10**15
    head = f"%%MatrixMarket matrix coordinate pattern general\n{n} {n} 1\n1 2\n"
    (tmp_path / name).write_text(head if name == "g.mtx" else f"p sp {n} 1\na 1 2 3\n")
    with pytest.raises(fr.GraphError, match=rf"{name}: .*{n} vertices.*GiB"):
        fr.read(tmp_path / name)
