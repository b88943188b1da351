"""Folders of Parquet files, read as one table; and Parquet from open files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_divided import same

import frontier as fr
from frontier.distributed.ranks import building
from frontier.io import parquet, parquet_folders

arrow = pytest.importorskip("pyarrow", reason="no PyArrow: pip install .[tables]")
tables = pytest.importorskip("pyarrow.parquet")


def written(path: Path, **columns: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tables.write_table(arrow.table(columns), path)


def slots(graph: fr.Graph) -> list[tuple[Any, ...]]:
    names = range(graph.num_vertices) if graph.labels is None else graph.labels.tolist()
    ends = [[names[v] for v in each.tolist()] for each in (graph.sources, graph.targets)]
    return list(zip(*ends, [] if graph.weights is None else graph.weights.tolist(), strict=True))


def test_files_of_a_folder_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "edges.parquet"  # as Spark and Dask call it
    written(folder / "part-1.parquet", src=[2, 0], dst=[3, 1], weight=[7, 8])
    written(folder / "part-0.snappy.parquet", src=[0, 1], dst=[1, 2], weight=[5, 6])
    written(folder / "_metadata.parquet", other=[1])
    (folder / "_SUCCESS").touch()
    with pytest.warns(fr.FrontierWarning, match="the first is kept"):
        assert slots(fr.read(folder)) == [(0, 1, 5), (1, 2, 6), (2, 3, 7)]
    folder = folder.rename(tmp_path / "folder")
    for options in ({}, {"format": "parquet"}, {"placement": "ranks:2"}):
        graph = fr.read(folder, duplicates="last", num_vertices=9, **options).to("cpu")
        assert (graph.num_vertices, slots(graph)) == (9, [(0, 1, 8), (1, 2, 6), (2, 3, 7)])


def test_folders_of_hive(tmp_path: Path) -> None:
    for year, kind, src in (("1999", "a%20b", 0), ("2007", "__HIVE_DEFAULT_PARTITION__", 1)):
        written(tmp_path / f"year={year}" / f"kind={kind}" / "x.parquet", src=[src], dst=[2], note=["07"])
    graph = fr.read(tmp_path)
    assert graph.edges["year"].tolist() == [1999, 2007]
    assert graph.edges["kind"].tolist() == ["a b", ""]
    assert graph.edges["note"].tolist() == ["07", "07"]
    assert graph.weights is None


def test_columns_and_labels_of_folders(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", follower=["x"], followee=["y"], year=[1])
    written(tmp_path / "b.parquet", follower=["y"], followee=["z"], year=[2])
    with pytest.warns(fr.FrontierWarning, match="the column 'year' is kept") as said:
        graph = fr.read(tmp_path, source="follower", target="followee")
    assert len(said) == 1
    assert graph.labels.tolist() == ["x", "y", "z"]
    assert slots(fr.read(tmp_path, weight="year", labels=True)) == [("x", "y", 1), ("y", "z", 2)]
    (tmp_path / "own").mkdir()
    for n in (3, 5):
        fr.write(fr.path(n), tmp_path / "own" / f"{n}.parquet")
    graph = fr.read(tmp_path / "own")
    assert (graph.directed, graph.num_vertices, graph.num_edges) == (False, 5, 4)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"src": [0], "dst": [1]}, "the same weights in all files, found in some files only"),
        ({"u": [0], "v": [1], "weight": [1]}, "the same directed edges in all files"),
        ({"src": ["a"], "dst": ["b"], "weight": [1]}, "the same names of vertices in all files"),
        ({"src": [0], "dst": [1], "weight": [1], "x": ["y"]}, r"the same columns in all files, found \['x'\] here"),
    ],
)
def test_files_that_differ(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", src=[0], dst=[1], weight=[1])
    written(tmp_path / "b.parquet", **columns)
    with pytest.raises(fr.GraphError, match=rf"b\.parquet: expected {message}"):
        fr.read(tmp_path)


def test_other_folders(tmp_path: Path) -> None:
    for format in (None, "csv", "parquet"):
        with pytest.raises(fr.GraphError, match=r"expected a file, found a folder; only one of \.parquet files"):
            fr.read(tmp_path, format=format)
    written(tmp_path / "a.parquet", src=[0], dst=[1])
    (tmp_path / "b.parquet").write_bytes(b"no table")
    with pytest.raises(fr.GraphError, match=r"b\.parquet: expected a Parquet file, found something else"):
        fr.read(tmp_path)
    with pytest.raises(fr.GraphError, match="header is for text"):
        fr.read(tmp_path, header=True)
    with pytest.raises(fr.GraphError, match="only one of"):
        fr.read(tmp_path, format="csv")


def test_open_files_by_content(tmp_path: Path) -> None:
    written(tmp_path / "data", src=[0], dst=[1], weight=[5])
    with (tmp_path / "data").open("rb") as file:
        assert slots(fr.read(file)) == [(0, 1, 5)]
    assert slots(fr.read(io.BytesIO((tmp_path / "data").read_bytes()))) == [(0, 1, 5)]
    archive = io.BytesIO()
    np.savez(archive, src=[0], dst=[1], weights=[5])
    assert slots(fr.read(io.BytesIO(archive.getvalue()))) == [(0, 1, 5)]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("weights", [None, (1, 9)])
@pytest.mark.parametrize("directed", [False, True])
def test_ranks_read_rows_of_their_own(
    directed: bool, weights: Any, parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of files of any number of rows, none or some more than a batch; the edges come in the same order."""
    g = fr.rmat(9, 16, seed=5, directed=directed, weights=weights)
    kept = slice(None) if directed else g.sources <= g.targets
    src, dst = g.sources[kept], g.targets[kept]
    for number, cut in enumerate(np.array_split(np.arange(len(src)), 5)):
        rows = {"src": src[cut], "dst": dst[cut], "note": cut}
        if weights is not None:
            rows["weight"] = g.weights[kept][cut]
        written(tmp_path / f"year={number % 2}" / f"{number}.parquet", **rows)
    written(tmp_path / "year=0" / "9.parquet", **{name: values[:0] for name, values in rows.items()})
    weight = None if weights else False
    whole = fr.read(tmp_path, directed=directed, weight=weight)
    monkeypatch.setattr(building, "LEAST", 100)  # many pieces
    monkeypatch.setattr(parquet, "BATCH", 64)
    monkeypatch.setattr(parquet_folders, "read", None)  # nothing is read as a whole
    found = fr.read(tmp_path, directed=directed, weight=weight, placement=f"ranks:{parts}")
    same(found, whole)
    for name in ("note", "year"):
        assert np.array_equal(found.edges[name], whole.edges[name])


def test_a_folder_that_ranks_cannot_divide_is_read_whole(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", src=["x"], dst=["y"])
    written(tmp_path / "b.parquet", src=["y"], dst=["z"])
    assert fr.read(tmp_path, placement="ranks:2").labels.tolist() == ["x", "y", "z"]
    written(tmp_path / "b.parquet", src=["y"], dst=["z"], weight=[1])
    with pytest.raises(fr.GraphError, match=r"b\.parquet: expected the same weights in all files"):
        fr.read(tmp_path, placement="ranks:2")
