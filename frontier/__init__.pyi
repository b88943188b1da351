"""The public names of Frontier. Written by tools/make_stub.py from the table in ``__init__.py``."""

from frontier import (
    backends as backends,
    datasets as datasets,
    generators as generators,
    io as io,
    operators as operators,
    plot as plot,
    primitives as primitives,
    verify as verify,
)
from frontier.batched_sources import (
    BatchedSources as BatchedSources,
)
from frontier.distributed.clusters import (
    Cluster as Cluster,
    cluster as cluster,
)
from frontier.distributed.partition.partition import (
    Partition as Partition,
    partition as partition,
)
from frontier.errors import (
    BackendUnavailableError as BackendUnavailableError,
    DeviceLostError as DeviceLostError,
    DeviceMemoryError as DeviceMemoryError,
    FrontierError as FrontierError,
    FrontierMemoryError as FrontierMemoryError,
    FrontierWarning as FrontierWarning,
    FunctorError as FunctorError,
    GraphError as GraphError,
    NegativeCycleError as NegativeCycleError,
    NegativeWeightError as NegativeWeightError,
    NotConvergedError as NotConvergedError,
    RanksError as RanksError,
    RunTimeoutError as RunTimeoutError,
    VerificationError as VerificationError,
)
from frontier.functors.adjacency import (
    degree as degree,
    neighbours as neighbours,
    source as source,
    target as target,
    weight as weight,
)
from frontier.functors.atomics import (
    atomic_add as atomic_add,
    atomic_cas as atomic_cas,
    atomic_exch as atomic_exch,
    atomic_max as atomic_max,
    atomic_min as atomic_min,
    atomic_or as atomic_or,
)
from frontier.functors.functor import (
    function as function,
)
from frontier.functors.numbers import (
    hash as hash,
    random as random,
)
from frontier.functors.scratch import (
    scratch as scratch,
)
from frontier.generators import (
    complete as complete,
    grid as grid,
    karate as karate,
    path as path,
    rmat as rmat,
    small_world as small_world,
    star as star,
    tree as tree,
    urand as urand,
)
from frontier.graph.build import (
    from_csr as from_csr,
    from_edges as from_edges,
)
from frontier.graph.convert_libraries import (
    from_graph_tool as from_graph_tool,
    from_graphblas as from_graphblas,
    from_igraph as from_igraph,
    from_networkit as from_networkit,
    from_pyg as from_pyg,
    from_rustworkx as from_rustworkx,
    to_pyg as to_pyg,
)
from frontier.graph.convert_networkx import (
    from_networkx as from_networkx,
    to_networkx as to_networkx,
)
from frontier.graph.convert_sparse import (
    from_scipy as from_scipy,
    to_scipy as to_scipy,
)
from frontier.graph.convert_tables import (
    from_arrow as from_arrow,
    from_pandas as from_pandas,
    from_polars as from_polars,
    to_arrow as to_arrow,
    to_pandas as to_pandas,
    to_polars as to_polars,
)
from frontier.graph.graph import (
    Graph as Graph,
)
from frontier.io import (
    convert as convert,
    open as open,
    read as read,
    register_format as register_format,
    write as write,
)
from frontier.memory.placement import (
    Placement as Placement,
)
from frontier.native.threads import (
    num_threads as num_threads,
    set_num_threads as set_num_threads,
)
from frontier.operators import (
    Advance as Advance,
    Buckets as Buckets,
    Compute as Compute,
    Filter as Filter,
    Gather as Gather,
    Intersect as Intersect,
    Put as Put,
    Reduce as Reduce,
    Scan as Scan,
    Set as Set,
    Split as Split,
    Swap as Swap,
    Take as Take,
    Unique as Unique,
)
from frontier.operators.advance.sample import (
    sample as sample,
)
from frontier.operators.eager import (
    advance as advance,
    buckets as buckets,
    compute as compute,
    filter as filter,
    gather as gather,
    intersect as intersect,
    put as put,
    reduce as reduce,
    scan as scan,
    set as set,
    split as split,
    swap as swap,
    take as take,
    unique as unique,
)
from frontier.operators.shared.register import (
    register_reduction as register_reduction,
)
from frontier.operators.shared.semirings import (
    relax as relax,
    semiring as semiring,
)
from frontier.primitives.articulation_points import (
    articulation_points as articulation_points,
)
from frontier.primitives.bc import (
    betweenness as betweenness,
)
from frontier.primitives.bellman_ford import (
    bellman_ford as bellman_ford,
)
from frontier.primitives.bfs import (
    bfs as bfs,
)
from frontier.primitives.bfs_many import (
    bfs_many as bfs_many,
)
from frontier.primitives.biconnected_components import (
    biconnected_components as biconnected_components,
)
from frontier.primitives.bridges import (
    bridges as bridges,
)
from frontier.primitives.cc import (
    connected_components as connected_components,
)
from frontier.primitives.closeness import (
    closeness as closeness,
)
from frontier.primitives.clustering import (
    clustering as clustering,
)
from frontier.primitives.color import (
    color as color,
)
from frontier.primitives.condensation import (
    condensation as condensation,
)
from frontier.primitives.core_numbers import (
    core_numbers as core_numbers,
)
from frontier.primitives.degree_assortativity import (
    degree_assortativity as degree_assortativity,
)
from frontier.primitives.diameter import (
    diameter as diameter,
)
from frontier.primitives.eccentricity import (
    eccentricity as eccentricity,
)
from frontier.primitives.edge_betweenness import (
    edge_betweenness as edge_betweenness,
)
from frontier.primitives.eigenvector import (
    eigenvector_centrality as eigenvector_centrality,
)
from frontier.primitives.harmonic import (
    harmonic as harmonic,
)
from frontier.primitives.hits import (
    hits as hits,
)
from frontier.primitives.jaccard import (
    jaccard as jaccard,
)
from frontier.primitives.johnson import (
    johnson as johnson,
)
from frontier.primitives.k_truss import (
    k_truss as k_truss,
)
from frontier.primitives.katz import (
    katz as katz,
)
from frontier.primitives.label_propagation import (
    label_propagation as label_propagation,
)
from frontier.primitives.layout import (
    layout as layout,
)
from frontier.primitives.leiden import (
    leiden as leiden,
)
from frontier.primitives.link_prediction import (
    link_prediction as link_prediction,
)
from frontier.primitives.louvain import (
    louvain as louvain,
)
from frontier.primitives.max_flow import (
    max_flow as max_flow,
)
from frontier.primitives.maximal_independent_set import (
    maximal_independent_set as maximal_independent_set,
)
from frontier.primitives.maximal_matching import (
    maximal_matching as maximal_matching,
)
from frontier.primitives.minimum_spanning_forest import (
    minimum_spanning_forest as minimum_spanning_forest,
)
from frontier.primitives.modularity import (
    modularity as modularity,
)
from frontier.primitives.node2vec import (
    node2vec_walks as node2vec_walks,
)
from frontier.primitives.onion_layers import (
    onion_layers as onion_layers,
)
from frontier.primitives.pagerank import (
    pagerank as pagerank,
)
from frontier.primitives.personalized import (
    personalized_pagerank as personalized_pagerank,
)
from frontier.primitives.predecessors import (
    predecessors as predecessors,
)
from frontier.primitives.salsa import (
    salsa as salsa,
)
from frontier.primitives.sample_neighbors import (
    sample_neighbors as sample_neighbors,
)
from frontier.primitives.scc import (
    strongly_connected_components as strongly_connected_components,
)
from frontier.primitives.shortest_path import (
    shortest_path as shortest_path,
)
from frontier.primitives.square_clustering import (
    square_clustering as square_clustering,
)
from frontier.primitives.sssp import (
    sssp as sssp,
)
from frontier.primitives.sssp_many import (
    sssp_many as sssp_many,
)
from frontier.primitives.subgraph_match import (
    subgraph_match as subgraph_match,
)
from frontier.primitives.topological_order import (
    topological_order as topological_order,
)
from frontier.primitives.transitive_closure import (
    transitive_closure as transitive_closure,
)
from frontier.primitives.triangles import (
    triangles as triangles,
)
from frontier.primitives.walks import (
    random_walks as random_walks,
)
from frontier.primitives.who_to_follow import (
    who_to_follow as who_to_follow,
)
from frontier.program.effects import (
    effects as effects,
)
from frontier.program.enactor import (
    Enactor as Enactor,
)
from frontier.program.frontiers import (
    Frontier as Frontier,
)
from frontier.program.loop import (
    Loop as Loop,
    Sequence as Sequence,
)
from frontier.program.order import (
    Order as Order,
    by as by,
)
from frontier.program.problem import (
    Problem as Problem,
    array as array,
    edge as edge,
    pile as pile,
    scalar as scalar,
    vertex as vertex,
)
from frontier.program.registered import (
    register_balance as register_balance,
    register_switch as register_switch,
)
from frontier.program.schedule import (
    Schedule as Schedule,
)
from frontier.results import (
    Result as Result,
)
from frontier.tracing import (
    trace as trace,
)

__version__: str
