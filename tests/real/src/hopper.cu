// sm_90: clusters, TMA, mbarrier, bulk copies, and wgmma where the target has it.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
typedef cuda::barrier<cuda::thread_scope_block> Barrier;
__global__ void __cluster_dims__(2, 1, 1) neighbours(int *out)
{
    __shared__ int s;
    cg::cluster_group cluster = cg::this_cluster();
    s = cluster.block_rank();
    cluster.sync();
    out[threadIdx.x] = *cluster.map_shared_rank(&s, 1) + cluster.num_blocks();
    cluster.sync();
}
__global__ void tensor(const __grid_constant__ CUtensorMap map, int x, int y)
{
    __shared__ alignas(128) int tile[16][16];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    tile[0][threadIdx.x] += threadIdx.x;
    cuda::device::experimental::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);
        cuda::device::experimental::cp_async_bulk_commit_group();
        cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
        (&bar)->~Barrier();
    }
}
__global__ void bulk(int *in, int *out)
{
    __shared__ alignas(16) int buffer[256];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buffer, in, 1024, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 1024);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    buffer[threadIdx.x] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, buffer, 1024);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"((unsigned)__cvta_generic_to_shared(buffer)), "r"(in[0]), "r"(in[1]));
    asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;");
}
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
__global__ void warpgroup(float *d, unsigned long long a, unsigned long long b)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;\n wgmma.fence.sync.aligned;");
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(1));
    asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;");
}
#endif
