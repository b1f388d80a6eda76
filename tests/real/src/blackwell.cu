// sm_100a: tensor memory and the fifth tensor cores; packed f32, 256 bit accesses.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__global__ void fifth(unsigned long long a, unsigned long long b, unsigned idesc, unsigned *out)
{
    __shared__ unsigned address;
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
    ptx::tcgen05_alloc(ptx::cta_group_1, &address, 128);
    ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
    __syncthreads();
    unsigned t = address;
    if (threadIdx.x == 0) {
        ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, t, a, b, idesc, true);
        ptx::tcgen05_mma(ptx::kind_i8, ptx::cta_group_1, t, a, b, idesc, false);
        ptx::tcgen05_cp_128x256b(ptx::cta_group_1, t, a);
        ptx::tcgen05_commit(ptx::cta_group_1, &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    ptx::tcgen05_fence_after_thread_sync();
    unsigned r[4], q[16];
    ptx::tcgen05_ld_32x32b(r, t);
    ptx::tcgen05_ld_16x256b(q, t);
    ptx::tcgen05_wait_ld();
    ptx::tcgen05_st_32x32b(t + 8, r);
    ptx::tcgen05_wait_st();
    out[threadIdx.x] = r[0] + r[3] + q[7];
    ptx::tcgen05_dealloc(ptx::cta_group_1, t, 128);
}
__global__ void packed(unsigned long long *x, float2 *v)
{
    asm("fma.rn.f32x2 %0, %1, %2, %3;" : "=l"(x[0]) : "l"(x[1]), "l"(x[2]), "l"(x[3]));
    asm volatile("{ .reg .b32 r<8>; ld.global.v8.b32 {r0,r1,r2,r3,r4,r5,r6,r7}, [%0];\n"
                 "st.global.v8.b32 [%0+32], {r7,r6,r5,r4,r3,r2,r1,r0}; }" ::"l"(v) : "memory");
}
