// What the programs of this folder share, each of which calls what another system computes, and times it.
//
// Arguments: a folder with the arrays of a graph, its order (plain, or sorted by falling degree), how many calls,
// seconds after which a task stops, tasks with commas between them, and sources. For each variant of a task a program
// prints "begin TASK VARIANT", numbers of the result, "time MS" for each call and "end"; last of all "done". The
// result of the first source goes to the file TASK-VARIANT in the folder where it runs. See ../gpu_built.py.

#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

using std::string;

static void must(cudaError_t error) {
    if (error == cudaSuccess) return;
    printf("error %s\n", cudaGetErrorString(error));
    exit(1);
}

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A file as an array; null if there is none.
template <class T>
static const T* mapped(const string& path, size_t* count) {
    int file = open(path.c_str(), O_RDONLY);
    struct stat facts;
    if (file < 0 || fstat(file, &facts)) return nullptr;
    *count = facts.st_size / sizeof(T);
    return (const T*)mmap(nullptr, facts.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
}

template <class T>
static T* room(size_t count) {
    T* made;
    must(cudaMalloc(&made, (count ? count : 1) * sizeof(T)));
    return made;
}

template <class T>
static T* there(const T* host, size_t count) {
    T* made = room<T>(count);
    must(cudaMemcpy(made, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return made;
}

// The arrays of a graph, here and on the device; weights may be missing.
struct Rows {
    string folder;
    int n, m;
    const int *offsets, *targets;
    const float* weights;
    int *d_offsets, *d_targets;
    float *d_weights = nullptr, *ones = nullptr;

    explicit Rows(const string& folder) : folder(folder) {
        size_t count;
        offsets = mapped<int>(folder + "/offsets", &count);
        n = (int)count - 1;
        targets = mapped<int>(folder + "/targets", &count);
        m = (int)count;
        weights = mapped<float>(folder + "/weights", &count);
        if (!offsets || !targets) must(cudaErrorFileNotFound);
    }

    void send() {
        d_offsets = there(offsets, n + 1);
        d_targets = there(targets, m);
        if (weights) d_weights = there(weights, m);
    }

    // A weight of one for each edge.
    float* unit() {
        if (!ones) {
            ones = room<float>(m);
            thrust::fill_n(thrust::device, ones, m, 1.0f);
        }
        return ones;
    }
};

// What was asked for, and how it is measured.
struct Work {
    string folder;
    bool sorted;
    int calls;
    double seconds;
    std::vector<string> tasks;
    std::vector<int> sources;
    cudaEvent_t begun, ended;

    Work(int count, char** words)
        : folder(words[1]), sorted(string(words[2]) == "sorted"), calls(atoi(words[3])), seconds(atof(words[4])) {
        std::stringstream text(words[5]);
        for (string task; getline(text, task, ',');) tasks.push_back(task);
        for (int i = 6; i < count; i++) sources.push_back(atoi(words[i]));
    }

    void begin(const string& task, const string& variant) {
        printf("begin %s %s\n", task.c_str(), variant.c_str());
        fflush(stdout);
    }

    void keep(const string& task, const string& variant, const void* data, size_t bytes, bool host = false) {
        std::vector<char> copy(bytes);
        if (host) memcpy(copy.data(), data, bytes);
        else must(cudaMemcpy(copy.data(), data, bytes, cudaMemcpyDeviceToHost));
        FILE* file = fopen((task + "-" + variant).c_str(), "wb");
        fwrite(copy.data(), 1, bytes, file);
        fclose(file);
    }

    // A call from the first source to warm up, whose result is kept, then one from each or some from the first.
    // Each gives milliseconds; a call that takes long is not made again.
    template <class Call>
    void measure(const string& task, const string& variant, bool each, const void* data, size_t bytes, Call call) {
        begin(task, variant);
        double start = now();
        float warm = call(sources[0]);
        must(cudaDeviceSynchronize());
        double spent = now() - start;
        if (bytes) keep(task, variant, data, bytes);
        int count = each ? (int)sources.size() : calls;
        if (spent > seconds) printf("time %.6f\n", warm);
        else
            for (int i = 0; i < count && now() - start < seconds; i++) {
                float ms = call(sources[each ? i : 0]);
                must(cudaDeviceSynchronize());
                printf("time %.6f\n", ms);
            }
        printf("end\n");
        fflush(stdout);
    }

    // The milliseconds of something by events, from an idle device on.
    template <class Step>
    float timed(Step step) {
        if (!ready) {
            must(cudaEventCreate(&begun));
            must(cudaEventCreate(&ended));
            ready = true;
        }
        must(cudaDeviceSynchronize());
        must(cudaEventRecord(begun));
        step();
        must(cudaEventRecord(ended));
        must(cudaEventSynchronize(ended));
        float ms;
        must(cudaEventElapsedTime(&ms, begun, ended));
        return ms;
    }

private:
    bool ready = false;
};

// Of each program.
static void run(Work& work);

int main(int count, char** words) {
    if (count < 7) return 2;
    Work work(count, words);
    run(work);
    printf("done\n");
    return 0;
}
