// Clusters: memory of other blocks, bulk copies, and objects that count their bytes.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

// A histogram whose bins are spread over the blocks of a cluster.
extern "C" __global__ void cluster_histogram(const int* in, int* bins, int n, int per_block) {
  extern __shared__ int mine[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  int threads = cluster.num_threads();
  int first = cluster.thread_rank();
  for (int i = first; i < n; i += threads) {
    int bin = in[i];
    int* there = cluster.map_shared_rank(mine, bin / per_block);
    atomicAdd(there + bin % per_block, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) bins[cluster.block_rank() * per_block + i] = mine[i];
}

// A ring: each block sends its tile to the next with a bulk copy that signals an mbarrier there.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_ring(const int* in, int* out) {
  __shared__ alignas(16) int tile[2][64];
  __shared__ uint64_t bar;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), next = (rank + 1) % 4;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  tile[0][threadIdx.x] = in[rank * 64 + threadIdx.x];
  ptx::fence_proxy_async(ptx::space_shared);
  cluster.sync();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile[0]));
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(tile[1], next), tile[0], sizeof(tile[0]), cluster.map_shared_rank(&bar, next));
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
  out[rank * 64 + threadIdx.x] = tile[1][threadIdx.x] * 10;
  cluster.sync();
}

// In and out in bulk, scaled between.
extern "C" __global__ void bulk_scale(const float* in, float* out, float f) {
  __shared__ alignas(128) float s[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(s, in + blockIdx.x * 256, cuda::aligned_size_t<16>(sizeof(s)), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(s));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  s[threadIdx.x] *= f;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 256, s, sizeof(s));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
