"""Parquet files: written, read whole, and read in parts."""

from __future__ import annotations

import io

import numpy as np
import pytest
from test_divided import same

import frontier as fr
from frontier.distributed.ranks import building
from frontier.io import files, parquet
from frontier.memory import detection

arrow = pytest.importorskip("pyarrow", reason="no PyArrow: pip install .[tables]")
tables = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [None, (1, 9), (0.5, 2.0)])
@pytest.mark.parametrize("group", [300, 1 << 16])
def test_what_is_written_is_read_whole_and_in_parts(directed, weights, group, tmp_path, monkeypatch):
    g = fr.rmat(8, 8, seed=5, directed=directed, weights=weights)
    g = g.with_columns(edges={"year": np.arange(g.num_slots) % 7 * directed})
    path = tmp_path / "graph.parquet"
    monkeypatch.setattr(parquet, "GROUP", group)
    fr.write(g, path)
    whole = fr.read(path)
    for name in ("offsets", "targets"):
        assert np.array_equal(getattr(whole, name), getattr(g, name))
    assert weights is None or np.array_equal(whole.weights, g.weights)
    assert np.array_equal(whole.edges["year"], g.edges["year"])
    monkeypatch.setattr(building, "LEAST", 100)
    monkeypatch.setattr(parquet, "BATCH", 70)
    monkeypatch.setattr(files, "_read", None)  # nothing is read as a whole
    for place in ("ranks:1", "ranks:3"):
        same(fr.read(path, placement=place), whole)


def written(folder, **columns):
    path = folder / "a.parquet"
    tables.write_table(arrow.table(columns), path)
    return path


def test_columns_are_found_by_their_names(tmp_path):
    g = fr.read(written(tmp_path, weight=[5, 6], note=["a", "b"], target=[1, 2], source=[0, 1]))
    assert (g.directed, g.weights.tolist(), g.targets.tolist()) == (True, [5, 6], [1, 2])
    assert g.edges["note"].tolist() == ["a", "b"]
    g = fr.read(written(tmp_path, u=[0, 1], v=[1, 2]), placement="ranks:2")
    assert (g.directed, g.num_edges) == (False, 2)
    g = fr.read(written(tmp_path, here=[0, 1], there=[1, 2]), num_vertices=9)
    assert (g.directed, g.num_vertices) == (True, 9)
    for options in ({"labels": True}, {"placement": "ranks:2"}):
        g = fr.read(written(tmp_path, src=["x", "y"], dst=["y", "z"]), **options)
        assert list(g.labels) == ["x", "y", "z"]


@pytest.mark.parametrize("place", [None, "ranks:2"])
def test_what_is_wrong_is_said(place, tmp_path):
    (tmp_path / "b.parquet").write_bytes(b"no table")
    with pytest.raises(fr.GraphError, match="expected a Parquet file"):
        fr.read(tmp_path / "b.parquet", placement=place)
    with pytest.raises(fr.GraphError, match="a value in each row of the column 'src', found 1 empty"):
        fr.read(written(tmp_path, src=[0, None], dst=[1, 2]), placement=place)
    with pytest.raises(fr.GraphError, match="expected two columns or more"):
        fr.read(written(tmp_path, src=[0]), placement=place)
    with pytest.raises(fr.GraphError, match="must be integers"):
        fr.read(written(tmp_path, src=[0.5], dst=[1.0]), placement=place)
    with pytest.raises(fr.GraphError, match="header is for text"):
        fr.read(written(tmp_path, src=[0], dst=[1]), header=True, placement=place)


def test_decimals(tmp_path):
    from decimal import Decimal

    path = tmp_path / "g.parquet"
    tables.write_table(arrow.table({"src": [Decimal(0)], "dst": [Decimal(2)], "weight": [Decimal("1.5")]}), path)
    graph = fr.read(path)
    assert (graph.sources.tolist(), graph.targets.tolist(), graph.weights.tolist()) == ([0], [2], [1.5])


def test_broken_files_and_columns(tmp_path):
    path = tmp_path / "g.parquet"
    tables.write_table(arrow.table({"src": np.arange(5000), "dst": np.arange(5000)}), path)
    good, rng, refused = path.read_bytes(), np.random.default_rng(1), 0
    for _ in range(200):
        bad = bytearray(good)
        bad[rng.integers(len(bad) * 3 // 4)] ^= 1 << int(rng.integers(8))
        try:
            fr.read(io.BytesIO(bytes(bad)), "parquet", num_vertices=5000)
        except fr.GraphError:
            refused += 1
    assert refused > 20
    tables.write_table(arrow.table({"src": [0], "dst": [1], "weight": [[1, 2]]}), path)
    with pytest.raises(fr.GraphError, match="expected numbers or text in the column 'weight', found list<"):
        fr.read(path)


def test_columns_of_others(tmp_path):
    path = tmp_path / "g.parquet"
    tables.write_table(arrow.table({"Unnamed: 0": [7], "u": [1], "v": [0], "Type": ["Undirected"]}), path)
    graph = fr.read(path)
    assert (graph.directed, graph.num_edges, graph.weights) == (False, 1, None)
    tables.write_table(arrow.table({"src": [0], "dst": [1], "year": [1999]}), path)
    with pytest.warns(fr.FrontierWarning, match="the column 'year' .* not taken for weights"):
        assert fr.read(path).weights is None
    assert fr.read(path, weight="year").weights.tolist() == [1999]
    fr.write(fr.from_edges([0], [1], edges={"cost": [3]}), path)
    assert fr.read(path).weights is None  # as it was written
