// What C has: bit fields, 128-bit and odd integers, vectors, unions, atomics.
typedef unsigned long long u64;
typedef unsigned u32;
typedef int v4i __attribute__((ext_vector_type(4)));
typedef float v3f __attribute__((ext_vector_type(3)));
typedef __int128 i128;
typedef unsigned __int128 u128;

#define KERNEL __attribute__((device_kernel))

struct Bits { u64 a : 5, b : 37, c : 22; int d : 3; };

KERNEL void bits(u64 *p) {
  struct Bits s = {p[0], p[1], p[2], (int)p[3]};
  s.b += s.a;
  s.c ^= s.b >> 7;
  s.d -= 2;
  p[4] = s.a; p[5] = s.b; p[6] = s.c; p[7] = (u64)(long long)s.d;
}

KERNEL void wide(u64 *p) {
  u128 a = (u128)p[0] << 64 | p[1];
  u128 b = (u128)p[2] << 64 | p[3];
  u128 s = a + b, d = a - b, m = a * b;
  u128 sh = (a >> (p[3] & 127)) ^ (b << (p[1] & 127));
  p[4] = s >> 64; p[5] = s; p[6] = d >> 64; p[7] = d; p[8] = m >> 64; p[9] = m;
  p[10] = sh >> 64; p[11] = sh; p[12] = a < b; p[13] = (i128)a < (i128)b;
  i128 as = (i128)a >> (p[2] & 127);
  p[14] = (u64)(as >> 64); p[15] = (u64)as;
}

KERNEL void vectors(int *p, float *f) {
  v4i a = *(v4i *)p, b = *(v4i *)(p + 4);
  v4i c = a * b + (a > b ? a : b);
  c = c.wzyx;
  *(v4i *)(p + 8) = c;
  v3f g = *(v3f *)f;
  g = g * 2.0f + g.zxy;
  *(v3f *)(f + 4) = g;
  p[12] = a[p[15] & 3];
}

KERNEL void atomics(int *p, u64 *q, short *s) {
  p[1] = __atomic_fetch_add(&p[0], 5, __ATOMIC_SEQ_CST);
  p[2] = __atomic_exchange_n(&p[0], 9, __ATOMIC_ACQ_REL);
  int expected = 9;
  p[3] = __atomic_compare_exchange_n(&p[0], &expected, 11, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  p[4] = expected;
  p[5] = __atomic_compare_exchange_n(&p[0], &expected, 12, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  p[6] = expected;
  p[7] = __atomic_fetch_nand(&p[0], 3, __ATOMIC_RELAXED);
  q[1] = __atomic_fetch_max(&q[0], 77, __ATOMIC_RELAXED);
  s[1] = __atomic_fetch_add(&s[0], 3, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&p[8], __atomic_load_n(&p[0], __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

struct Node { int kind; union { float f; int i; struct { short lo, hi; } h; } u; char name[8]; };

static struct Node make(int kind, int bits) {
  struct Node n = {kind, {.i = bits}, "node"};
  return n;
}

KERNEL void aggregates(int *p) {
  struct Node n = make(p[0], p[1]);
  struct Node m = n;
  m.u.h.hi += 1;
  __builtin_memcpy(n.name, m.name, 4);
  n.name[0] = 'c';
  p[2] = n.kind; p[3] = m.u.i; p[4] = n.name[0] + n.name[3];
  p[5] = n.u.f > 1.0f;
}

KERNEL void checked(int *p, u64 *q) {
  int r; p[2] = __builtin_add_overflow(p[0], p[1], &r); p[3] = r;
  p[4] = __builtin_mul_overflow(p[0], p[1], &r); p[5] = r;
  u64 u; q[2] = __builtin_sub_overflow(q[0], q[1], &u); q[3] = u;
  q[4] = __builtin_mul_overflow(q[0], q[1], &u); q[5] = u;
  q[6] = __builtin_bswap64(q[0]); q[7] = __builtin_rotateleft64(q[1], (u32)q[0]);
}
