// Inline assembly that names variables: what is in shared memory by address, a table in global memory, the number of lanes of a warp.
#define KERNEL __attribute__((nvptx_kernel)) void
__attribute__((address_space(3), used)) unsigned tile[8]; unsigned table[4] = {3, 5, 7, 9};
KERNEL assembly(unsigned *p) {
    unsigned x, y, z, w; unsigned long a;
    asm volatile("st.shared.u32 [tile+4], %1;\n\tld.shared.u32 %0, [tile+4];" : "=r"(x) : "r"(p[0]) : "memory");
    asm("ld.global.u32 %0, [table+8];" : "=r"(y)); asm("mov.u64 %0, table; cvta.global.u64 %0, %0;" : "=l"(a)); asm("mov.u32 %0, WARP_SZ;" : "=r"(z));
    asm("{\n\t.reg .pred p;\n\tsetp.gt.u32 p, %1, 10;\n\tselp.u32 %0, %2, %3, p;\n}" : "=r"(w) : "r"(p[0]), "n"(5), "r"(p[1]));
    p[2] = x; p[3] = y; p[4] = ((unsigned *)a)[1]; p[5] = z; p[6] = w;
}
