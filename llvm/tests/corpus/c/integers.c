// Integers of every width: arithmetic, checked, saturating, rotated, counted, divided.
#include "kernel.h"

#define ALL(T, U, at) do { T a = (T)p[0], b = (T)p[1]; U ua = (U)a, ub = (U)b; \
    p[at] = (u64)(U)(ua + ub); p[at + 1] = (u64)(U)(ua - ub); p[at + 2] = (u64)(U)(ua * ub); \
    p[at + 3] = b ? (u64)(U)(ua / ub) : 0; p[at + 4] = b ? (u64)(U)(ua % ub) : 0; \
    p[at + 5] = b && b != (T)-1 ? (u64)(U)(a / b) : 0; p[at + 6] = b && b != (T)-1 ? (u64)(U)(a % b) : 0; \
    p[at + 7] = (u64)(U)(a >> (ub % (sizeof(T) * 8))); p[at + 8] = (u64)(U)(ua >> (ub % (sizeof(T) * 8))); \
    p[at + 9] = (u64)(U)(ua << (ub % (sizeof(T) * 8))); p[at + 10] = (a < b) | (ua < ub) << 1 | (a <= b) << 2 | (ua >= ub) << 3 | (a == b) << 4; \
} while (0)
KERNEL void bytes(u64 *p) { ALL(i8, u8, 8); }
KERNEL void shorts(u64 *p) { ALL(i16, u16, 8); }
KERNEL void ints(u64 *p) { ALL(i32, u32, 8); }
KERNEL void longs(u64 *p) { ALL(i64, u64, 8); }
KERNEL void huge(u64 *p) {
    u128 a = (u128)p[0] << 64 | p[1], b = (u128)p[2] << 17 | p[3];
    i128 sa = (i128)a, sb = (i128)(b >> 40) - (1 << 20);
    WIDE(8, a + b); WIDE(10, a - b); WIDE(12, a * b); WIDE(14, a / b); WIDE(16, a % b);
    WIDE(18, sa / sb); WIDE(20, sa % sb); WIDE(22, sa >> (p[4] & 127)); WIDE(24, a >> (p[5] & 127)); WIDE(26, a << (p[6] & 127));
    WIDE(28, ~a); WIDE(30, -a); WIDE(32, a & b); WIDE(34, a | b); WIDE(36, a ^ b);
    p[38] = (a < b) | (sa < sb) << 1 | (a == b) << 2 | (sa >= sb) << 3;
    WIDE(40, a > b ? a : b); WIDE(42, __builtin_bswap64(p[0])); 
    p[44] = (u32)a; p[45] = (u64)(i64)(i16)a; WIDE(46, (i128)(i8)p[7]); WIDE(48, (u128)(u16)p[7]);
    WIDE(50, a / 10); WIDE(52, a % 1000000007); WIDE(54, sa / -7); WIDE(56, a / ((u128)1 << 70));
    WIDE(58, a * 3); WIDE(60, a << 64 | a >> 64);
}
#define BITS(name, N, at) do { typedef unsigned _BitInt(N) U; typedef _BitInt(N) S; U a = (U)p[0], b = (U)p[1] | 1; \
    a = a * a + (U)p[2]; S sa = (S)a, sb = (S)(b | 1); \
    p[at] = (u64)(U)(a + b); p[at + 1] = (u64)(U)(a * b); p[at + 2] = (u64)(U)(a / b); p[at + 3] = (u64)(U)(a % b); \
    p[at + 4] = (u64)(U)(sa >> (p[3] % N)); p[at + 5] = (u64)(U)(a << (p[4] % N)) ^ (u64)(U)(a >> (p[4] % N)); \
    p[at + 6] = (u64)(i64)sa; p[at + 7] = (a < b) | (sa < sb) << 1 | (a != b) << 2; \
    p[at + 8] = sb != -1 ? (u64)(i64)(sa / sb) : 0; p[at + 9] = sb != -1 ? (u64)(i64)(sa % sb) : 0; } while (0)
KERNEL void odd3(u64 *p) { BITS(a, 3, 8); BITS(b, 17, 20); BITS(c, 24, 32); BITS(d, 33, 44); }
KERNEL void odd40(u64 *p) { BITS(a, 40, 8); BITS(b, 48, 20); BITS(c, 63, 32); BITS(d, 7, 44); }
KERNEL void odd88(u64 *p) { BITS(a, 65, 8); BITS(b, 88, 20); BITS(c, 100, 32); BITS(d, 127, 44); }
KERNEL void limbs(u64 *p) {
    typedef unsigned _BitInt(200) A; typedef unsigned _BitInt(256) B; typedef _BitInt(200) S;
    A a = (A)p[0] << 130 | (A)p[1] << 64 | p[2], b = (A)p[3] << 70 | p[4];
    A r[] = {a + b, a - b, a * b, a & b, a | b, a ^ b, ~a, a << (p[5] % 200), a >> (p[6] % 200), (A)((S)a >> (p[7] % 200))};
    for (int i = 0; i < 10; i++) p[8 + i] = (u64)r[i] ^ (u64)(r[i] >> 64) * 3 ^ (u64)(r[i] >> 128) * 5 ^ (u64)(r[i] >> 192) * 7;
    B m = (B)p[0] << 192 | (B)p[1] << 128 | (B)p[2] << 64 | p[3]; m = m * m;
    p[20] = (u64)m; p[21] = (u64)(m >> 64); p[22] = (u64)(m >> 128); p[23] = (u64)(m >> 192);
    p[24] = (a < b) | ((S)a < (S)b) << 1 | (a == b) << 2;
}
struct fields { unsigned a : 3; int b : 5; unsigned long c : 33; long d : 40; u8 e : 1; _Bool f : 1; short g : 11; };
KERNEL void fields(u64 *p) {
    struct fields s = {0};
    for (int i = 0; i < 6; i++) { s.a += p[i]; s.b -= p[i + 1]; s.c ^= p[i + 2]; s.d += p[i] * 7; s.e ^= p[i]; s.f = p[i] & 4; s.g = s.g * 3 + p[i]; }
    p[8] = s.a; p[9] = (u64)(i64)s.b; p[10] = s.c; p[11] = (u64)s.d; p[12] = s.e; p[13] = s.f; p[14] = (u64)(i64)s.g;
}
#define CHECKED(T, at) do { T r; p[at] = __builtin_add_overflow((T)p[0], (T)p[1], &r); p[at + 1] = (u64)r; p[at + 2] = __builtin_sub_overflow((T)p[0], (T)p[1], &r); \
    p[at + 3] = (u64)r; p[at + 4] = __builtin_mul_overflow((T)p[0], (T)(p[1] >> 50), &r); p[at + 5] = (u64)r; } while (0)
KERNEL void checked(u64 *p) { CHECKED(i8, 8); CHECKED(u8, 14); CHECKED(i16, 20); CHECKED(u16, 26); CHECKED(i32, 32); CHECKED(u32, 38); CHECKED(i64, 44); CHECKED(u64, 50); }
KERNEL void checked_wide(u64 *p) {
    for (int i = 0; i < 3; i++) {
        i128 r; u128 u; i128 a = (i128)((u128)p[i] << 64 | p[i + 1]), b = (i128)p[i + 2] - (i128)p[i + 3];
        p[8 + i * 12] = __builtin_add_overflow(a, b, &r); WIDE(9 + i * 12, r);
        p[11 + i * 12] = __builtin_sub_overflow((u128)a, (u128)b, &u); WIDE(12 + i * 12, u);
        p[14 + i * 12] = __builtin_mul_overflow(a >> (64 - i * 8), b >> 10, &r); WIDE(15 + i * 12, r);
        p[17 + i * 12] = __builtin_mul_overflow((u128)a >> (70 - i * 20), (u128)b >> 70, &u); WIDE(18 + i * 12, u);
    }
}
#define SAT(T, at) p[at] = (u64)__builtin_elementwise_add_sat((T)p[0], (T)p[1]); p[at + 1] = (u64)__builtin_elementwise_sub_sat((T)p[0], (T)p[1])
KERNEL void saturating(u64 *p) { SAT(i8, 8); SAT(u8, 10); SAT(i16, 12); SAT(u16, 14); SAT(i32, 16); SAT(u32, 18); SAT(i64, 20); SAT(u64, 22); SAT(i128, 24); SAT(u128, 26); }
KERNEL void bits(u64 *p) {
    u64 a = p[0]; u32 b = p[1]; u16 c = p[2]; u8 d = p[3];
    p[8] = __builtin_rotateleft64(a, p[4]); p[9] = __builtin_rotateright32(b, p[5]); p[10] = __builtin_rotateleft16(c, d); p[11] = __builtin_rotateright8(d, b);
    p[12] = __builtin_bswap64(a); p[13] = __builtin_bswap32(b); p[14] = __builtin_bswap16(c); WIDE(16, __builtin_bswapg((u128)a << 64 | b));
    p[18] = __builtin_bitreverse64(a); p[19] = __builtin_bitreverse32(b); p[20] = __builtin_bitreverse16(c); p[21] = __builtin_bitreverse8(d);
    p[22] = __builtin_clzg(a | 1); p[23] = __builtin_clzg(b | 1); p[24] = __builtin_clzg((u16)(c | 1)); p[25] = __builtin_clzg((u8)(d | 1));
    p[26] = __builtin_ctzg(a | 1ul << 63); p[27] = __builtin_ctzg(b | 1u << 31); p[28] = __builtin_ctzg((u16)(c | 1 << 15)); p[29] = __builtin_ctzg((u8)(d | 128));
    p[30] = __builtin_popcountg(a); p[31] = __builtin_popcountg(b); p[32] = __builtin_popcountg(c); p[33] = __builtin_popcountg(d);
    u128 w = (u128)a << 50 | b; p[34] = __builtin_popcountg(w); p[35] = __builtin_clzg(w); p[36] = __builtin_ctzg(w << 66);
    p[37] = __builtin_parityl(a); p[38] = __builtin_ffsl(a & a << 9); p[39] = __builtin_clzg(p[5] >> 63 << 1, 99); p[40] = __builtin_ctzg((u8)0, 77);
    p[41] = (u64)__builtin_elementwise_abs((i32)b); p[42] = (u64)__builtin_elementwise_abs((i64)a); p[43] = (u64)__builtin_elementwise_abs((i8)d);
    p[44] = (u64)__builtin_elementwise_max((i32)b, (i32)a); p[45] = __builtin_elementwise_min(b, (u32)a); p[46] = (u64)__builtin_elementwise_min((i16)c, (i16)d); p[47] = __builtin_elementwise_max(d, (u8)b);
    typedef unsigned _BitInt(24) u24; p[48] = __builtin_popcountg((u24)a); p[49] = __builtin_clzg((u24)(a >> 44)); p[50] = __builtin_ctzg((u24)((u24)a << 4 | 1u << 23));
    WIDE(52, w << (d & 127) | w >> (-d & 127)); p[54] = __builtin_elementwise_fshl(a, (u64)b, (u64)c); p[55] = __builtin_elementwise_fshr(b, (u32)a, (u32)d);
    p[56] = __builtin_elementwise_fshl(d, (u8)b, (u8)c); p[57] = __builtin_elementwise_fshr(c, (u16)a, (u16)d);
}
KERNEL void casts(u64 *p) {
    _BitInt(24) x = (_BitInt(24))p[0]; _BitInt(100) y = x; unsigned _BitInt(7) z = (unsigned _BitInt(7))p[1]; _Bool f = p[2] & 1;
    p[8] = (u64)(i64)x; WIDE(10, (i128)y); p[12] = z; p[13] = f; p[14] = (u64)(i64)(_BitInt(3))z; p[15] = (u64)(i32)f - 2; p[16] = (u64)(i64)(i8)p[3]; p[17] = (u8)p[4];
    WIDE(18, (i128)(_BitInt(90))p[5] * (_BitInt(90))p[6]); p[20] = !p[0] + !!p[1];
}
