// Iterations of PageRank on the host's cores, as the GAP benchmark suite writes them: a sum over the in-edges of each
// vertex, float32, OpenMP with dynamic schedule. Built and called by benchmarks.residence.
#include <cstdint>

extern "C" void pagerank(int64_t n, const int64_t* offsets, const int32_t* targets, float* rank, float* share,
                         int times) {
    const float damping = 0.85f, base = (1.0f - damping) / n;
    for (int64_t v = 0; v < n; v++) rank[v] = 1.0f / n;
    for (int k = 0; k < times; k++) {
        double hanging = 0;  // what vertices without edges have
#pragma omp parallel for reduction(+ : hanging)
        for (int64_t v = 0; v < n; v++) {
            const int64_t degree = offsets[v + 1] - offsets[v];
            share[v] = degree ? rank[v] / degree : 0;
            if (!degree) hanging += rank[v];
        }
        const float all = base + damping * hanging / n;
#pragma omp parallel for schedule(dynamic, 16384)
        for (int64_t v = 0; v < n; v++) {
            float sum = 0;
            for (int64_t e = offsets[v]; e < offsets[v + 1]; e++) sum += share[targets[e]];
            rank[v] = all + damping * sum;
        }
    }
}
