// doubleGraph: what replaces the kernels of cuGraph, called without the rest of it.

#include "common.cuh"

#include <cugraph/aai/algorithms.hpp>

using Spanning = std::size_t(const aai::graph32_t&, const float*, int32_t*, int32_t*, float*, std::size_t);

static void run(Work& work) {
    Rows rows(work.folder);
    rows.send();
    int n = rows.n;
    size_t bytes = 4 * (size_t)n;
    aai::graph32_t g{rows.d_offsets, rows.d_targets, n, rows.m, true, false, false, std::nullopt, nullptr};
    if (work.sorted) {
        std::vector<int> ends(5, n);
        ends[0] = 0;
        int least[] = {1024, 32, 1};
        for (int i = 0, v = 0; i < 3; ends[++i] = v)
            while (v < n && rows.offsets[v + 1] - rows.offsets[v] >= least[i]) v++;
        g.segment_offsets = ends;
    }
    aai::graph32_t columns = g, directed = g;
    columns.is_csc = true;
    directed.is_symmetric = false;
    size_t twice = 2 * (size_t)n;
    int *ints = room<int>(n), *more = room<int>(twice), *others = room<int>(twice), *start = room<int>(1);
    float *floats = room<float>(n), *weights = room<float>(twice);
    string variant = work.sorted ? "seg" : "plain";
    bool seg = work.sorted;

    auto place = [&](int source) { must(cudaMemcpy(start, &source, sizeof source, cudaMemcpyHostToDevice)); };
    for (const string& task : work.tasks) {
        if (task == "bfs") {
            work.measure(task, variant, true, ints, bytes, [&](int source) {
                place(source);
                return work.timed([&] { (seg ? aai::bfs_seg : aai::bfs)(g, ints, nullptr, start, 1, INT32_MAX); });
            });
            work.measure(task, variant + "-direction", true, ints, bytes, [&](int source) {
                place(source);
                auto search = seg ? aai::bfs_direction_optimizing_seg : aai::bfs_direction_optimizing;
                return work.timed([&] { search(g, ints, nullptr, start, 1, INT32_MAX); });
            });
        }
        if (task == "sssp")
            work.measure(task, variant, true, floats, bytes, [&](int source) {
                return work.timed([&] {
                    if (seg) aai::sssp_seg(g, rows.d_weights, source, floats, more, 3.4e38f);
                    else aai::sssp(g, rows.d_weights, source, floats, more, 3.4e38f);
                });
            });
        if (task == "pagerank") {
            size_t iterations = 0;
            work.measure(task, variant, false, floats, bytes, [&](int) {
                return work.timed([&] {
                    auto outcome = seg ? aai::pagerank_seg(columns, floats, nullptr, 0.85f, 1e-6f, 1000, nullptr)
                                    : aai::pagerank(columns, floats, nullptr, 0.85f, 1e-6f, 1000, nullptr);
                    iterations = outcome.iterations;
                });
            });
            printf("number iterations %zu\n", iterations);
        }
        if (task == "cc")
            work.measure(task, variant, false, ints, bytes, [&](int) {
                auto find = seg ? aai::weakly_connected_components_seg : aai::weakly_connected_components;
                return work.timed([&] { find(g, ints); });
            });
        if (task == "scc")
            work.measure(task, variant, false, ints, bytes, [&](int) {
                auto find = seg ? aai::strongly_connected_components_seg : aai::strongly_connected_components;
                return work.timed([&] { find(directed, ints); });
            });
        if (task == "bc")
            work.measure(task, variant, true, floats, bytes, [&](int source) {
                place(source);
                auto find = seg ? aai::betweenness_centrality_seg : aai::betweenness_centrality;
                return work.timed([&] { find(g, floats, true, false, start, 1); });
            });
        if (task == "triangles")
            work.measure(task, variant, false, ints, bytes, [&](int) {
                auto count = seg ? aai::triangle_count_seg : aai::triangle_count;
                return work.timed([&] { count(g, ints, nullptr, 0); });
            });
        if (task == "mst") {
            size_t edges = 0;
            work.measure(task, variant, false, nullptr, 0, [&](int) {
                return work.timed([&] {
                    auto find = seg ? static_cast<Spanning*>(aai::minimum_spanning_tree_seg)
                                    : static_cast<Spanning*>(aai::minimum_spanning_tree);
                    edges = find(g, rows.d_weights, more, others, weights, twice);
                });
            });
            double sum = thrust::reduce(thrust::device, weights, weights + edges, 0.0);
            printf("number weight %.17g\nnumber edges %zu\n", sum / 2, edges / 2);
        }
        if (task == "louvain") {
            float* ones = rows.unit();
            work.measure(task, variant, false, ints, bytes, [&](int) {
                return work.timed([&] {
                    if (seg) aai::louvain_seg(g, ones, ints, 100, 1e-7f, 1.0f);
                    else aai::louvain(g, ones, ints, 100, 1e-7f, 1.0f);
                });
            });
        }
    }
}
