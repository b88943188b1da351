"""What other systems take, in milliseconds, and what Frontier aims at; printed beside its own times.

``H200`` was measured in November 2026 on one NVIDIA H200, on these very graphs (the random ones drawn anew): Gunrock's
version of that time with the faster of its balances, cuGraph 26.10 by its C API (BFS: the faster of its two directions;
PageRank to 1e-6 with its own iteration count). A comparison holds on that GPU only. ``ELSEWHERE`` is what publications
say of graphs of the same kind on other hardware.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figures:
    """Milliseconds of one primitive on one graph; None where there is no number."""

    target: float
    gunrock: float | None = None
    cugraph: float | None = None


#: PageRank: Gunrock and the target of one iteration, cuGraph of a whole run. Betweenness: of one source.
H200: dict[str, dict[str, Figures]] = {
    "bfs": {
        "kron21": Figures(0.20, 7.4, 1.85),
        "rmat24": Figures(0.80, 30.0, 3.9),
        "urand23": Figures(1.20, 11.6, 4.3),
        "grid4096": Figures(20, 824, 1337),
        "road-NE": Figures(5, 220, 316),
    },
    "sssp": {
        "kron21": Figures(4, 21.7),
        "rmat24": Figures(12, 70.4),
        "urand23": Figures(12, 56.2),
        "grid4096": Figures(40, 466),
        "road-NE": Figures(10, 134),
    },
    "pagerank": {
        "kron21": Figures(1.0, 2.65, 12.0),
        "rmat24": Figures(4.5, 13.0, 60.0),
        "urand23": Figures(2.2, 4.1, 31.1),
        "grid4096": Figures(0.4, 1.14, 5.9),
        "road-NE": Figures(0.06, 0.36, 6.1),
    },
    "bc": {
        "kron21": Figures(4, 12.0, 23.1),
        "rmat24": Figures(16, None, 146),
        "urand23": Figures(14, None, 82),
        "grid4096": Figures(60, 607, 3261),
        "road-NE": Figures(15, 166, 785),
    },
    "cc": {
        "kron21": Figures(0.6, None, 19.0),
        "rmat24": Figures(2.0, None, 47.9),
        "urand23": Figures(2.5, None, 74.8),
        "grid4096": Figures(2.0, None, 51.6),
        "road-NE": Figures(0.5, None, 31.4),
    },
}

#: The further primitives: the target of a whole call, and the best of other systems (ECL, KCoreGPU, TRUST and its kin,
#: nu-Louvain; kernels alone, except that triangles are with the preparation).
FURTHER: dict[str, dict[str, tuple[float, float | None]]] = {
    "core_numbers": {
        "kron21": (30, 84),
        "rmat24": (60, 181),
        "urand23": (15, None),
        "grid4096": (6, 208),
        "road-NE": (0.4, 0.55),
    },
    "triangles": {
        "kron21": (120, 155),
        "rmat24": (290, 388),
        "grid4096": (2, 4.5),
        "road-NE": (0.3, 0.88),
    },
    "maximal_independent_set": {
        "kron21": (1.1, 1.17),
        "rmat24": (3.2, 3.4),
        "urand23": (2.4, 2.5),
        "grid4096": (1.8, 2.0),
        "road-NE": (0.12, 0.10),
    },
    "color": {
        "kron21": (20, 51.8),
        "rmat24": (40, 101),
        "urand23": (9, 11.5),
        "grid4096": (1.4, 1.5),
        "road-NE": (0.15, 0.09),
    },
    "scc": {
        "kron21": (5, 8.4),
        "rmat24": (18, 29),
        "urand23": (10, 17.3),
        "grid4096": (2.5, 3.3),
        "road-NE": (0.6, 0.69),
    },
    "minimum_spanning_forest": {
        "kron21": (14, 18.5),
        "rmat24": (45, None),
        "urand23": (22, 32.7),
        "grid4096": (15, 620),
        "road-NE": (0.9, 1.0),
    },
    "louvain": {
        "kron21": (300, 653),
        "grid4096": (80, 167),
        "road-NE": (12, 20.5),
    },
    "closure": {"random32768": (500, None), "random65536": (3000, None)},
}
#: Colours of ECL, of which there should not be more, and modularities of nu-Louvain, which should be reached.
COLOURS = {"kron21": 479, "rmat24": 419, "urand23": 15, "grid4096": 5, "road-NE": 5}
MODULARITY = {"grid4096": 0.990, "road-NE": 0.994}

#: Bytes a vertex beyond the graph that a run should not exceed.
BYTES_PER_VERTEX = {"bfs": 24, "sssp": 32, "pagerank": 32, "bc": 40}

#: Primitive, graph of ours that is of the kind, the published graph, milliseconds, on what and by what.
ELSEWHERE = (
    ("bfs", "kron21", "kron_g500-logn21", 1.035, "GV100, Gunrock 1.0, both directions"),
    ("bfs", "rmat24", "rmat_n24_e16", 5.52, "GV100, Gunrock 1.0, best of 1,089 settings"),
    ("sssp", "kron21", "kron_g500-logn21", 48.6, "P100, Gunrock 0.4, weights 1 to 64"),
    ("sssp", "rmat24", "rmat_n24_e16", 200.0, "V100, Gunrock 0.4, weights 1 to 64"),
    ("pagerank", "kron21", "kron_g500-logn21", 12.0, "V100, Gunrock 1.0, one iteration"),
    ("pagerank", "rmat24", "rmat_n24_e16", 104.0, "V100, Gunrock 0.4, one iteration"),
    ("bc", "kron21", "kron_g500-logn21", 61.8, "V100, Gunrock 1.0"),
    ("cc", "kron21", "kron_g500-logn21", 10.3, "P100, Groute"),
    ("cc", "rmat24", "rmat_n24_e16", 117.5, "V100, Gunrock"),
)

#: What Enterprise reports (SC 2015): billions of directed edges a second, and per watt, on a Tesla K40.
ENTERPRISE = {"graph": "Kron-20-512", "gteps": 76.0, "gteps_per_watt": 0.446}


def enterprise(facts: dict[str, Any]) -> list[str]:
    """Lines: what Enterprise reports, what of it can be compared with a table made as ``facts`` say, and what not."""
    protocol, ids = facts["protocol"], facts["ids"]
    alike, other = ["the kind and size of the graph, drawn anew"], ["the GPU"]
    same = (protocol["name"], protocol["sources"], protocol["runs"]) == ("enterprise", 64, 1)
    (alike if same else other).append("64 sources, one call from each, and the mean over them")
    (alike if protocol["kept"] else other).append("loops and duplicates, which are kept and count as edges")
    (alike if ids == 64 else other).append("ids of 64 bits" + f" (here {ids}: see --ids)" * (ids != 64))
    other.append("what is timed: here a whole call from Python that sets up its fields and gives levels and parents")
    return [
        f"published: Enterprise, on a Tesla K40, {ENTERPRISE['graph']}: {ENTERPRISE['gteps']:g} GTEPS, "
        f"{ENTERPRISE['gteps_per_watt']:g} GTEPS/W",
        f"  the same here: {'; '.join(alike)}",
        f"  not the same: {'; '.join(other)}",
    ]


def stops(rows: dict[tuple[str, ...], dict[str, Any]]) -> list[str]:
    """Lines: how many iterations of PageRank a run took, beside whole runs of cuGraph."""
    counts = {
        key[0]: row["iterations"]
        for key, row in rows.items()
        if key[1] == "pagerank" and row.get("graph") in H200["pagerank"] and row["iterations"]
    }
    if not counts:
        return []
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    return [
        f"pagerank beside cuGraph: whole runs to 1e-6. Ours stop when the changes of one iteration sum to less: {told} "
        "iterations. cuGraph stops by a rule of its own; after how many was not recorded."
    ]
