// Integers of more than 128 bits: division, saturation, checked products, counted bits, funnel shifts, floats.
#include "kernel.h"
#pragma STDC FP_CONTRACT OFF
#define H(v) ({ U v_ = (U)(v); u64 h_ = 0; for (int i_ = 0; i_ < N; i_ += 32) h_ = h_ * 31 + (u32)(v_ >> i_); h_; })
// clang 22 has no code for funnel shifts of such numbers on a host.
#define OP(NN, at) do { enum { N = NN }; typedef unsigned _BitInt(NN) U; typedef _BitInt(NN) S; U a = (U)p[0] << (N - 66) ^ (U)p[1] << 60 ^ p[2], b = (U)p[3] << 40 ^ p[4], c = (U)p[5] << (N - 64) | (p[6] & 1); S s = (S)a, t = (S)c, z = (S)b; u64 h; \
 p[at] = H(a / b) ^ H(a % b) * 3; p[at + 1] = H(c / a) ^ H(c % a) * 5; p[at + 2] = H(s / z) ^ H(s % z) * 3; p[at + 3] = H(t / -z) ^ H(t % -z) * 7; p[at + 4] = H(-s / (z | 1)) ^ H(a / 10) ^ H(t % 1000); \
 h = H(__builtin_elementwise_add_sat(a, c)); h = h * 3 + H(__builtin_elementwise_sub_sat(b, c)); h = h * 3 + H(__builtin_elementwise_add_sat(s, t)); h = h * 3 + H(__builtin_elementwise_sub_sat(s, t)); h = h * 3 + H(__builtin_elementwise_add_sat(t, t)); h = h * 3 + H(__builtin_elementwise_sub_sat(~t, t)); p[at + 5] = h; \
 U r; S q; h = __builtin_mul_overflow(a, b, &r); h = h * 3 + H(r);  h = h * 3 + __builtin_mul_overflow(b, (U)p[7], &r); h = h * 3 + H(r); p[at + 6] = h; \
 p[at + 7] = __builtin_clzg(b) + __builtin_ctzg(c) * 1000 + __builtin_clzg((U)0, 77) * 1000000ul; p[at + 8] = H(__builtin_elementwise_abs(s)) + H(__builtin_elementwise_abs(-z)) + H(__builtin_elementwise_max(s, t)) + H(__builtin_elementwise_min(a, b)); \
 p[at + 9] = H(FSHL(a, b, c)) + H(FSHR(a, b, (U)5)) * 3 + H(FSHL(a, c, (U)70)) * 7; p[at + 10] = __builtin_bit_cast(u64, (double)a) ^ __builtin_bit_cast(u64, (double)s) * 3 ^ __builtin_bit_cast(u64, (double)(b >> 50)); p[at + 11] = __builtin_bit_cast(u32, (float)z) ^ (u64)__builtin_bit_cast(u32, (float)(S)(b >> 80)) << 20 ^ __builtin_bit_cast(u32, (float)(U)(a >> (N - 120))); \
 p[at + 12] = H((S)(double)-z) ^ H((U)(float)(b >> 60)) ^ H((S)3.7f) ^ H((S)-0.5) ^ H((S)-1e20); } while (0)
#ifdef __NVPTX__
#define FSHL(a, b, c) __builtin_elementwise_fshl(a, b, c)
#define FSHR(a, b, c) __builtin_elementwise_fshr(a, b, c)
#else
#define FSHL(a, b, c) ({ U a_ = a, b_ = b; unsigned k_ = (unsigned)((c) % N); k_ ? (U)(a_ << k_ | b_ >> (N - k_)) : a_; })
#define FSHR(a, b, c) ({ U a_ = a, b_ = b; unsigned k_ = (unsigned)((c) % N); k_ ? (U)(b_ >> k_ | a_ << (N - k_)) : b_; })
#endif
KERNEL void by_129(u64 *p) { OP(129, 8); }
KERNEL void by_192(u64 *p) { OP(192, 8); }
KERNEL void by_255(u64 *p) { OP(255, 8); }
KERNEL void turned(u64 *p) { enum { N = 256 }; typedef unsigned _BitInt(256) U; U a = (U)p[0] << 190 ^ (U)p[1] << 60 ^ p[2]; p[8] = H(__builtin_bswapg(a)); p[9] = H(__builtin_elementwise_bitreverse(a)); p[10] = __builtin_popcountg(a); switch (a >> 250) { case 1: p[11] = 4; break; case 9: p[11] = 3; break; default: p[11] = 2; } }
