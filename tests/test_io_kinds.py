"""Files as Gephi, Pajek and collections of graphs write them, with all that stands around the edges."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import frontier as fr

#: What Gephi 0.10 exports as a table of edges.
GEPHI_CSV = """Source,Target,Type,Id,Label,timeset,Weight
ann,bob,Undirected,0,,,1.0
bob,"Smith, Cid",Undirected,1,friend,,2.5
"""

GEPHI_GEXF = """<?xml version='1.0' encoding='UTF-8'?>
<gexf xmlns="http://gexf.net/1.3" version="1.3" xmlns:viz="http://gexf.net/1.3/viz"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://gexf.net/1.3 http://gexf.net/1.3/gexf.xsd">
  <meta lastmodifieddate="2026-11-01"><creator>Gephi 0.10.1</creator><title></title></meta>
  <graph defaultedgetype="undirected" mode="static">
    <attributes class="node" mode="static">
      <attribute id="modularity_class" title="Modularity" type="integer"/></attributes>
    <nodes>
      <node id="ann" label="Ann"><attvalues><attvalue for="modularity_class" value="1"/></attvalues>
        <viz:size value="10.0"/><viz:position x="-3.5" y="7.25"/><viz:color r="192" g="192" b="192"/></node>
      <node id="bob" label="Bob"/>
      <node id="Smith, Cid" label="Cid"/>
    </nodes>
    <edges>
      <edge id="0" source="ann" target="bob" weight="1.0"/>
      <edge id="1" source="bob" target="Smith, Cid" weight="2.5"/>
    </edges>
  </graph>
</gexf>
"""

GEPHI_GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="label" attr.type="string" for="node" id="label"/>
<key attr.name="weight" attr.type="double" for="edge" id="weight"/>
<key attr.name="r" attr.type="int" for="node" id="r"/>
<graph edgedefault="undirected">
<node id="ann"><data key="label">Ann</data><data key="r">192</data></node>
<node id="bob"><data key="label">Bob</data></node>
<node id="Smith, Cid"/>
<edge id="0" source="ann" target="bob"><data key="weight">1.0</data></edge>
<edge id="1" source="bob" target="Smith, Cid"><data key="weight">2.5</data></edge>
</graph>
</graphml>
"""

#: What Pajek writes: coordinates after the names, colours after the weights.
PAJEK = """*Network three people
*Vertices 3
1 "ann" 0.1000 0.2000 0.5000
2 "bob" 0.3000 0.4000 0.5000
3 "Smith, Cid" 0.5000 0.6000 0.5000
*Edges
1 2 1.0
2 3 2.5
"""


@pytest.mark.parametrize(
    ("suffix", "text", "options"),
    [
        ("csv", GEPHI_CSV, {}), ("csv", GEPHI_CSV.replace(",", ";").replace("Smith;", "Smith,"), {}),
        ("gexf", GEPHI_GEXF, {}), ("graphml", GEPHI_GRAPHML, {}), ("net", PAJEK, {}),
    ],
)  # fmt: skip
def test_people(tmp_path: Path, suffix: str, text: str, options: dict[str, Any]) -> None:
    if suffix != "csv":
        pytest.importorskip("networkx", reason="NetworkX, which reads it, is not installed")
    path = tmp_path / f"people.{suffix}"
    path.write_text(text)
    g = fr.read(path, **options)
    assert not g.directed
    assert g.num_edges == 2
    assert set(g) == {"ann", "bob", "Smith, Cid"}
    assert sorted(g.neighbors("bob")) == ["Smith, Cid", "ann"]
    assert sorted(set(g.weights.tolist())) == [1.0, 2.5]
    if suffix == "gexf":
        assert (g.vertices["x"][0], g.vertices["y"][0]) == (-3.5, 7.25)


NETWORK_REPOSITORY_MTX = """%%MatrixMarket matrix coordinate pattern symmetric
%-------------------------------------------------------------------------------
% UF Sparse Matrix Collection, Tim Davis
% name: Newman/dolphins
%-------------------------------------------------------------------------------
4 4 3
2 1
3 1
4 3
"""

NETWORK_REPOSITORY_WEIGHTED = """%%MatrixMarket matrix coordinate real general
4 4 3
1 2 0.5
1 3 1.5
3 4 -2e0
"""

#: The header of KONECT has the kind, then the numbers of edges and vertices; ids count from 1.
KONECT = "% sym positive\n% 3 4 4\n1 2 5 1085432100\n1 3 2 1085432200\n3 4 1 1085432300\n"

SNAP = """# Undirected graph: ../../data/output/amazon.ungraph.txt
# Amazon
# Nodes: 4 Edges: 3
# FromNodeId\tToNodeId
0\t1
0\t2
2\t3
"""

#: Of the tenth DIMACS challenge: METIS with a comment, weights of edges, ids from 1.
METIS = "% dolphins\n4 3 001\n2 5 3 2\n1 5\n1 2 4 1\n3 1\n"


def test_collections() -> None:
    def read(text: str, format: str, **options: Any) -> fr.Graph:
        return fr.read(io.BytesIO(text.encode()), format, **options)

    expected = {frozenset(edge) for edge in ((0, 1), (0, 2), (2, 3))}

    def edges(g: fr.Graph, base: int = 0) -> set[frozenset[int]]:
        return {frozenset((u - base, v - base)) for u, v in zip(g.sources.tolist(), g.targets.tolist(), strict=True)}

    symmetric = read(NETWORK_REPOSITORY_MTX, "mtx")
    assert not symmetric.directed
    assert symmetric.weights is None
    assert edges(symmetric) == expected
    general = read(NETWORK_REPOSITORY_WEIGHTED, "mtx")
    assert general.directed
    assert general.weights.tolist() == [0.5, 1.5, -2.0]
    konect = read(KONECT, "txt")
    assert not konect.directed
    assert edges(konect, base=1) == expected
    assert sorted(set(konect.edges["time"].tolist())) == [1085432100, 1085432200, 1085432300]
    snap = read(SNAP, "txt")
    assert not snap.directed
    assert edges(snap) == expected
    metis = read(METIS, "graph")
    assert edges(metis) == expected
    assert sorted(set(metis.weights.tolist())) == [1, 2, 5]
    for text in ("1,2\n1,3\n3,4\n", "1 2\n1 3\n3 4\n", "% asym unweighted\n1 2\n1 3\n3 4\n", "1 2 1\n1 3 1\n3 4 1\n"):
        assert edges(read(text, "edges"), base=1) == expected
