// Cooperative groups, cuda::atomic, cuda::pipeline.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
__global__ void tiles(int *in, int *out)
{
    __shared__ int buffer[64];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    cg::memcpy_async(block, buffer, in, sizeof(buffer));
    cg::wait(block);
    int v = cg::reduce(tile, buffer[block.thread_rank() & 63], cg::plus<int>());
    cg::coalesced_group active = cg::coalesced_threads();
    v += active.size() + active.shfl(v, 0) + tile.meta_group_rank();
    out[block.thread_rank()] = v + tile.any(v);
    cg::this_grid().sync();
}
__global__ void scopes(cuda::atomic<int, cuda::thread_scope_device> *a, cuda::atomic<long long> *b, int *plain)
{
    a->fetch_add(1, cuda::memory_order_relaxed);
    int expected = 3;
    a->compare_exchange_strong(expected, 5, cuda::memory_order_acq_rel);
    b->store(4, cuda::memory_order_release);
    plain[0] = a->load(cuda::memory_order_acquire) + (int)b->fetch_max(7);
    cuda::atomic_ref<int, cuda::thread_scope_block> r(plain[1]);
    r.exchange(2);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_system);
}
