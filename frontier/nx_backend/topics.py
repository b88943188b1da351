"""Which functions of NetworkX there are, by the module of this package that has them. Imports nothing."""

from __future__ import annotations

__all__ = ["MODULE_OF", "TOPICS"]

TOPICS = {
    "traversal": (
        "ancestors bfs_edges bfs_layers bfs_predecessors bfs_successors bfs_tree descendants descendants_at_distance"
    ),
    "paths": (
        "all_pairs_shortest_path all_pairs_shortest_path_length average_shortest_path_length "
        "bidirectional_shortest_path global_efficiency has_path predecessor shortest_path shortest_path_length "
        "single_source_shortest_path single_source_shortest_path_length single_target_shortest_path "
        "single_target_shortest_path_length wiener_index"
    ),
    "weighted": (
        "all_pairs_dijkstra all_pairs_dijkstra_path all_pairs_dijkstra_path_length bidirectional_dijkstra "
        "dijkstra_path dijkstra_path_length dijkstra_predecessor_and_distance floyd_warshall floyd_warshall_numpy "
        "multi_source_dijkstra multi_source_dijkstra_path multi_source_dijkstra_path_length single_source_dijkstra "
        "single_source_dijkstra_path single_source_dijkstra_path_length"
    ),
    "bellman_ford": (
        "all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length bellman_ford_path bellman_ford_path_length "
        "find_negative_cycle goldberg_radzik johnson negative_edge_cycle "
        "single_source_bellman_ford single_source_bellman_ford_path single_source_bellman_ford_path_length"
    ),
    "every_path": "all_pairs_all_shortest_paths all_shortest_paths single_source_all_shortest_paths",
    "distances": "barycenter center diameter eccentricity periphery radius",
    "ranking": "eigenvector_centrality hits katz_centrality pagerank",
    "centrality": (
        "betweenness_centrality betweenness_centrality_subset closeness_centrality edge_betweenness_centrality "
        "harmonic_centrality"
    ),
    "degrees": "degree_assortativity_coefficient degree_centrality in_degree_centrality out_degree_centrality",
    "links": "adamic_adar_index jaccard_coefficient preferential_attachment resource_allocation_index",
    "components": (
        "articulation_points attracting_components biconnected_component_edges biconnected_components bridges "
        "condensation connected_components has_bridges is_attracting_component is_biconnected is_connected is_forest "
        "is_strongly_connected is_tree is_weakly_connected node_connected_component "
        "number_attracting_components number_connected_components "
        "number_strongly_connected_components number_weakly_connected_components strongly_connected_components "
        "weakly_connected_components"
    ),
    "cores": "core_number k_core k_corona k_crust k_shell k_truss onion_layers",
    "triangles": "average_clustering clustering square_clustering transitivity triangles",
    "communities": (
        "asyn_lpa_communities fast_label_propagation_communities label_propagation_communities leiden_communities "
        "leiden_partitions louvain_communities louvain_partitions modularity"
    ),
    "selections": (
        "greedy_color maximal_independent_set maximal_matching maximum_spanning_edges maximum_spanning_tree "
        "minimum_spanning_edges minimum_spanning_tree"
    ),
    "acyclic": (
        "is_directed_acyclic_graph topological_generations topological_sort transitive_closure"
    ),
    "flow": "maximum_flow maximum_flow_value minimum_cut minimum_cut_value",
}

MODULE_OF = {name: topic for topic, names in TOPICS.items() for name in names.split()}
