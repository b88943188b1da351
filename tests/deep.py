"""Tests that the short suite leaves out, and which of its tests catch the faults that they would find.

``python -m pytest`` runs the short suite, ``python -m pytest -m ""`` every test. What is left out here repeats the core
elsewhere: on more parts, with more dtypes and schedules, through the command line, in processes of its own, on large
graphs. That no fault slips through is tried by planting some: ``python tools/mutants.py``.
"""

from __future__ import annotations

import functools
import re
import zlib

__all__ = ["caught_by", "sampled_out"]

#: Pattern of "module::test[parameters]", without "test_" and ".py" of the module -> who else catches its faults.
DEEP = {
    # several machines
    r"grids::test_(random_programs|sixteen_parts)": "grids::test_primitives_are_the_same, test_advances_touch_ends",
    r"grids::test_(primitives|graphs_made).*(6,|3x1|directed, 64)": "the same on ranks:4,2d",
    r"grids::test_reductions.*(min|max|or|any|sum)-": "the same with all and argmin, argmax",
    r"ranks::test_(random_programs|an_order_saves)": "ranks::test_primitives_are_the_same",
    r"divided::test_(random_programs|results_are_verified|graph500)": "divided::test_primitives_are_the_same",
    r"divided::test_primitives.*(True|ranks:[14]\])": "the same on ranks:3",
    r"sparse_offsets::test_(primitives_are_the_same.*(6|16|4,2x2\])|offsets_and_ids)": "the same on ranks:4,2x2,python",
    r"ghosts::test_edges.*ranks:\d\]": "the same on ranks:3,python",
    r"(shortest_path|who_to_follow|minimum_spanning_forest|scc|core_numbers|color|closeness|maximal_\w+)::test_parts":
        "ranks::test_primitives_are_the_same: the operators are the same",
    r"(bfs_many|walks|rows_in_parts|label_propagation)::test_(parts|on_parts|ranks)":
        "rows_in_parts::test_an_advance, ranks::test_primitives_are_the_same",
    r"(ranks_counting|primitives_in_parts|ranks_arrival|rows_in_parts::test_rows_are_told)": "ranks_merging",
    r"divided_reading::test_files_that_are_wrong": "divided_reading::test_a_file_is_read_in_parts_as_it_is_read_whole",
    r"graph500::": "graph500's parts: divided_reading, verify, generators",
    r"examples::test_example_(in_parts|on_scattered)": "examples::test_example, and ranks",
    # processes of their own, full disks, signals, limits
    r"memory_limits::test_(limited_process|command_line)": "memory, device_missing: the estimates that refuse",
    r"raising::test_ctrl_c": "raising::test_every_kind_of_exception_in_every_place, and tests/raising.py",
    r"interrupts::": "raising, enactor::test_a_run_stopped_at_every_pass",
    r"cache::test_(helpers_of|files_that|a_folder_that|one_process|a_limit|code_of)": "cache::test_damaged_files",
    r"concurrency::test_(damaged|two_processes|a_cache)": "cache::test_damaged_files, test_a_full_disk",
    r"compiling::test_(compiling_is|reading_and|the_command)": "compiling::test_loops_on_equal_problems",
    r"startup::test_a_(warm_process|functor)": "startup's lists of modules",
    r"(semirings|registered_reductions)::test_(code_is_kept|another_process)": "cache, effects",
    r"faults::test_(a_file_that_is_cut_off|other_signals)": "faults::test_what_is_gone_is_read_as_zeros",
    r"io_streams::.*(gz|npz|buffer)": "the same of text, and io_roundtrip",
    r"(kernels::test_code_of|generators::test_small_graphs|fuzz_|torchrun|editable)": "cache, programs",
    r"cli_clumsy::test_(pipes|standard_output|readers|file_without|names_that)": "cli::test_mistakes_are_one_line",
    # the command line, documents and tools
    r"warm::test_(first_calls|every_primitive.*(max_flow|cond|topo|short))": "cache, and warm::test_every_primitive",
    r"benchmarks::": "the functions that benchmarks call have tests of their own",
    r"compiling::test_few|layout::test_readme": "docs_blocks of the README",
    r"layout::test_(figures|the_files|imports|every_cache)": "nobody: they look at the repository",
    r"cli::test_primitives_run": "cli::test_primitives_verified, on python; the primitives' tests",
    r"cli::test_primitives_verified.*cpu": "the same on python",
    r"installed_packages::test_(?!primitives)": "installed_packages::test_primitives, and the registers' tests",
    r"graph_layouts::test_(numbers_of_threads|space|what_is_no_grid|distances.*(long|large))":
        "graph_layouts::test_distances of a square",
    r"(result_tables|residences)::.*layout": "graph_layouts, and the same of other primitives",
    r"louvain::test_(node_weights|directed_modularity).*leiden": "the same of louvain",
    r"(minimum_spanning_forest|scc)::test_any_graph.*cpu": "the same on python, and their other tests on cpu",
    r"transitive_closure::test_special_graphs.*cpu": "the same on python, and test_many_graphs",
    r"deferred::test_the_example": "the other tests of deferred",
    r"looking_around::test_in_edges_of_compressed.*cpu": "looking_around::test_in_edges, compressed",
    r"communities::test_float_weights.*leiden|label_propagation::test_edges_by.*cpu-float64": "louvain, int64",
    r"docstring_examples::test_example": "the tests of what they show",
    r"docs_blocks::test_blocks.docs/(?!quickstart|tutorials/bfs|functors)": "examples, and the tests of what they show",
    r"examples::test_example.cpu-(?!bfs|sssp|betweenness)": "the same on python",
    # large and real graphs
    r"data_primitives::|ldbc::|io_roundtrip::test_real": "the primitives' tests on random graphs",
    r"::test_(a_)?real_graphs?|several_workers_on_larger|four_workers_on_larger|::test_larger": "small ones",
    r"leiden::test_(communities_are_connected|graphs_in_parts)|louvain::test_tables_that": "leiden::test_the_same",
    r"louvain::test_unsigned.*(uint8|uint16|leiden)": "the same with uint32",
    r"sssp_many::test_all_pairs.cpu": "the same on python",
    r"(limited_searches::test_(?!levels)|bellman_ford::|closeness::test_by|eccentricity::test_by).*cpu": "on python",
    r"(closeness|eccentricity)::test_by_weights.*float64": "the same with int32",
    r"(limited_searches|bellman_ford)::test_parts|bellman_ford::test_several": "ranks::test_primitives_are_the_same",
    r"networkx_backend::test_results.*\[(?!bfs_edges|k_core|is_tree|single_source_short)": "the primitives' tests",
    r"networkx_backend::test_(what_is_drawn|random_graphs|flows|paths_are_shortest|spanning|hubs|components)":
        "networkx_backend::test_results, and the primitives' tests",
    r"build::test_many_edges.*(few|(True|False)-(first|last|min|max))": "the same with many edges, sum and keep",
    r"check::test_what_is_right": "check::test_a_wrong_access",
    # the same with other dtypes, schedules, layouts
    r"residences::test_on_the_cpu.(compressed|disk-(?!bfs|sssp|pagerank|conn))": "disk::test_the_same",
    r"order::test_shortest_paths.*(float32|int64|width|by_distance|delta=4).*": "the same by distance, of doubles",
    r"order::test_(who_waits|until_ends|keys_that|infinite).*cpu-near_far": "the same in buckets",
    r"order::test_who_waits.*cpu-buckets-int64": "the same of doubles",
    r"pairs::test_parents.*cpu-(Paths|Near)-(uint32|int64)": "the same with other dtypes",
    r"pairs::test_every_access.*float32": "the same with doubles",
    r"arithmetic::test_operators.cpu-(half|zero|less|three|bool|captured|\w+ (half|three|zero|less|captured|int8))":
        "the same with other pairs of types",
    r"advance::test_backends_agree.cpu-(in where|few names|weights|edges|nothing|first two)-.*-edge": "of vertices",
    r"advance::test_backends_agree.cpu-.*(thread|auto)-edge": "the same of vertices",
    r"words::test_(neighbours.*(int16|int32)|the_edge.*argmax)": "the same with float32, and argmin",
    r"stale::test_changes.*cpu-by_(?!global|njit|dtype)": "the same on python",
    r"semirings::test_(relaxing|products).cpu-(max_and|or_first|min_max|min_first|max_first)": "other semirings",
    r"(compressed::test_primitives.cpu-(?!bfs|sssp)|memory::test_arrays_of_a_call.*int64)": "bfs, sssp, int32",
    r"scan::test_in_a_loop.*(pull|not fused)": "the same pushed",
    r"walks::test_walks_follow.*cpu-.*weighted": "the same without weights",
    r"registered_reductions::test_lists_of_all_lengths.cpu-2": "the same with one worker",
    r"order::test_(exact|runs|core|edges).*cpu-near_far": "the same in buckets",
    r"grids::test_(edges_have|advances).*(in-ranks|edge-out|True-)": "the same along out-edges",
    r"cuda_balances::|sparse_offsets::test_blocks": "schedules, balances: rules and layouts that are seldom chosen",
    r"disk::test_undirected|io_whole::test_results|host::test_code": "disk::test_converted_as_read",
    r"schedules::test_(drawn|every_schedule.cpu-.*(pull|thread))": "the other schedules, and advance",
    r"mapping::test_(each_gpu|what_the)|explain::test_every_phase.*cpu": "mapping and explain, the others",
    r"disk::test_converted_as_read.(min|first|last)": "the same with sum and keep",
    r"wide::": "advance, gather: ids of 64 bits are another dtype of the same code",
    r"shaped_fields::test_an_advance_sums.*(16|33)": "the same with 3 columns",
    r"primitives_table::test_dtypes": "the primitives' tests, which compare with the interpreter",
    r"(walks::test_node2vec|leiden::test_better|infinite_weights::|order::test_(infinite|keys_that)).*cpu": "on python",
    r"(\w+_\w+|bridges|closeness|scc)::test_many_graphs.*cpu":
        "the same on python, and several_workers",
    r"(batched_sources|ranking)::test_several_workers|ranking::test_eigenvectors.cpu": "the same on python",
    r"shortest_path::test_(weighted_searches|estimates_that).*cpu": "the same on python",
    # repeats of what the short suite has elsewhere
    r"divided::test_primitives.*ranks:[23]\]": "the same on ranks:3,python",
    r"raising::test_every_kind.*tuple": "the same with raise, and tests/raising.py",
    r"deferred::test_a_search_that_never_pulls": "deferred::test_the_example_compiles_no_pull",
    r"(articulation_points|bridges|clustering|cc|sssp|pagerank|label_propagation|eccentricity)::test_many\w*.pyth":
        "the same on cpu, or any_graph",
    r"(articulation_points|bridges|sssp|pagerank|bc)::test_any_graph.python": "the same on cpu",
    r"structure::test_(many|parts|onion.*cpu)": "the same on python, and core_numbers",
    r"clustering_variants::test_(parts|many)": "the same on python; clustering's others",
    r"strategies::test_(parts|orders.*cpu|given.*cpu)": "the same on python; color, maximal_independent_set",
    r"modularity::test_((limits|a_start|levels).leiden|parts)": "the same with louvain",
    r"color::test_(more_colours|all_programs|the_same_colours).*python": "the same on cpu",
    r"(who_to_follow::test_definition|bfs_many::test_words|louvain::test_modularity_is|ranking::\w+).python": "on cpu",
    r"transitive_closure::test_special_graphs.(python-(warshall|squaring)|cpu-squaring)": "the others",
    r"(subgraph_match|eccentricity|clustering|k_truss)::test_parts": "ranks::test_primitives_are_the_same",
    r"words::test_lists_of_every_length.cpu-[23]": "the same with one worker",
    r"words::test_the_edge.*(heaviest|flag|real)": "the same of far ends and numbers",
    r"examples::test_example(.python-astar|.cpu-betweenness|_on_a_file)": "the other examples",
    r"sparse_offsets::test_primitives_are_the_same.(True|False-True)": "the same of plain lists",
    r"ranks::test_primitives.*-[12]\]": "the same on three and four",
    r"bc::test_more_paths.*python|verify::test_right_results_of_many": "the same on cpu, verify's others",
    r"primitive_errors::test_weights_beyond.*cpu": "the same on python",
    r"who_to_follow::test_(edges_stay|no_convergence|the_greatest.python)": "who_to_follow::test_definition",
    r"arithmetic::test_operators.cpu-(uint8|int32 int32|float32 float32|uint32|int16|float32 )": "other pairs of types",
    r"advance::test_backends_agree.cpu-(hold, (sample|where)|after the first|.*few names)": "the others",
    r"ghosts::test_edges.*4,2d": "the same on ranks:3,python",
    r"semirings::test_(relaxing.*-in|products.cpu-(argmax|plus_second|max)|on_ranks.*2x2)": "others, out-edges",
    r"registered_reductions::test_(backends_agree|lists_of|common).*(prod|and_bits|xor)": "gcd, magnitude",
    r"communities::test_the_unit.(0.1|1e.300|1000000000)-": "the same with other units",
    r"order::test_(shortest.*near_far.*rmat|exact_passes.*(2.5|3)\]|edges_by.*float64|until_ends.*cpu.*t64)": "order",
    r"pairs::test_parents.*cpu-(Paths|Near)-float32": "the same with doubles and integers",
    r"gather::test_backends_agree.cpu-(by_weight|.*(o_int8|o_uint32))": "the same with other dtypes",
    r"shaped_fields::test_an_advance_sums.cpu-(int32|float32)": "the same with int64 and float64",
    r"divided::test_ranks_pull_together.*auto": "the same pushed, and pulled",
    r"names::test_(any_name_runs.cpu-([13-9]|1[0-46-9])\]|nothing_of_a_name.*\[(?!0|10))": "the same with other names",
    r"ir::test_names_of_users.cpu-(?!slot|x_1)": "the same with other names",
    r"explain::test_every_phase.*rmat:9-cuda": "the same of karate",
    r"sample::test_(backends_agree.cpu-(two|no output)|all_sets.*python-[67])": "the others",
    r"scan::test_backends_agree.cpu-(bools|edges\b|ints into)": "the same with other types",
    r"intersect::test_backends_agree.cpu-(bools|any|ints into)": "the same with other types",
    r"loops::test_backends_agree.cpu-(until with|default|to edges)": "loops' others",
    r"walks::test_(several_workers.*weighted|walks_follow.*python-node2vec)": "the same without weights",
    r"gather_mode::test_(lists_of_every_length.python-[23]|random_graphs.cpu-(labels, out|of no edge|uint32))": "all",
    r"louvain::test_not_below_networkx.cpu-(urand|grid)": "the same of R-MAT graphs",
    r"io_streams::test_(named_pipe|open_files).(gr|graph|wel|txt)": "the same of csv and mtx",
    r"placement::test_nobody_compares": "nobody: it looks at the repository",
    r"residences::test_on_the_cpu.disk-\w+_many": "the same from one source",
    r"communities::test_float_weights_are_the_same_on.*louvain": "the same with leiden",
    r"result_tables::test_every_result_is_written.*(npz|json|parquet)": "csv, cli",
    r"divided::test_doubts.*ranks:1": "the same on ranks:3",
    r"(pagerank::test_networkx_agrees|ranking::test_(nobody|faster|rounded)|color::test_hubs).*cpu": "on python",
    r"(bridges|articulation_points|clustering)::test_several_workers": "other primitives on several workers",
    r"buckets::test_four_buckets|sssp::test_distances_in_float32.cpu|order::test_core_numbers.*cpu": "sssp",
    r"programs::test_(betweenness|pagerank|kcore).cpu": "programs::test_sssp, and the primitives",
    r"(linker|sparse_offsets::test_few_bytes|effects::test_a_second_process|io_registered::test_installed)": "cache",
    r"disk::test_(what_cannot|converted_as_read.keep-1)|disk_errors::test_a_conversion": "disk::test_converted_as_read",
    r"rows_in_parts::test_a_run_goes_on.*ranks:3\]|atomics::test_nothing_is_lost.cpu-4": "the same on other parts",
    r"explain::test_the_command|cli::test_(python_m|reader_that)|mapping::test_parts": "explain, cli, mapping: others",
    r"sssp::test_(many_graphs|unsigned_weights).cpu|shortest_path::test_(an_estimate|consistent).*cpu": "python",
    r"cc::test_many_graphs.cpu|pagerank::test_many\w*.cpu|triangles::test_many_graphs.cpu": "any_graph",
    r"shortest_path::test_several_workers\w|io_whole::test_archives_are_not": "others; memory_limits",
    r"(leiden::test_the_same|shortest_path::test_special|sssp_many::test_searches|closeness::test_(spec|samp)).*cpu":
        "the same on python, and louvain::test_the_same",
    r"compressed::test_primitives.cpu-sssp|ranks_merging::test_readers.*False-False-ranks:3": "bfs; the other readers",
    r"order::test_who_waits.*cpu|pairs::test_every_access|shortest_path::test_ends_without": "on python, check",
    r"sample::test_backends_agree.cpu-in-edge|walks::test_walks_follow.*cpu-temporal|jaccard::test_many.*cpu": "others",
    r"explain::test_every_phase.sssp-karate|concurrency::test_threads_run.cpu-one graph-1": "the others",
    r"max_flow::test_(fractions.*python|several)|subgraphs::test_a_spanning.*python|maximal_matching::test_any_w.*cpu":
        "the same on the other backend",
    r"stale::test_(loops_and|equal_numbers|nested).*cpu|label_propagation::test_asynchronously.*cpu": "on python",
    r"result_tables::test_.*cpu|(leiden::test_it_begins|ranking::test_whom|who_to_follow::test_def).*cpu": "on python",
    r"compiling::test_loops_on_equal|registered_reductions::test_backends_agree|label_propagation::test_several_w":
        "compiling, lists_of_all_lengths, and other primitives on several workers",
    r"io_errors::test_options_that|docs_blocks::test_blocks.docs/tutorials|shortest_path::test_weighted_searches":
        "files: cli; io_roundtrip; examples; shortest_path's others",
    r"strategies::test_orders|(structure::test_blocks|clustering_variants::|modularity::test_modularity).*cpu":
        "the same on python",
    r"bc::test_more_paths.*cpu": "edge_betweenness",
    r"cli_clumsy::test_interrupted|raising::test_nothing_in|build::test_slots_are.many|divided::test_schedules.push-N":
        "interrupts, raising, build, divided: the others",
    r"edge_betweenness::test_(all_graphs|a_large_grid)": "networkx_has_the_same, and bc::test_more_paths",
    r"pagerank::test_what_dangling.*(cpu|True)": "the same on python without weights",
    r"link_prediction::test_(assortativity_everywhere|scores.cpu)": "the same on python",
    r"edge_betweenness::test_edges_without_weights": "networkx_has_the_same, and bc::test_more_paths on cpu",
}  # fmt: skip

#: Tests with many cases, of which the short suite runs one in so many, whichever their names choose.
SAMPLED = {
    r"(advance|order|ghosts|semirings|arithmetic|pairs|words|shaped_fields|edge_values|gather_mode)::": 3,
    r"(loops|sample|gather|scan|buckets|intersect|compute_reduce_set|registered_reductions|walks|schedules)::": 3,
    r"(divided\w*|grids|ranks\w*|rows_in_parts|sparse_offsets|partition\w*|row_filling|hold|batched_sources)::": 3,
    r"(sssp|bfs|pagerank|bc|cc|ranking|extreme_weights|memory|check|functors|races|refused_floats|examples)::": 3,
    r"(communities|louvain|leiden|transitive_closure|label_propagation|color|minimum_spanning_forest)::": 3,
    r"(residences|result_tables|io_roundtrip|io_formats|io_networkx|docs_blocks|results_files|claimed_searches)::": 2,
    r"(deferred|atomics|stale|compressed|balances|max_flow|enactor|who_to_follow|shortest_path|disk)::": 2,
    r"(io_packed|io_errors|cli|cli_clumsy|timeouts|record|explain)::": 2,
}

#: Cases that a test has at least, if not all are run.
MANY = 4

_PATTERNS = [(re.compile(pattern), catcher) for pattern, catcher in DEEP.items()]


@functools.cache
def caught_by(nodeid: str) -> str | None:
    """Who else catches what a test finds; None if it belongs to the short suite."""
    name = _name(nodeid)
    return next((catcher for pattern, catcher in _PATTERNS if pattern.search(name)), None)


def sampled_out(nodeid: str, cases: int) -> bool:
    """Whether the short suite runs other cases of a test that has so many."""
    if cases < MANY:
        return False
    name = _name(nodeid)
    every = next((every for pattern, every in SAMPLED.items() if re.match(pattern, name)), 1)
    return zlib.crc32(name.encode()) % every > 0


def _name(nodeid: str) -> str:
    module, _, test = nodeid.partition("::")
    return f"{module.rpartition('/')[2].removeprefix('test_').removesuffix('.py')}::{test}"
