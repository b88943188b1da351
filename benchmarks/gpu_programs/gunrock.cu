// Gunrock, as its examples call it.

#include "common.cuh"

#include <gunrock/algorithms/bc.hxx>
#include <gunrock/algorithms/bfs.hxx>
#include <gunrock/algorithms/color.hxx>
#include <gunrock/algorithms/mst.hxx>
#include <gunrock/algorithms/pr.hxx>
#include <gunrock/algorithms/sssp.hxx>
#include <gunrock/algorithms/tc.hxx>

using gunrock::memory::memory_space_t;
using Format = gunrock::format::csr_t<memory_space_t::device, int, int, float>;

static Format formatted(const Rows& rows, const float* weights) {
    Format made(rows.n, rows.n, rows.m);
    must(cudaMemcpy(made.row_offsets.data().get(), rows.offsets, (rows.n + 1) * sizeof(int), cudaMemcpyDefault));
    must(cudaMemcpy(made.column_indices.data().get(), rows.targets, rows.m * sizeof(int), cudaMemcpyDefault));
    if (weights) must(cudaMemcpy(made.nonzero_values.data().get(), weights, rows.m * sizeof(float), cudaMemcpyDefault));
    else thrust::fill(made.nonzero_values.begin(), made.nonzero_values.end(), 1.0f);
    return made;
}

static void run(Work& work) {
    using namespace gunrock;
    Rows rows(work.folder);
    Format csr = formatted(rows, rows.weights);
    graph::graph_properties_t properties;
    properties.symmetric = true;
    auto g = graph::build<memory_space_t::device>(properties, csr);
    auto context = std::make_shared<gcuda::multi_context_t>(0);
    thrust::device_vector<int> ints(rows.n), more(rows.n);
    thrust::device_vector<float> floats(rows.n), one(1);
    int *levels = ints.data().get(), *parents = more.data().get();
    float* numbers = floats.data().get();
    size_t bytes = 4 * (size_t)rows.n;
    options_t usual, merged;
    merged.advance_load_balance = operators::load_balance_t::merge_path;
    for (const string& task : work.tasks) {
        for (auto [variant, options] : {std::pair{"block_mapped", usual}, std::pair{"merge_path", merged}}) {
            if (task == "bfs")
                work.measure(task, variant, true, levels, bytes, [&, options = options](int source) {
                    bfs::param_t<int> param(source, options);
                    bfs::result_t<int> result(levels, parents);
                    return bfs::run(g, param, result, context);
                });
            if (task == "sssp")
                work.measure(task, variant, true, numbers, bytes, [&, options = options](int source) {
                    sssp::param_t<int> param(source, options);
                    sssp::result_t<int, float> result(numbers, parents, rows.n);
                    return sssp::run(g, param, result, context);
                });
        }
        if (task == "bc")
            work.measure(task, "usual", true, numbers, bytes, [&](int source) {
                thrust::fill(floats.begin(), floats.end(), 0.0f);
                bc::param_t<int> param(source);
                bc::result_t<float> result(numbers);
                return bc::run(g, param, result, context);
            });
        if (task == "color")
            work.measure(task, "usual", false, levels, bytes, [&](int) {
                color::param_t param;
                color::result_t<int> result(levels);
                return color::run(g, param, result, context);
            });
        if (task == "mst") {
            work.measure(task, "usual", false, nullptr, 0, [&](int) {
                mst::param_t<int> param;
                mst::result_t<int, float> result(one.data().get());
                return mst::run(g, param, result, context);
            });
            printf("number weight %.9g\n", (float)one[0]);
        }
        if (task == "triangles") {
            std::size_t total = 0;
            work.measure(task, "usual", false, nullptr, 0, [&](int) {
                thrust::fill(ints.begin(), ints.end(), 0);
                tc::param_t<int> param(true);
                tc::result_t<int> result(levels, &total);
                return tc::run(g, param, result, context);
            });
            printf("number corners %zu\n", total);
        }
        if (task == "pagerank") {
            Format even = formatted(rows, nullptr);
            auto unweighted = graph::build<memory_space_t::device>(properties, even);
            for (auto [variant, tolerance] : {std::pair{"1e-6", 1e-6f}, {"1e-7", 1e-7f}, {"1e-8", 1e-8f}})
                work.measure(task, variant, false, numbers, bytes, [&, tolerance = tolerance](int) {
                    pr::param_t<float> param(0.85f, tolerance);
                    pr::result_t<float> result(numbers);
                    return pr::run(unweighted, param, result, context);
                });
        }
    }
}
