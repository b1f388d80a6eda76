// Special registers, inline assembly of rarer instructions, pragmas, and performance hints.
__global__ void __launch_bounds__(128) registers(unsigned *o, unsigned long long *l)
{
    unsigned v;
#define READ(n, r) asm volatile("mov.u32 %0, %%" r ";" : "=r"(v)); o[n] = v
    READ(0, "warpid"); READ(1, "nwarpid"); READ(2, "smid"); READ(3, "nsmid"); READ(4, "lanemask_lt");
    READ(5, "clock"); READ(6, "clock_hi"); READ(7, "total_smem_size"); READ(8, "dynamic_smem_size"); READ(9, "pm0");
    READ(10, "globaltimer_lo"); READ(11, "envreg3"); READ(12, "lanemask_ge"); READ(13, "ctaid.z"); READ(14, "reserved_smem_offset_0");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(l[0]));
    asm volatile("mov.b64 %0, %%gridid;" : "=l"(l[1]));
    asm volatile("{ .reg .b32 a, b; mov.b64 {a, b}, %1; mov.b64 %0, {b, a}; }" : "=l"(l[2]) : "l"(l[3]));
}
__global__ void __maxnreg__(64) hints(float *x, const float *__restrict__ y, int n)
{
#pragma unroll 1
    for (int i = 0; i < n; i++) x[i] += __ldg(y + i);
#pragma unroll 4
    for (int i = 0; i < n; i++) x[i] *= y[i];
    if (__builtin_expect(n > 100, 0)) __brkpt();
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(x));
    asm volatile("ld.global.L1::no_allocate.L2::128B.f32 %0, [%1];" : "=f"(x[0]) : "l"(y));
    asm volatile("pmevent 3; nanosleep.u32 20;");
    asm volatile("{ .reg .b64 pol; createpolicy.fractional.L2::evict_last.b64 pol, 0.5; ld.global.L2::cache_hint.f32 %0, [%1], pol; }" : "=f"(x[1]) : "l"(y));
    asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.b32 %0, 1, 0, p; }" : "=r"(n) : "l"(y));
    x[2] = n;
    asm volatile("{ .reg .pred p; testp.infinite.f32 p, %1; @p bra DONE_%=; ex2.approx.ftz.f32 %0, %1; DONE_%=: }" : "+f"(x[3]) : "f"(x[4]));
    asm volatile("{ .reg .pred p; tanh.approx.f32 %0, %1; slct.f32.s32 %0, %0, %1, -1; }" : "=f"(x[5]) : "f"(x[6]));
}
