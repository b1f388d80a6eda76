// Integer arithmetic: 64 and 128 bits, dp4a, video instructions, bits, permutes, funnel shifts, narrow types.
typedef unsigned u32;
__global__ void longs(long long *a, unsigned long long *b, short *s, signed char *c, unsigned char *d)
{
    a[0] = a[1] / a[2] + a[3] % a[4];
    b[0] = __umul64hi(b[1], b[2]) + __umulhi((u32)b[2], (u32)b[3]);
    s[0] = s[1] * s[2];
    c[0] = c[1] + c[2];
    d[1] = d[2] >> (c[3] & 7);
    a[5] = __mul64hi(a[1], a[2]);
    b[3] = __ldg(b + 4);
    __stcs(b + 5, b[6]);
    __stwt(b + 7, __ldcv(b + 8) + __ldcg(b + 9) + __ldlu(b + 10));
}
__global__ void wide(__int128 *a, unsigned __int128 *b)
{
    a[0] = a[1] * a[2] + a[3];
    a[4] = a[5] / a[6];
    b[0] = (b[1] >> 3) % b[2] - b[3];
}
__global__ void dots(int *a, u32 *b)
{
    a[0] = __dp4a(a[1], a[2], a[3]);
    b[0] = __dp4a(b[1], b[2], b[3]);
    a[4] = __dp2a_lo(a[5], a[6], a[7]) + __dp2a_hi(a[1], a[2], a[3]);
    a[8] = __mul24(a[1], a[2]) + __sad(a[1], a[2], b[3]);
    a[9] = __rhadd(a[1], a[2]) + __hadd(a[3], a[4]);
}
__global__ void video(u32 *a)
{
    a[0] = __vadd4(a[1], a[2]);
    a[1] = __vabsdiffu4(a[2], a[3]) + __vavgs2(a[4], a[5]);
    a[2] = __vmaxs2(a[3], a[4]) ^ __vcmpgtu4(a[5], a[6]);
    a[3] = __vsads4(a[4], a[5]) + __vsetleu2(a[6], a[7]);
    a[4] = __viaddmax_s32_relu(a[1], a[2], a[3]) + __vimin3_s16x2(a[1], a[2], a[3]);
    asm("vadd.s32.u32.s32.sat %0, %1.b0, %2.h1;" : "=r"(a[5]) : "r"(a[6]), "r"(a[7]));
    asm("vset4.u32.u32.gt %0, %1.b0123, %2.b4567, %3;" : "=r"(a[6]) : "r"(a[8]), "r"(a[7]), "r"(a[1]));
}
__global__ void bits(u32 *a, unsigned long long *b)
{
    a[0] = __popc(a[1]) + __clz(a[2]) + __ffs(a[3]) + __brev(a[4]);
    a[5] = __byte_perm(a[6], a[7], 0x5140) ^ __funnelshift_l(a[1], a[2], a[3]) ^ __funnelshift_rc(a[1], a[2], 9);
    b[0] = __popcll(b[1]) + __clzll(b[2]) + __brevll(b[3]) + __ffsll(b[4]);
    a[9] = __fns(a[1], a[2], a[3]);
    asm("bfe.u32 %0, %1, 3, 5;" : "=r"(a[8]) : "r"(a[9]));
    asm("bfi.b32 %0, %1, %2, 4, 9;" : "=r"(a[10]) : "r"(a[9]), "r"(a[8]));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(a[11]) : "r"(a[9]), "r"(a[8]), "r"(a[7]));
    asm("{ .reg .pred p; setp.gt.and.s32 p, %1, %2, 1; @!p mov.b32 %0, 0x7; }" : "+r"(a[12]) : "r"(a[9]), "r"(a[8]));
}
