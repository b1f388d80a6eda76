// Functions that no module defines: CUDA's `__nv_*`, those of them whose results are exact, so that the host can say the same.
#include "kernel.h"
#define NV(T, name, ...) T __nv_##name(__VA_ARGS__)
#ifdef __NVPTX__
#define IS(...) ;
#else
#define IS(...) { return __VA_ARGS__; }
#endif
NV(int, clz, int x) IS(x ? __builtin_clz(x) : 32) NV(int, clzll, i64 x) IS(x ? __builtin_clzl(x) : 64) NV(int, popc, int x) IS(__builtin_popcount(x)) NV(int, popcll, i64 x) IS(__builtin_popcountl(x))
NV(int, ffs, int x) IS(__builtin_ffs(x)) NV(int, ffsll, i64 x) IS(__builtin_ffsl(x)) NV(int, brev, int x) IS(__builtin_bitreverse32(x)) NV(i64, brevll, i64 x) IS(__builtin_bitreverse64(x))
NV(int, umin, int x, int y) IS((u32)x < (u32)y ? x : y) NV(i64, llmax, i64 x, i64 y) IS(x > y ? x : y) NV(int, mulhi, int x, int y) IS((i64)x * y >> 32) NV(i64, umul64hi, i64 x, i64 y) IS((u128)(u64)x * (u64)y >> 64)
NV(int, sad, int x, int y, int z) IS((x > y ? (u32)x - (u32)y : (u32)y - (u32)x) + (u32)z) NV(int, hadd, int x, int y) IS((i64)x + y >> 1) NV(int, rhadd, int x, int y) IS((i64)x + y + 1 >> 1) NV(int, uhadd, int x, int y) IS((u64)(u32)x + (u32)y >> 1) NV(int, urhadd, int x, int y) IS((u64)(u32)x + (u32)y + 1 >> 1)
NV(float, fmaf_rn, float x, float y, float z) IS(__builtin_fmaf(x, y, z)) NV(double, fma_rn, double x, double y, double z) IS(__builtin_fma(x, y, z)) NV(float, sqrtf, float x) IS(__builtin_sqrtf(x)) NV(double, dsqrt_rn, double x) IS(__builtin_sqrt(x)) NV(double, ddiv_rn, double x, double y) IS(x / y) NV(float, fsub_rn, float x, float y) IS(x - y)
NV(float, floorf, float x) IS(__builtin_floorf(x)) NV(double, rint, double x) IS(__builtin_rint(x)) NV(double, round, double x) IS(__builtin_round(x)) NV(i64, llroundf, float x) IS(__builtin_llroundf(x)) NV(i64, llrint, double x) IS(__builtin_llrint(x)) NV(float, fminf, float x, float y) IS(__builtin_fminf(x, y)) NV(double, copysign, double x, double y) IS(__builtin_copysign(x, y))
NV(int, float2int_rz, float x) IS((int)x) NV(i64, double2ull_rz, double x) IS((u64)x) NV(double, ll2double_rn, i64 x) IS((double)x) NV(float, uint2float_rn, int x) IS((float)(u32)x) NV(float, double2float_rn, double x) IS((float)x) NV(float, half2float, short x) IS((float)__builtin_bit_cast(_Float16, x)) NV(short, float2half_rn, float x) IS(__builtin_bit_cast(short, (_Float16)x))
NV(int, isnanf, float x) IS(x != x) NV(int, isinfd, double x) IS(x == __builtin_inf() || x == -__builtin_inf()) NV(int, finitef, float x) IS(x - x == 0) NV(int, signbitd, double x) IS(__builtin_bit_cast(i64, x) < 0)
NV(int, float_as_int, float x) IS(__builtin_bit_cast(int, x)) NV(double, hiloint2double, int h, int l) IS(__builtin_bit_cast(double, (u64)(u32)h << 32 | (u32)l)) NV(int, double2hiint, double x) IS(__builtin_bit_cast(u64, x) >> 32) NV(int, double2loint, double x) IS((int)__builtin_bit_cast(u64, x))
NV(double, fmod, double x, double y) IS(__builtin_fmod(x, y)) NV(double, frexp, double x, int *e) IS(__builtin_frexp(x, e)) NV(float, modff, float x, float *w) IS(__builtin_modff(x, w)) NV(double, ldexp, double x, int n) IS(__builtin_ldexp(x, n)) NV(int, ilogb, double x) IS(__builtin_ilogb(x)) NV(float, nextafterf, float x, float y) IS(__builtin_nextafterf(x, y))
NV(double, norm3d, double x, double y, double z) IS(__builtin_sqrt(x * x + y * y + z * z)) NV(float, norm4df, float x, float y, float z, float w) IS(__builtin_sqrtf(x * x + y * y + z * z + w * w)) NV(double, rhypot, double x, double y) IS(1 / __builtin_sqrt(x * x + y * y)) NV(float, rnorm3df, float x, float y, float z) IS((float)(1 / __builtin_sqrt(x * x + y * y + z * z))) NV(double, rnorm4d, double x, double y, double z, double w) IS(1 / __builtin_sqrt(x * x + y * y + z * z + w * w))
NV(double, remquo, double x, double y, int *q) IS(__builtin_remquo(x, y, q)) NV(float, remquof, float x, float y, int *q) IS(__builtin_remquof(x, y, q))
#define D(x) __builtin_bit_cast(u64, (double)(x))
#define F(x) __builtin_bit_cast(u32, (float)(x))
static float f_of(u64 x) { return (float)(i64)(x >> 40) * 0.01f - 70000.0f; }
static double d_of(u64 x) { return (double)(i64)(x >> 20) * 1e-6 - 3e6; }
KERNEL void provided_integers(u64 *p) {
    int a = (int)p[0], b = (int)p[1];
    p[8] = __nv_clz(a >> 9 & 0xffff); p[9] = __nv_clzll(p[2] >> 7); p[10] = __nv_popc(a); p[11] = __nv_popcll(p[3]); p[12] = __nv_ffs(a & -64); p[13] = __nv_ffs(0); p[14] = __nv_ffsll(p[4] << 33); p[15] = (u32)__nv_brev(a); p[16] = __nv_brevll(p[5]);
    p[17] = (u32)__nv_umin(a, b); p[18] = __nv_llmax(p[2], p[3]); p[19] = (u32)__nv_mulhi(a, b); p[20] = __nv_umul64hi(p[2], p[3]); p[21] = (u32)__nv_sad(a, b, 5); p[22] = (u32)__nv_hadd(a, b); p[23] = (u32)__nv_rhadd(a, b); p[24] = (u32)__nv_uhadd(a, b); p[25] = (u32)__nv_urhadd(a, b); p[26] = __nv_clz(0);
}
KERNEL void provided_floats(u64 *p) {
    float x = f_of(p[0]), y = f_of(p[1]); double s = d_of(p[2]), t = d_of(p[3]); int e = 0; float w = 0;
    p[8] = F(__nv_fmaf_rn(x, y, 1.5f)); p[9] = D(__nv_fma_rn(s, t, -2.25)); p[10] = F(__nv_sqrtf(x * x)); p[11] = D(__nv_dsqrt_rn(s * s)); p[12] = D(__nv_ddiv_rn(s, t)); p[13] = F(__nv_fsub_rn(x, y)); p[14] = F(__nv_floorf(x)); p[15] = D(__nv_rint(s)); p[16] = D(__nv_round(t)); p[17] = __nv_llroundf(y); p[18] = __nv_llrint(t); p[19] = F(__nv_fminf(x, y)); p[20] = D(__nv_copysign(s, -t));
    p[21] = (u32)__nv_float2int_rz(x); p[22] = __nv_double2ull_rz(s * s); p[23] = D(__nv_ll2double_rn(p[4])); p[24] = F(__nv_uint2float_rn((int)p[5])); p[25] = F(__nv_double2float_rn(t)); p[26] = F(__nv_half2float(0x3555)); p[27] = (u16)__nv_float2half_rn(x * 0.001f);
    p[28] = __nv_isnanf(x) + __nv_isinfd(s) * 2 + __nv_finitef(y) * 4 + __nv_signbitd(-1.0) * 8 + __nv_isnanf(__builtin_nanf("")) * 16 + __nv_isinfd(-__builtin_inf()) * 32; p[29] = (u32)__nv_float_as_int(x); p[30] = D(__nv_hiloint2double(0x40091234, (int)p[6])); p[31] = (u32)__nv_double2hiint(s); p[32] = (u32)__nv_double2loint(s);
    p[33] = D(__nv_fmod(s, 7.25)); p[34] = D(__nv_frexp(t, &e)); p[35] = (u32)e; p[36] = F(__nv_modff(x, &w)); p[37] = F(w); p[38] = D(__nv_ldexp(s, -40)); p[39] = (u32)__nv_ilogb(t); p[40] = F(__nv_nextafterf(x, y));
}
// Lengths that are exact, with any signs, and 1 over them; of a quotient, C promises three bits.
KERNEL void provided_lengths(u64 *p) {
    double k = (double)(i64)(p[0] >> 50) - 8000; float f = (float)(i32)(p[1] >> 20 & 0xff) + 1; int q = 0, r = 0;
    p[8] = D(__nv_norm3d(3 * k, -4 * k, 12 * k)); p[9] = F(__nv_norm4df(f, -2 * f, 4 * f, 10 * f)); p[10] = D(__nv_rhypot(-3 * k, 4 * k)); p[11] = F(__nv_rnorm3df(6 * f, 2 * f, 3 * f)); p[12] = D(__nv_rnorm4d(-3 * k, 4 * k, 12 * k, 84 * k));
    p[14] = D(__nv_remquo(k * 1.5 + 0.25, -7.0, &q)); p[15] = q & 7; p[16] = F(__nv_remquof(f * 3.75f, 2.5f, &r)); p[17] = r & 7;
}
