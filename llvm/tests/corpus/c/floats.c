// Floats of every format: arithmetic, comparisons, conversions with integers of every width, classes, rounding.
#include "kernel.h"
typedef _Float16 f16; typedef __bf16 bf16;
static u64 of(double x) { return x != x ? 0x7ff8000000000000 : __builtin_bit_cast(u64, x); }
static u64 off(float x) { return x != x ? 0x7fc00000 : __builtin_bit_cast(u32, x); }
static u64 ofh(f16 x) { return x != x ? 0x7e00 : __builtin_bit_cast(u16, x); }
static double d(u64 x) { return __builtin_bit_cast(double, (x & 0x801fffffffffffff) | (u64)(1023 - 20 + (x >> 56 & 31)) << 52); }
static float f(u64 x) { return __builtin_bit_cast(float, (u32)((x & 0x807fffff) | (u32)(127 - 10 + (x >> 56 & 15)) << 23)); }
static f16 h(u64 x) { return __builtin_bit_cast(f16, (u16)((x & 0x83ff) | (15 - 3 + (x >> 56 & 7)) << 10)); }
#pragma STDC FP_CONTRACT OFF
#define ARITH(T, of, v) do { T a = v(p[0]), b = v(p[1]), c = v(p[2]); p[8] = of(a + b); p[9] = of(a - b); p[10] = of(a * b); p[11] = of(a / b); p[12] = of(-a); \
    p[13] = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 | __builtin_isunordered(a, b) << 6 | __builtin_islessgreater(a, b) << 7; \
    T n = (T)__builtin_nan(""); p[14] = (a < n) | (a == n) << 1 | (n != n) << 2 | !(n < a) << 3 | !(n >= a) << 4 | __builtin_isunordered(a, n) << 5; \
    p[15] = of(a > b ? a : b); a += c; a *= b; p[16] = of(a); p[17] = of((T)0 / a); p[18] = of((T)1 / (T)0 - b); } while (0)
KERNEL void doubles(u64 *p) { ARITH(double, of, d); }
KERNEL void singles(u64 *p) { ARITH(float, off, f); }
KERNEL void halves(u64 *p) { ARITH(f16, ofh, h); }
KERNEL void functions(u64 *p) {
    for (int i = 0; i < 3; i++) {
        double x = d(p[i]) + i, y = d(p[i + 1]), z = d(p[i + 2]); u64 *q = p + 8 + i * 16;
        q[0] = of(__builtin_floor(x)); q[1] = of(__builtin_ceil(x)); q[2] = of(__builtin_trunc(x)); q[3] = of(__builtin_rint(x)); q[4] = of(__builtin_round(x)); q[5] = of(__builtin_roundeven(x));
        q[6] = of(__builtin_fabs(x)); q[7] = of(__builtin_copysign(x, y)); q[8] = of(__builtin_fma(x, y, z)); q[9] = of(__builtin_fmin(x, y)); q[10] = of(__builtin_fmax(x, y)); q[11] = of(__builtin_elementwise_sqrt(__builtin_fabs(x)));
        q[12] = off(__builtin_floorf((float)x)) ^ off(__builtin_ceilf((float)y)) << 1 ^ off(__builtin_roundf((float)z)); q[13] = off(__builtin_fmaf((float)x, (float)y, (float)z)); q[14] = off(__builtin_fminf((float)x, (float)y)) ^ off(__builtin_copysignf((float)z, (float)x)) << 3;
        q[15] = off(__builtin_elementwise_sqrt(__builtin_fabsf((float)y)));
    }
}
KERNEL void rounds(u64 *p) {
    static const double xs[] = {0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 4503599627370497.5, -0.0, 1e300, -3.7};
    for (int i = 0; i < 10; i++) { double x = xs[i]; p[8 + i * 5] = of(__builtin_round(x)); p[9 + i * 5] = of(__builtin_rint(x)); p[10 + i * 5] = of(__builtin_trunc(x)); p[11 + i * 5] = of(__builtin_floor(x)); p[12 + i * 5] = off(__builtin_roundf((float)x)); }
}
KERNEL void to_integers(u64 *p) {
    double x = d(p[0]), y = __builtin_fabs(d(p[1])); float s = f(p[2]), t = __builtin_fabsf(f(p[3])); f16 g = h(p[4]);
    p[8] = (u64)(i64)x; p[9] = (u64)(i32)x; p[10] = (u64)y; p[11] = (u32)y; p[12] = (u64)(i64)s; p[13] = (u32)t; p[14] = (u64)(i64)(i16)g; p[15] = (u8)t; p[16] = (u64)(i64)(i8)(s / 16);
    WIDE(18, (i128)(x * 1e25)); WIDE(20, (u128)(y * 1e25)); WIDE(22, (i128)(s * 1e20f)); WIDE(24, (u128)(t * 1e20f)); p[26] = (u64)(_BitInt(24))s; p[27] = (u64)(unsigned _BitInt(40))y; p[28] = (u64)(_BitInt(100))x; p[29] = (_Bool)x; p[30] = (u64)(i64)g;
}
KERNEL void from_integers(u64 *p) {
    for (int i = 0; i < 4; i++) {
        u64 *q = p + 8 + i * 14; u64 a = p[i] >> (i * 9);
        q[0] = of((double)(i64)a); q[1] = of((double)a); q[2] = of((double)(i32)a); q[3] = of((double)(u32)a); q[4] = off((float)(i64)a); q[5] = off((float)a); q[6] = off((float)(i32)a); q[7] = off((float)(u16)a);
        q[8] = ofh((f16)(i16)a); q[9] = of((double)((u128)a << 50 | p[5])); q[10] = of((double)((i128)a * (i64)p[6])); q[11] = off((float)((i128)a * (i64)p[7] >> (i * 20))); q[12] = of((double)(_BitInt(24))a); q[13] = off((float)(unsigned _BitInt(40))a) ^ ofh((f16)(u8)a) << 40;
    }
}
KERNEL void formats(u64 *p) {
    double x = d(p[0]); float s = f(p[1]); f16 g = h(p[2]); bf16 b = (bf16)s;
    p[8] = off((float)x); p[9] = of((double)s); p[10] = ofh((f16)s); p[11] = off((float)g); p[12] = ofh((f16)x); p[13] = of((double)g); p[14] = __builtin_bit_cast(u16, b); p[15] = off((float)b); p[16] = off((float)b * 3.0f + (float)g);
    bf16 c = (bf16)((float)b + 1.5f); p[17] = __builtin_bit_cast(u16, c); p[18] = (b < c) | (b == c) << 1;
    f16 v[4] = {g, (f16)2.0, (f16)(g + 1), (f16)-g}; f16 sum = 0; for (int i = 0; i < 4; i++) sum += v[i] * v[(i + 1) & 3]; p[19] = ofh(sum);
}
KERNEL void classes(u64 *p) {
    static const u64 xs[] = {0, 1ul << 63, 1, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0x3ff0000000000000, 0x8000000000000001, 0xc000000000000000};
    for (int i = 0; i < 10; i++) { double x = __builtin_bit_cast(double, xs[i]); p[8 + i] = !!__builtin_isnan(x) | !!__builtin_isinf(x) << 1 | !!__builtin_isfinite(x) << 2 | !!__builtin_isnormal(x) << 3 | !!__builtin_issubnormal(x) << 4 | !!__builtin_iszero(x) << 5 | !!__builtin_signbit(x) << 6 | !!__builtin_issignaling(x) << 7 | !!__builtin_isfpclass(x, 0x155) << 8;
        float y = __builtin_bit_cast(float, (u32)(xs[i] >> 32)); p[20 + i] = !!__builtin_isnan(y) | !!__builtin_isinf(y) << 1 | !!__builtin_isnormal(y) << 2 | !!__builtin_issubnormal(y) << 3 | !!__builtin_signbit(y) << 4; }
}
KERNEL void minima(u64 *p) {
    static const double xs[] = {0.0, -0.0, 1.0, -2.0, __builtin_inf(), -__builtin_inf()};
    int at = 8; for (int i = 0; i < 6; i++) for (int j = 0; j < 3; j++) { double x = xs[i], y = xs[j + 2]; p[at++] = of(__builtin_elementwise_minimum(x, y)); p[at++] = of(__builtin_elementwise_maximum(x, y)); if (at > 60) return; }
}
KERNEL void remainders(u64 *p) {
    for (int i = 0; i < 6; i++) { double x = d(p[i]) * 1e6, y = d(p[i + 1]); p[8 + i] = of(__builtin_elementwise_fmod(x, y)); p[20 + i] = off(__builtin_elementwise_fmod((float)x, (float)y)); }
    p[30] = of(__builtin_elementwise_fmod(1e300, 3e-300)); p[31] = of(__builtin_elementwise_fmod(-0.0, 3.0)); p[32] = of(__builtin_elementwise_fmod(5.0, __builtin_inf()));
}
