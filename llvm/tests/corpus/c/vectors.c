// Vectors of every length and element.
#include "kernel.h"
#define V(T, n) __attribute__((ext_vector_type(n))) T
typedef V(i32, 2) i2; typedef V(i32, 3) i3; typedef V(i32, 4) i4; typedef V(i32, 8) i8v; typedef V(u8, 4) b4; typedef V(u8, 16) b16; typedef V(i16, 2) s2; typedef V(i16, 8) s8; typedef V(float, 4) f4; typedef V(float, 3) f3; typedef V(double, 2) d2; typedef V(_Float16, 2) h2; typedef V(_Float16, 4) h4; typedef V(u64, 8) l8; typedef V(_Bool, 8) m8; typedef V(i8, 3) c3; typedef V(u64, 2) l2; typedef V(_Bool, 4) m4; typedef V(i32, 16) i16v; typedef V(i128, 2) w2;
#define PUT(at, v) do { __typeof__(v) v_ = (v); __builtin_memcpy(p + (at), &v_, sizeof v_); } while (0)
static i4 load4(u64 *p, int at) { i4 v; __builtin_memcpy(&v, p + at, 16); return v; }
KERNEL void integers(u64 *p) {
    i4 a = load4(p, 0), b = load4(p, 2); PUT(8, a + b); PUT(10, a * b); PUT(12, a - b); PUT(14, a & b); PUT(16, a << (b & 31)); PUT(18, a >> (b & 31)); PUT(20, a > b); PUT(22, a == b ? a : b); PUT(24, a > b ? a : b); PUT(26, a / (b | 1)); PUT(28, a % (b | 1)); PUT(30, ~a); PUT(32, -a); PUT(34, !a);
    PUT(36, __builtin_elementwise_max(a, b)); PUT(38, __builtin_elementwise_abs(a)); PUT(40, __builtin_elementwise_add_sat(a, b)); PUT(42, __builtin_elementwise_popcount(a)); PUT(44, __builtin_elementwise_bitreverse(b));
    p[46] = (u32)__builtin_reduce_add(a); p[47] = (u32)__builtin_reduce_mul(a); p[48] = (u32)__builtin_reduce_xor(a); p[49] = (u32)__builtin_reduce_max(a); p[50] = (u32)__builtin_reduce_min(b); p[51] = (u32)__builtin_reduce_or(a); p[52] = (u32)__builtin_reduce_and(b);
    PUT(54, a.wzyx); PUT(56, a.xxyy + b.xyxy); PUT(58, a.lo); a.y = 7; a[p[7] & 3] = 9; p[59] = a[p[6] & 3]; PUT(60, a);
}
KERNEL void small(u64 *p) {
    b4 a, b; __builtin_memcpy(&a, p, 4); __builtin_memcpy(&b, p + 1, 4); p[8] = p[9] = p[10] = p[11] = p[12] = p[13] = 0; PUT(8, a + b); PUT(9, a * b); PUT(10, a > b); PUT(11, a >> (b & 7)); PUT(12, (a | b) ^ a.wzyx); PUT(13, a / (b | 1));
    b16 c, d; __builtin_memcpy(&c, p, 16); __builtin_memcpy(&d, p + 2, 16); PUT(14, c + d); PUT(16, c > d ? c : d); PUT(18, __builtin_shufflevector(c, d, 0, 16, 1, 17, 2, 18, 3, 19, 31, 30, 29, 28, 15, 14, 13, 12)); c[p[4] & 15] = 200; PUT(20, c); p[22] = __builtin_reduce_max(c);
    s2 s, t; __builtin_memcpy(&s, p, 4); __builtin_memcpy(&t, p + 1, 4); p[23] = p[24] = p[25] = 0; PUT(23, s * t); PUT(24, s.yx - t); PUT(25, s < t); s8 u; __builtin_memcpy(&u, p + 3, 16); PUT(26, u * u + 3); PUT(28, __builtin_convertvector(u, i8v)); PUT(32, __builtin_convertvector(load4(p, 5), V(i16, 4)));
    c3 e = {(i8)p[0], (i8)p[1], (i8)p[2]}; e = e * 3 + e.zyx; p[34] = (u8)e.x | (u8)e.y << 8 | (u8)e.z << 16; i3 g = {1, 2, (i32)p[3]}; g *= g.yzx; p[35] = (u32)g.x; p[36] = (u32)g.y; p[37] = (u32)g.z; p[38] = sizeof g + sizeof e;
}
KERNEL void floats(u64 *p) {
#pragma STDC FP_CONTRACT OFF
    f4 a = __builtin_convertvector(load4(p, 0), f4), b = __builtin_convertvector(load4(p, 2) >> 8, f4); PUT(8, a + b); PUT(10, a * b); PUT(12, a / b); PUT(14, a < b); PUT(16, a < b ? a : b); PUT(18, -a); PUT(20, __builtin_elementwise_floor(a / 1000)); PUT(22, __builtin_elementwise_abs(a)); PUT(24, __builtin_elementwise_sqrt(__builtin_elementwise_abs(b))); PUT(26, __builtin_convertvector(b / 3, i4));
    f3 c = a.xyz * 2.0f; c = c.zxy + 1.0f; p[28] = __builtin_bit_cast(u32, c.x); p[29] = __builtin_bit_cast(u32, c.y); p[30] = __builtin_bit_cast(u32, c.z); d2 d = __builtin_convertvector(a.xy, d2) * 1.5; PUT(32, d); h2 h = __builtin_convertvector(b.xy / 65536.0f, h2); p[34] = 0; PUT(34, h * h + h); h4 k = {h.x, h.y, 1, 2}; PUT(35, k.wzyx - k); PUT(36, __builtin_elementwise_max(a, b)); PUT(38, __builtin_elementwise_fma(a, b, a)); PUT(40, __builtin_elementwise_copysign(a, b));
    f4 v = a; v.zw = b.xy; PUT(42, v); p[44] = __builtin_bit_cast(u32, __builtin_reduce_max(a)); p[45] = __builtin_bit_cast(u32, __builtin_reduce_min(b));
}
NOINLINE i8v twice(i8v a, f3 b, m8 c) { return a * 2 + (i32)b.z + (i32)c[3]; }
NOINLINE m8 mask(i8v a, i8v b) { return __builtin_convertvector(a < b, m8); }
NOINLINE f3 third(f3 a) { return a.yzx; }
NOINLINE w2 widen(l2 a) { return __builtin_convertvector(a, w2) * 3; }
KERNEL void calls(u64 *p) {
    i8v a, b; __builtin_memcpy(&a, p, 32); __builtin_memcpy(&b, p + 4, 32); m8 m = mask(a, b); PUT(8, twice(a, (f3){1, 2, 3}, m)); p[12] = 0; PUT(12, m); m8 n = ~m | mask(b, a); p[13] = 0; PUT(13, n); m = m ^ n; p[14] = 0; PUT(14, m); PUT(15, __builtin_convertvector(m, V(u8, 8))); f3 t = third((f3){1, 2.5, 3}); p[16] = __builtin_bit_cast(u32, t.x) + __builtin_bit_cast(u32, t.y) * 3ul; w2 w = widen((l2){p[0], p[1]}); PUT(18, w);
    l8 l; __builtin_memcpy(&l, p, 64); l = l * l + (u64)(m[2] ? 5 : 6); PUT(22, l); p[30] = __builtin_reduce_add(l); i16v big = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); big = big ^ big.s0123012301230123; PUT(32, big); m8 sel = m & n; PUT(40, __builtin_convertvector(sel, i8v) != 0 ? a : b); p[44] = __builtin_reduce_or(sel) | __builtin_reduce_and(n) << 1;
}
KERNEL void pointers(u64 *p) {
    V(u64, 4) idx = {3, 1, 0, 2}; u64 s = 0; for (int i = 0; i < 4; i++) s = s * 5 + p[idx[i]]; p[8] = s; i4 arr[4]; for (int i = 0; i < 4; i++) arr[i] = load4(p, i) + i; i4 t = arr[p[0] & 3]; PUT(10, t); arr[p[1] & 3].z = 5; i4 q = arr[0] ^ arr[1] ^ arr[2] ^ arr[3]; PUT(12, q);
    struct { c3 a; i3 b; m4 c; f3 d; } x = {{1, 2, 3}, {4, 5, 6}, {1, 0, 1, 1}, {7, 8, 9}}; x.b += __builtin_convertvector(x.a, i3); p[14] = (u32)x.b.x + (u32)x.b.y * 100 + (u32)x.b.z * 10000; p[15] = x.c[0] | x.c[3] << 1 | x.c[1] << 2; p[16] = (u64)x.d.y; p[17] = sizeof x;
}
