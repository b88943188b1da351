// Three steps as one would write them by hand in CUDA C++: what the generated ones are compared with.
// Offsets, ids and counts of 32 bits; a frontier holds no vertex without edges. See handwritten.py.

typedef unsigned int u32;
typedef unsigned long long u64;

const int THREADS = 512;
const int WARPS = THREADS / 32;
const int TILE = 2048;  // edges of a block at a time
const u32 ALL = 0xffffffffu;

// The last of count ascending numbers that is at most key; the first of them is.
__device__ __forceinline__ int find(const int* numbers, int count, int key) {
    int low = 0, high = count;
    while (high - low > 1) {
        int middle = (low + high) >> 1;
        if (numbers[middle] <= key) low = middle; else high = middle;
    }
    return low;
}

// The same by a whole warp, 32 places at once: the first steps miss the caches, so few of them count.
__device__ __forceinline__ int find_by_warp(const int* numbers, int count, int key, int lane) {
    int low = 0, high = count;
    while (high - low > 1) {
        int step = (high - low + 31) >> 5, place = low + lane * step;
        int below = __popc(__ballot_sync(ALL, place < high && numbers[place] <= key));
        low += (below - 1) * step;
        high = min(low + step, high);
    }
    return low;
}

// Sum over the lanes up to and with this one.
__device__ __forceinline__ int prefix(int x, int lane) {
    for (int step = 1; step < 32; step <<= 1) {
        int y = __shfl_up_sync(ALL, x, step);
        if (lane >= step) x += y;
    }
    return x;
}

// Append what a block has found to the queue; with SCAN also where the edges of each begin in a row of all of them.
// One 64-bit atomic gives both places: the number of vertices in the low half, of edges in the high one.
template <bool SCAN>
__device__ __forceinline__ void append(const int* found, int count, const int* offsets, int* queue, int* scan,
                                       u64* total) {
    __shared__ int sums[32];
    __shared__ u64 base;
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    for (int begin = 0; begin < count; begin += THREADS) {
        int i = begin + t, v = 0, degree = 0, before = 0;
        if (i < count) {
            v = found[i];
            if (SCAN) degree = offsets[v + 1] - offsets[v];
        }
        if (SCAN) {
            before = prefix(degree, lane);
            if (lane == 31) sums[warp] = before;
            before -= degree;
            __syncthreads();
        }
        if (warp == 0) {
            int own = SCAN && lane < WARPS ? sums[lane] : 0, upto = SCAN ? prefix(own, lane) : 0;
            if (SCAN && lane < WARPS) sums[lane] = upto - own;
            if (lane == 31) {
                int here = min(THREADS, count - begin);
                base = atomicAdd(total, (u64)here | (u64)(u32)upto << 32);
            }
        }
        __syncthreads();
        if (i < count) {
            u32 place = (u32)base + t;
            queue[place] = v;
            if (SCAN) scan[place] = (int)(base >> 32) + sums[warp] + before;
        }
        __syncthreads();
    }
}

// Merge-path push: equal tiles of the frontier's edges; whoever swaps itself in for -1 is the parent.
template <bool SCAN>
__device__ __forceinline__ void push(const int* offsets, const int* targets, const int* queue, const int* scan,
                                     int vertices, int edges, int* parent, int* level, int depth, int* next,
                                     int* next_scan, u64* total) {
    __shared__ int begins[TILE], shift[TILE], source[TILE], found[TILE];
    __shared__ int ends[2], count;
    int t = threadIdx.x, lane = t & 31;
    for (int first = blockIdx.x * TILE; first < edges; first += gridDim.x * TILE) {
        int last = min(first + TILE, edges);
        if (t == 0) count = 0;
        if (t < 64) {
            int at = find_by_warp(scan, vertices, t < 32 ? first : last - 1, lane);
            if (lane == 0) ends[t >> 5] = at;
        }
        __syncthreads();
        int low = ends[0], sources = ends[1] - low + 1;
        for (int i = t; i < sources; i += THREADS) {
            int v = queue[low + i], begin = scan[low + i];
            begins[i] = begin;
            source[i] = v;
            shift[i] = offsets[v] - begin;
        }
        __syncthreads();
        for (int e = first + t; e - t < last; e += THREADS) {
            bool claimed = false;
            int dst = 0;
            if (e < last) {
                int i = find(begins, sources, e);
                dst = targets[shift[i] + e];
                if (parent[dst] == -1 && atomicCAS(parent + dst, -1, source[i]) == -1) {
                    level[dst] = depth;
                    claimed = true;
                }
            }
            u32 mask = __ballot_sync(ALL, claimed);
            if (mask) {
                int leader = __ffs(mask) - 1, place = 0;
                if (lane == leader) place = atomicAdd(&count, __popc(mask));
                place = __shfl_sync(ALL, place, leader);
                if (claimed) found[place + __popc(mask & ((1u << lane) - 1))] = dst;
            }
        }
        __syncthreads();
        append<SCAN>(found, count, offsets, next, next_scan, total);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
push_queue(const int* offsets, const int* targets, const int* queue, const int* scan, int vertices, int edges,
           int* parent, int* level, int depth, int* next, int* next_scan, u64* total) {
    push<false>(offsets, targets, queue, scan, vertices, edges, parent, level, depth, next, next_scan, total);
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
push_scan(const int* offsets, const int* targets, const int* queue, const int* scan, int vertices, int edges,
          int* parent, int* level, int depth, int* next, int* next_scan, u64* total) {
    push<true>(offsets, targets, queue, scan, vertices, edges, parent, level, depth, next, next_scan, total);
}

extern "C" __global__ void to_bitmap(const int* queue, int count, u32* bitmap) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicOr(bitmap + (queue[i] >> 5), 1u << (queue[i] & 31));
}

__device__ __forceinline__ bool has(const u32* bitmap, int v) { return bitmap[v >> 5] >> (v & 31) & 1; }

// Bitmap pull: a thread for every vertex without a parent, which stops at the first neighbour of the frontier; four are
// looked at together. A warp owns a word of the next bitmap.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
pull(const int* offsets, const int* targets, const u32* frontier, int n, int* parent, int* level, int depth, u32* next,
     u64* total) {
    __shared__ u64 sums[WARPS];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    u64 found = 0;  // vertices in the low half, their edges in the high one
    for (int word = blockIdx.x * WARPS + warp; word < (n + 31) >> 5; word += gridDim.x * WARPS) {
        int v = (word << 5) + lane, u = -1;
        if (v < n && parent[v] == -1) {
            int begin = offsets[v], end = offsets[v + 1];
            for (int e = begin; e < end && u < 0; e += 4) {
                int a = targets[e], b = targets[min(e + 1, end - 1)];
                int c = targets[min(e + 2, end - 1)], d = targets[min(e + 3, end - 1)];
                bool at_a = has(frontier, a), at_b = has(frontier, b), at_c = has(frontier, c);
                bool at_d = has(frontier, d);
                u = at_a ? a : at_b ? b : at_c ? c : at_d ? d : -1;
            }
            if (u >= 0) {
                parent[v] = u;
                level[v] = depth;
                found += 1ull | (u64)(u32)(end - begin) << 32;
            }
        }
        u32 mask = __ballot_sync(ALL, u >= 0);
        if (lane == 0) next[word] = mask;
    }
    for (int step = 16; step; step >>= 1) found += __shfl_down_sync(ALL, found, step);
    if (lane == 0) sums[warp] = found;
    __syncthreads();
    if (t == 0) {
        for (int i = 1; i < WARPS; i++) found += sums[i];
        if (found) atomicAdd(total, found);
    }
}

// Gather: a warp for a vertex sums what lies at its neighbours.
template <typename T>
__device__ __forceinline__ void gather(const int* offsets, const int* targets, const T* value, int n, T* sum) {
    int lane = threadIdx.x & 31, warps = gridDim.x * WARPS;
    for (int v = blockIdx.x * WARPS + (threadIdx.x >> 5); v < n; v += warps) {
        T x = 0;
        for (int e = offsets[v] + lane, end = offsets[v + 1]; e < end; e += 32) x += value[targets[e]];
        for (int step = 16; step; step >>= 1) x += __shfl_down_sync(ALL, x, step);
        if (lane == 0) sum[v] = x;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
gather_float(const int* offsets, const int* targets, const float* value, int n, float* sum) {
    gather<float>(offsets, targets, value, n, sum);
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
gather_double(const int* offsets, const int* targets, const double* value, int n, double* sum) {
    gather<double>(offsets, targets, value, n, sum);
}
