// Cooperative launches, cooperative groups, clusters, and launches with attributes.
#include "common.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void sum_all(int* parts, int* total) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int sum = cg::reduce(tile, (int)grid.thread_rank(), cg::plus<int>());
    if (tile.thread_rank() == 0) atomicAdd(&parts[blockIdx.x], sum);
    grid.sync();
    if (grid.thread_rank() == 0)
        for (unsigned i = 0; i < gridDim.x; i++) *total += parts[i];
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int* out) {
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = 100 * blockIdx.x;
    cluster.sync();
    int* other = cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
    if (threadIdx.x == 0) out[blockIdx.x] = *other + cluster.num_blocks();
    cluster.sync();
}

__global__ void ranks(int* out) {
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) out[blockIdx.x] = cluster.block_rank() * 10 + cluster.num_blocks();
}

int main() {
    int *parts, *total;
    MUST(cudaMallocManaged(&parts, 64));
    MUST(cudaMallocManaged(&total, 4));
    memset(parts, 0, 64);
    *total = 0;
    void* arguments[] = {&parts, &total};
    MUST(cudaLaunchCooperativeKernel((const void*)sum_all, dim3(8), dim3(128), arguments, 0, 0));
    MUST(cudaDeviceSynchronize());
    printf("sum %d, parts %d %d\n", *total, parts[0], parts[7]);
    int supported = 0;
    MUST(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    printf("cooperative %d\n", supported);
    SAY(cudaLaunchCooperativeKernel((const void*)sum_all, dim3(1000000), dim3(128), arguments, 0, 0));
    SAY(cudaGetLastError());
    pairs<<<6, 32>>>(parts);
    MUST(cudaDeviceSynchronize());
    printf("pairs %d %d %d %d\n", parts[0], parts[1], parts[4], parts[5]);
    pairs<<<5, 32>>>(parts);
    SAY(cudaGetLastError());
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(32);
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    MUST(cudaLaunchKernelEx(&config, ranks, parts));
    MUST(cudaDeviceSynchronize());
    printf("ranks %d %d %d %d\n", parts[0], parts[3], parts[4], parts[7]);
    attribute.val.clusterDim.x = 3;
    SAY(cudaLaunchKernelEx(&config, ranks, parts));
    SAY(cudaGetLastError());
    int clusters = 0;
    attribute.val.clusterDim.x = 4;
    SAY(cudaOccupancyMaxActiveClusters(&clusters, ranks, &config));
    printf("some clusters: %d\n", clusters > 0);
    return 0;
}
