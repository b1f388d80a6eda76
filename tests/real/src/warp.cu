// Warp operations, barriers, atomics and reductions of every scope.
__global__ void reduce(const float *x, float *out)
{
    __shared__ float s[32];
    float v = x[threadIdx.x];
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    if (!(threadIdx.x & 31)) s[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = s[threadIdx.x];
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
        if (!threadIdx.x) atomicAdd(out, v);
    }
}
__global__ void vote(int *out)
{
    unsigned m = __ballot_sync(~0u, threadIdx.x & 1);
    out[threadIdx.x] = __popc(m) + __any_sync(~0u, m) + __all_sync(m, 1) + __activemask();
    out[1] = __match_any_sync(~0u, m) + __shfl_sync(~0u, m, 3, 8) + __shfl_up_sync(~0u, m, 1);
    int all;
    out[3] = __match_all_sync(~0u, (long long)m, &all) + all;
#if __CUDA_ARCH__ >= 800
    out[2] = __reduce_add_sync(~0u, m) + __reduce_max_sync(~0u, (int)m) + __reduce_xor_sync(~0u, m);
#endif
    __syncwarp();
    out[4] = __syncthreads_count(m) + __syncthreads_or(m) + __syncthreads_and(m);
    asm volatile("bar.arrive 1, 64;\n\tbarrier.sync.aligned 2, %0;" ::"r"(64));
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; }" ::: "memory");
#endif
    out[5] = lane;
}
__global__ void atoms(unsigned *u, unsigned long long *l, float *f, double *d, int *i, float4 *v)
{
    atomicAdd(u, 1);
    atomicMax(i, 3);
    i[1] = atomicMin(i, 2) + atomicAnd(i, 1) + atomicSub(i, 6);
    l[1] = atomicCAS(l, 1ull, 2ull);
    f[1] = atomicExch(f, 1.f);
    atomicAdd(d, 1.0);
    atomicXor(u, 7);
    u[1] = atomicInc(u, 9) + atomicDec(u, 4);
    atomicAdd_block(u, 2);
    atomicAdd_system(u, 2);
    atomicMin(l, 5ull);
    atomicCAS((unsigned short *)i, 1, 2);
    __shared__ int s[4];
    atomicOr(s + 1, 5);
    i[2] = s[1];
#if __CUDA_ARCH__ >= 900
    v[1] = atomicAdd(v, v[2]);
#endif
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(u) : "memory");
    asm volatile("fence.acq_rel.sys; membar.gl;" ::: "memory");
    asm volatile("st.relaxed.sys.global.u32 [%0+4], %1;" ::"l"(u), "r"(u[3]) : "memory");
    asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(u[4]) : "l"(u) : "memory");
    asm volatile("prefetch.global.L2 [%0];" ::"l"(u));
#if __CUDA_ARCH__ >= 800
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(u));
#endif
}
