// The functions that are called. nvcc -arch=sm_80 -rdc=true -ptx callee.cu
#include "abi.h"
__device__ signed char f_schar(signed char x) { return x / 2; }
__device__ unsigned char f_uchar(unsigned char x) { return x / 2; }
__device__ short f_short(short x) { return x / 2; }
__device__ bool f_bool(bool x) { return !x; }
__device__ long long f_long(int a, long long b, float c, double d) { return a + b + (long long)c + (long long)d; }
__device__ Small f_small(Small s) { return {(signed char)s.b, (short)s.a}; }
__device__ Mixed f_mixed(Mixed m, signed char k) { m.a += k; m.b -= m.a; m.c *= 2; return m; }
__device__ Packed f_packed(Packed p) { return {(signed char)p.c, p.b + 1, (short)p.a}; }
__device__ Row f_row(Row r, int n) { r.x[n % 9] += n; return r; }
__device__ Big f_big(Big b) { double t = b.d[0]; b.d[0] = b.d[7]; b.d[7] = t; return b; }
__device__ Wide f_wide(Wide w) { w.x += 1; return w; }
__device__ Both f_both(Both u) { u.i ^= 0x01020304; return u; }
__device__ Nested f_nested(Nested n) { n.s[1].b = n.s[0].a; n.v.y = n.v.x; return n; }
__device__ float4 f_float4(float4 v) { return make_float4(v.w, v.z, v.y, v.x); }
__device__ One f_one(One o) { o.c++; return o; }
__device__ Three f_three(Three o) { o.c[1] = o.c[0] + o.c[2]; return o; }
__device__ Half f_half(Half h) { h.h ^= 0x8000; return h; }
__device__ int f_apply(int (*f)(int, Small), int x) { Small s = {3, 4}; return f(x, s); }
