// The ECL suite: its programs run as they are, on a graph that is already there, and are left when time and result
// are known.

#include "common.cuh"

#include <algorithm>
#include <climits>
#include <functional>
#include <set>
#include <tuple>
#include <type_traits>

#include <cuda.h>
#include <sys/time.h>

#include "ECLgraph.h"

struct Found {
    const void* data;
    size_t bytes;
};

static Rows* rows;
static std::vector<int> whole;  // the weights as integers
static int* d_whole;
static std::vector<void*> taken;
static float milliseconds = -1;

static ECLgraph given(const char*) {
    ECLgraph g;
    g.nodes = rows->n;
    g.edges = rows->m;
    g.nindex = (int*)rows->offsets;
    g.nlist = (int*)rows->targets;
    g.eweight = whole.empty() ? nullptr : whole.data();
    return g;
}

template <class T>
static cudaError_t take(T** made, size_t bytes) {
    cudaError_t error = cudaMalloc((void**)made, bytes);
    taken.push_back((void*)*made);
    return error;
}

static cudaError_t give(void*) { return cudaSuccess; }  // all of it is given back after the call

static cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    if (kind == cudaMemcpyDeviceToHost && milliseconds >= 0) throw Found{from, bytes};
    const void* there = from == rows->offsets ? rows->d_offsets : from == rows->targets ? rows->d_targets : nullptr;
    if (!whole.empty() && from == whole.data()) there = d_whole;
    if (kind == cudaMemcpyHostToDevice && there) return cudaMemcpy(to, there, bytes, cudaMemcpyDeviceToDevice);
    return cudaMemcpy(to, from, bytes, kind);
}

// Programs say how long they took: "compute time: %.9f s", "runtime: ..." or "Dev+: ...".
static void hear(const char* format, double seconds) {
    for (const char* start : {"compute time: ", "runtime: ", "Dev%c: "})
        if (!strncmp(format, start, strlen(start))) milliseconds = 1000 * seconds;
}

// In place of printf, which kernels call, too.
template <class... Words>
__host__ __device__ void say(const char* format, Words... words) {
#ifndef __CUDA_ARCH__
    if constexpr (sizeof...(words) > 0) {
        auto last = (words, ...);
        if constexpr (std::is_floating_point_v<decltype(last)>) hear(format, last);
    }
#endif
}

#define readECLgraph given
#define cudaMalloc take
#define cudaFree give
#define cudaMemcpy copy
#define printf say
namespace components {
#include "CC/ECL-CC_11.cu"
}
namespace colouring {
#include "GC/ECL-GC_12.cu"
}
namespace independent {
#include "MIS/ECL-MIS.cu"
}
namespace spanning {
#include "MST/ECL-MST_10.cu"
}
namespace strong {
#include "SCC/ECL-SCC_10.cu"
}
#undef readECLgraph
#undef cudaMalloc
#undef cudaFree
#undef cudaMemcpy
#undef printf

static void spanned(const Found& found) {
    const bool* chosen = (const bool*)found.data;
    const float* weights = rows->d_weights;
    auto weight = [=] __device__(int e) -> double { return chosen[e] ? (double)weights[e] : 0.0; };
    auto one = [=] __device__(int e) -> double { return chosen[e] ? 1.0 : 0.0; };
    thrust::counting_iterator<int> first(0), last(rows->m);
    double sum = thrust::transform_reduce(thrust::device, first, last, weight, 0.0, thrust::plus<double>());
    double count = thrust::transform_reduce(thrust::device, first, last, one, 0.0, thrust::plus<double>());
    printf("number weight %.17g\nnumber edges %.17g\n", sum, count);
}

static void run(Work& work) {
    rows = new Rows(work.folder);
    rows->send();
    if (rows->weights) {
        whole.assign(rows->weights, rows->weights + rows->m);
        d_whole = there(whole.data(), rows->m);
    }
    char name[] = "graph";
    char* words[] = {name, name, nullptr};
    for (const string& task : work.tasks) {
        int (*program)(int, char**) = task == "cc" ? components::main : task == "color" ? colouring::main
                                      : task == "mis"   ? independent::main
                                      : task == "mst"   ? spanning::main
                                      : task == "scc"   ? strong::main
                                                        : nullptr;
        if (!program) continue;
        bool kept = false;
        work.measure(task, "plain", false, nullptr, 0, [&](int) {
            int none = 0;
            milliseconds = -1;
            must(cudaMemcpyToSymbol(colouring::wlsize, &none, sizeof none));
            must(cudaDeviceSynchronize());
            try {
                program(2, words);
            } catch (const Found& found) {
                if (!kept && task == "mst") spanned(found);
                else if (!kept) work.keep(task, "plain", found.data, found.bytes);
                kept = true;
            }
            for (void* each : taken) must(cudaFree(each));
            taken.clear();
            return milliseconds;
        });
    }
}
