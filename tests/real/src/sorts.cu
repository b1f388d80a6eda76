// Block and warp collectives of CUB, and a device-wide reduction's kernels.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_merge_sort.cuh>

extern "C" __global__ void sort_blocks(int *data) {
    using Sort = cub::BlockRadixSort<int, 64, 2>;
    __shared__ typename Sort::TempStorage storage;
    int *mine = data + blockIdx.x * 128;
    int keys[2] = {mine[2 * threadIdx.x], mine[2 * threadIdx.x + 1]};
    Sort(storage).Sort(keys);
    mine[2 * threadIdx.x] = keys[0];
    mine[2 * threadIdx.x + 1] = keys[1];
}

extern "C" __global__ void scan_block(const int *in, int *sums, int *total) {
    using Scan = cub::BlockScan<int, 96>;
    __shared__ typename Scan::TempStorage storage;
    int sum, all;
    Scan(storage).InclusiveSum(in[threadIdx.x], sum, all);
    sums[threadIdx.x] = sum;
    if (threadIdx.x == 0) *total = all;
}

extern "C" __global__ void largest(const float *in, float *out) {
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ typename Reduce::TempStorage storage;
    float found = Reduce(storage).Reduce(in[threadIdx.x], [](float a, float b) { return fmaxf(a, b); });
    if (threadIdx.x == 0) *out = found;
}

extern "C" __global__ void sort_warp(unsigned *data) {
    using Sort = cub::WarpMergeSort<unsigned, 2, 32>;
    __shared__ typename Sort::TempStorage storage;
    unsigned keys[2] = {data[2 * threadIdx.x], data[2 * threadIdx.x + 1]};
    Sort(storage).Sort(keys, [](unsigned a, unsigned b) { return a < b; });
    data[2 * threadIdx.x] = keys[0];
    data[2 * threadIdx.x + 1] = keys[1];
}
