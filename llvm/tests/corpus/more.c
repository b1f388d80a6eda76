// Division of 128 bits, conversions between wide integers and floats, remainders of floats, variable arguments, inline assembly.
typedef unsigned long long u64;
typedef __int128 i128;
typedef unsigned __int128 u128;
#define KERNEL __attribute__((device_kernel))

KERNEL void divide(u64 *p) {
  u128 a = (u128)p[0] << 64 | p[1], b = (u128)p[2] << 64 | p[3];
  u128 q = a / b, r = a % b;
  p[4] = q >> 64; p[5] = q; p[6] = r >> 64; p[7] = r;
  i128 sq = (i128)a / (i128)b, sr = (i128)a % (i128)b;
  p[8] = (u64)(sq >> 64); p[9] = (u64)sq; p[10] = (u64)(sr >> 64); p[11] = (u64)sr;
}

KERNEL void convert(u64 *p, double *d) {
  u128 a = (u128)p[0] << 64 | p[1];
  d[1] = (double)a; d[2] = (double)(i128)a; d[3] = (float)a;
  u128 b = (u128)d[0];
  i128 c = (i128)-d[0];
  p[2] = b >> 64; p[3] = b; p[4] = (u64)(c >> 64); p[5] = (u64)c;
}

KERNEL void remainders(double *d, float *f) {
  d[2] = __builtin_fmod(d[0], d[1]);
  f[2] = __builtin_fmodf(f[0], f[1]);
}

typedef struct { int x; double y; } Both;
static __attribute__((noinline)) int sum(int count, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, count);
  int total = 0;
  for (int i = 0; i < count; ++i) total += __builtin_va_arg(list, int) + (int)__builtin_va_arg(list, double);
  __builtin_va_end(list);
  return total;
}
KERNEL void variadic(int *p) { p[1] = sum(2, p[0], 2.5, 7, 30.25); }

KERNEL void assembly(int *p, u64 *q) {
  int x, y;
  asm("{ .reg .pred t; setp.lt.s32 t, %2, %3; selp.s32 %0, %2, %3, t; @t add.s32 %0, %0, 100; mul.lo.s32 %1, %2, %3; }"
      : "=&r"(x), "=r"(y) : "r"(p[0]), "r"(p[1]));
  p[2] = x; p[3] = y;
  int n = p[0];
  asm volatile("{ .reg .pred t; LOOP: add.s32 %0, %0, 3; setp.lt.s32 t, %0, 20; @t bra LOOP; }" : "+r"(n));
  p[4] = n;
  asm("mov.u32 %0, %%laneid;" : "=r"(p[5]));
  asm("mad.wide.u32 %0, %1, %2, %0;" : "+l"(q[0]) : "r"(p[0]), "n"(7));
  asm volatile("st.global.u32 [%0], %1;" :: "l"(p + 6), "r"(42) : "memory");
}

KERNEL void oddities(int *p, float *f) {
  _BitInt(37) a = p[0], b = p[1];
  a = a * b + 12345;
  p[2] = (int)(a >> 5);
  unsigned _BitInt(3) c = p[0];
  c += 5;
  p[3] = c;
  _BitInt(121) w = p[0];
  w = (w << 100) + p[1];
  p[4] = (int)(w >> 98);
  p[5] = __builtin_clzll(p[0] | 1ull) + __builtin_ctz(p[1] | 256) + __builtin_popcountll(p[0]);
  f[1] = __builtin_floorf(f[0]) + __builtin_roundf(f[0]) + __builtin_rintf(f[0]) + __builtin_copysignf(2, f[0]);
  f[2] = __builtin_isnan(f[0]) + 2 * __builtin_isinf(f[0]) + 4 * __builtin_isfinite(f[0]);
  char big[600];
  __builtin_memset(big, p[1], sizeof big);
  __builtin_memmove(big + 3, big + 1, 500);
  big[17] = 9;
  __builtin_memmove(big + 2, big + 5, p[1] + 100);
  p[6] = big[14] + big[400] + big[599];
}
