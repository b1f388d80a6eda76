// Kernels that end programmatically, are nodes of graphs, and wait on barriers of libcu++.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;

extern "C" __global__ void first(int *data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    cudaTriggerProgrammaticLaunchCompletion();
}

extern "C" __global__ void second(const int *data, int *sum) {
    cudaGridDependencySynchronize();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int all = cg::reduce(warp, data[threadIdx.x], cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(sum, all);
}

extern "C" __global__ void staged(const int4 *in, int4 *out) {
    __shared__ alignas(128) int4 stage[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    cuda::memcpy_async(block, stage, in, cuda::aligned_size_t<16>(sizeof(stage)), bar);
    bar.arrive_and_wait();
    out[block.thread_rank()] = stage[63 - block.thread_rank()];
}

extern "C" __global__ void copied(const int *in, int *out) {
    __shared__ int stage[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, stage, in, sizeof(stage));
    cg::wait(block);
    out[block.thread_rank()] = stage[127 - block.thread_rank()];
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) swapped(int *data) {
    __shared__ int mine[32];
    auto cluster = cg::this_cluster();
    mine[threadIdx.x] = data[blockIdx.x * 32 + threadIdx.x];
    cluster.sync();
    int *other = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    data[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];
    cluster.sync();
}

extern "C" __global__ void bulk(const int *in, int *out) {
    namespace ptx = cuda::ptx;
    __shared__ alignas(128) int stage[256];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage, in, sizeof(stage), &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(stage));
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    out[threadIdx.x] = stage[255 - threadIdx.x];
}
