// A variable that assembly outside of functions declares.
__asm__(".shared .align 16 .b8 tile[256];");
__attribute__((nvptx_kernel)) void tiles(unsigned *p) {
    unsigned t = __nvvm_read_ptx_sreg_tid_x(), x;
    asm volatile("{ .reg .b32 a; mov.u32 a, tile; mad.lo.u32 a, %0, 4, a; st.shared.u32 [a], %1; }" ::"r"(t), "r"(t * 3 + p[t]) : "memory");
    __syncthreads();
    asm volatile("{ .reg .b32 a; mov.u32 a, tile; mad.lo.u32 a, %1, 4, a; ld.shared.u32 %0, [a]; }" : "=r"(x) : "r"(t ^ 1) : "memory");
    p[t] = x;
}
