// BLEST: a graph is prepared on the host, and searched by tensor cores.

#include "common.cuh"

#include "CSC.cuh"
#include "BVSS.cuh"
#include "BVSSBFSKernel.cuh"

// Its order of the vertices is kept in the file named by BLEST_ORDER, if there is one; without a GPU only that is made.
static void run(Work& work) {
    Rows rows(work.folder);
    CSC* columns = new CSC;
    columns->getN() = rows.n;
    columns->getNNZ() = rows.m;
    columns->getColPtrs() = new unsigned[rows.n + 1];
    columns->getRows() = new unsigned[rows.m];
    memcpy(columns->getColPtrs(), rows.offsets, 4 * ((size_t)rows.n + 1));
    memcpy(columns->getRows(), rows.targets, 4 * (size_t)rows.m);
    std::vector<unsigned> degrees(rows.n);
    for (int v = 0; v < rows.n; v++) degrees[v] = rows.offsets[v + 1] - rows.offsets[v];
    bool social = isSocialDegreeDistribution(degrees) || columns->averageDegree() > SOCIAL_THRESHOLD;
    columns->isSocialNetwork() = social;
    JACKARD_ON = true;
    WINDOW_SIZE = 65536;
    FULL_PADDING = !social;
    const char* kept = getenv("BLEST_ORDER");
    bool known = kept && !access(kept, R_OK);
    unsigned* place = known ? columns->orderFromBinary(kept) : columns->reorder(8);
    if (kept && !known) columns->saveOrderingToBinary(kept, place);
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) return;
    printf("ordered\n");
    fflush(stdout);
    std::ofstream facts("facts");
    BVSS* slices = new BVSS(8, 4, facts);
    slices->constructFromCSCMatrix(columns);
    BVSSBFSKernel search(slices);
    bool done = false;
    work.measure("bfs", "plain", true, nullptr, 0, [&](int source) {
        BFSResult result = search.run(place[source]);
        std::vector<unsigned> levels(rows.n);
        for (int v = 0; v < rows.n; v++) levels[v] = result.levels[place[v]];
        if (!done) work.keep("bfs", "plain", levels.data(), 4 * (size_t)rows.n, true);
        done = true;
        delete[] result.levels;
        return (float)(1000 * result.time);
    });
}
