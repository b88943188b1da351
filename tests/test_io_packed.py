"""Packed files: known by suffix and by content, written again, and refused where they are damaged or bombs."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import struct
import threading
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr
from frontier.io import _packing, _parse

TEXT = b"0 1 5\n1 2 6\n"


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()


def zst(data: bytes) -> bytes:
    out = io.BytesIO()
    try:
        file = _packing._write_zstandard(out)
    except fr.GraphError as error:
        pytest.skip(str(error))
    with file:
        file.write(data)
    return out.getvalue()


PACK: dict[str, Any] = {
    "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zst,
    "zip": lambda data: zipped(("inside.wel", data)),
}  # fmt: skip
STREAMS = [name for name in PACK if name != "zip"]


def weights(graph: fr.Graph) -> list[Any]:
    return list(zip(graph.sources.tolist(), graph.targets.tolist(), graph.weights.tolist(), strict=True))


@pytest.mark.parametrize("packing", PACK)
def test_packed_files_are_known_by_suffix_and_by_content(packing: str, tmp_path: Path) -> None:
    for name in (f"g.wel.{packing}", "g.wel", f"g.txt.{packing.upper()}", "plain", f"h.{packing}"):
        (tmp_path / name).write_bytes(PACK[packing](TEXT))
        assert weights(fr.read(tmp_path / name)) == [(0, 1, 5), (1, 2, 6)]
    assert weights(fr.read(io.BytesIO(PACK[packing](TEXT)), "txt")) == [(0, 1, 5), (1, 2, 6)]
    assert weights(fr.read(io.BytesIO(PACK[packing](TEXT)), f"txt.{packing}")) == [(0, 1, 5), (1, 2, 6)]
    assert fr.read(tmp_path / "g.wel", placement="ranks:2").num_edges == 2
    with pytest.raises(fr.GraphError, match=r"cannot be read in pieces"):
        fr.convert(tmp_path / "g.wel", tmp_path / "g.frontier")


@pytest.mark.parametrize("packing", STREAMS)
@pytest.mark.parametrize("suffix", ["wel", "mtx", "npz"])
def test_what_is_written_is_read_again(packing: str, suffix: str, tmp_path: Path) -> None:
    zst(b"") if packing == "zst" else None
    graph, path = fr.rmat(8, weights=(1, 64), seed=1), tmp_path / f"g.{suffix}.{packing}"
    fr.write(graph, path)
    assert path.read_bytes().startswith(_packing.PACKINGS[packing].begin)
    again = fr.read(path)
    assert (again.targets.tolist(), again.weights.tolist()) == (graph.targets.tolist(), graph.weights.tolist())
    parts = fr.read(path, placement="ranks:3").to("cpu")
    assert parts.targets.tolist() == graph.targets.tolist()
    with pytest.raises(fr.GraphError, match="ZIP archives can be read, not written"):
        fr.write(graph, tmp_path / f"g.{suffix}.zip")


@pytest.mark.parametrize("packing", STREAMS)
def test_frames_one_after_another(packing: str) -> None:
    data = PACK[packing](TEXT[:8]) + PACK[packing](TEXT[8:])
    assert weights(fr.read(io.BytesIO(data), "wel")) == [(0, 1, 5), (1, 2, 6)]
    assert weights(fr.read(io.BytesIO(lzma.compress(TEXT) + bytes(8)), "wel")) == [(0, 1, 5), (1, 2, 6)]


@pytest.mark.parametrize("packing", PACK)
def test_cut_and_damaged_files(packing: str) -> None:
    """Whatever is wrong, it is our error, or all edges are there."""
    whole = PACK[packing](b"".join(b"%d %d 1\n" % (i, i * 7919 % 1009) for i in range(3000)))
    for size in (len(whole) // 2, len(whole) - 3):
        with pytest.raises(fr.GraphError, match=r"expected .*, found (the end|something else)"):
            fr.read(io.BytesIO(whole[:size]), f"wel.{packing}", duplicates="keep")
    refused, messages = 0, list[str]()
    for at in range(0, len(whole), max(len(whole) // 50, 1)):
        bad = bytearray(whole)
        bad[at] ^= 0x55
        try:
            assert fr.read(io.BytesIO(bytes(bad)), f"wel.{packing}", duplicates="keep").num_edges == 3000
        except fr.GraphError as error:
            refused += 1
            messages.append(str(error))
    assert refused > 20
    assert not any("\n" in message for message in messages)
    with pytest.raises(fr.GraphError, match=r"expected .*, found something else"):
        fr.read(io.BytesIO(TEXT * 99), f"wel.{packing}")


@pytest.mark.parametrize("packing", STREAMS)
def test_lines_of_faults(packing: str, tmp_path: Path) -> None:
    (tmp_path / "g.el").write_bytes(PACK[packing](b"0 1\n" * 99 + b"0 x\n"))
    for place in (None, "ranks:2"):
        with pytest.raises(fr.GraphError, match=r"g\.el:100: expected a vertex id.*found 'x'"):
            fr.read(tmp_path / "g.el", placement=place)


# -- bombs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("packing", PACK)
def test_long_texts_are_unpacked_piece_by_piece(
    packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_parse, "_PIECE", 2**17)
    monkeypatch.setattr(_parse, "sparing", lambda count, module: False)
    (tmp_path / "g.el").write_bytes(PACK[packing](b"0 1\n" + b"# nothing\n"))
    fr.read(tmp_path / "g.el")  # compiling takes memory, too
    (tmp_path / "g.el").write_bytes(PACK[packing](b"0 1\n" + (b"#" + b" " * 4094 + b"\n") * 2**13))
    assert (tmp_path / "g.el").stat().st_size < 2**16
    tracemalloc.start()
    try:
        assert fr.read(tmp_path / "g.el").num_edges == 1
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("suffix", ["npz", "el"])
def test_what_does_not_fit_into_memory_is_refused_on_the_way(
    packing: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from frontier.io import _source
    from frontier.memory.host import HOST

    def room(size: int, what: str, way: str) -> None:
        if size > 2**22:
            raise fr.FrontierMemoryError(f"{what}: {size}")

    monkeypatch.setattr(HOST, "check_room", room)
    monkeypatch.setattr(_source, "_LINE", 2**16)
    (tmp_path / f"g.{suffix}.{packing}").write_bytes(PACK[packing](bytes(2**24)))
    with pytest.raises(fr.FrontierMemoryError, match=r"in memory|a line of"):
        fr.read(tmp_path / f"g.{suffix}.{packing}")


def test_xz_gets_no_memory_for_a_huge_dictionary() -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 2**20}]
    data = bytearray(lzma.compress(TEXT, filters=filters))
    header, size = 12, (data[12] + 1) * 4
    data[data.index(b"\x21\x01", header) + 2] = 40  # 4 GiB
    body = bytes(data[header : header + size - 4])
    struct.pack_into("<I", data, header + size - 4, importlib.import_module("zlib").crc32(body))
    with pytest.raises(fr.GraphError, match=r"expected xz data, found something else .*emory"):
        fr.read(io.BytesIO(bytes(data)), "wel.xz")


def test_zip_archives_that_claim() -> None:
    data = bytearray(zipped(("g.wel", TEXT)))
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 2**31)
    with pytest.raises(fr.GraphError, match=r"expected at most [\d,]+ bytes of g\.wel, found a claim of 2,147,483,648"):
        fr.read(io.BytesIO(bytes(data)), "wel")


# -- ZIP archives --------------------------------------------------------------------------


def test_the_file_in_an_archive_says_what_it_is(tmp_path: Path) -> None:
    table = b"follower,followee\n0,1\n"
    (tmp_path / "g.zip").write_bytes(zipped(("folder/", b""), ("folder/g.csv", table)))
    assert fr.read(tmp_path / "g.zip").num_edges == 1
    matrix = b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
    (tmp_path / "g.zip").write_bytes(zipped(("data", matrix)))
    assert fr.read(tmp_path / "g.zip").num_vertices == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped(), "found something else|expected one file in the archive, found 0"),
        (zipped(("a.el", TEXT), ("b.el", TEXT)), "expected one file in the archive, found 2: unpack it first"),
        (zipped(("a.wel", TEXT), method=zipfile.ZIP_LZMA), "packed neither plainly nor by deflate: unpack it first"),
        (zipped(("a.wel", TEXT), method=zipfile.ZIP_STORED)[:-30], "expected a ZIP archive, found something else"),
    ],
    ids=["empty", "two files", "lzma", "cut off"],  # not made of the bytes, in which the time stands
)
def test_archives_that_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(fr.GraphError, match=message):
        fr.read(io.BytesIO(data), "wel.zip")


def test_encrypted_archives() -> None:
    data = bytearray(zipped(("a.wel", TEXT)))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(fr.GraphError, match=r"a\.wel in it is encrypted: unpack it first"):
        fr.read(io.BytesIO(bytes(data)), "wel")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are there on POSIX only")
@pytest.mark.parametrize("packing", PACK)
def test_pipes(packing: str, tmp_path: Path) -> None:
    pipe, data = tmp_path / "pipe.wel", PACK[packing](TEXT)
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True).start()
    if packing == "zip":
        with pytest.raises(fr.GraphError, match=r"the index of a ZIP archive is at its end: pipe \.gz"):
            fr.read(pipe)
    else:
        assert weights(fr.read(pipe)) == [(0, 1, 5), (1, 2, 6)]


def test_zstandard_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nothing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(_packing, "importlib", type("", (), {"import_module": staticmethod(nothing)}))
    with pytest.raises(fr.GraphError, match="pip install zstandard"):
        fr.read(io.BytesIO(b"\x28\xb5\x2f\xfd"), "wel")
    with pytest.raises(fr.GraphError, match="pip install zstandard"):
        fr.write(fr.path(3), tmp_path / "g.el.zst")
    assert not (tmp_path / "g.el.zst").exists()


def test_arrays_are_no_packed_file() -> None:
    out = io.BytesIO()
    np.savez(out, src=[0], dst=[1])
    for format in (None, "npz"):
        assert fr.read(io.BytesIO(out.getvalue()), format).num_edges == 1
    assert fr.read(io.BytesIO(zipped(("g.npz", out.getvalue()))), "npz.zip").num_edges == 1
