// The host's side: runs every kernel of a file on the same words and prints what it leaves.
#include <stdio.h>
__bf16 __truncsfbf2(float x) { unsigned u = __builtin_bit_cast(unsigned, x); u += 0x7fff + (u >> 16 & 1); return __builtin_bit_cast(__bf16, (unsigned short)(u >> 16)); }
#define RUN(name) do { extern void name(unsigned long *); _Alignas(64) unsigned long p[64]; for (unsigned long i = 0; i < 64; i++) { unsigned long x = (i + 1) * 0x9E3779B97F4A7C15ul; x ^= x >> 29; x *= 0xBF58476D1CE4E5B9ul; p[i] = i < 8 ? x ^ x >> 32 : 0; } \
    name(p); printf("%s", #name); for (int i = 0; i < 64; i++) printf(" %lx", p[i]); printf("\n"); } while (0)
int main(void) { KERNELS return 0; }
