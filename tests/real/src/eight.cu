// Numbers of 8, 6 and 4 bits, as the headers of the toolkit convert them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

extern "C" __global__ void to_eight(const float2 *in, __nv_fp8x2_e4m3 *a, __nv_fp8x2_e5m2 *b, __nv_fp8x2_e8m0 *c) {
    int i = threadIdx.x;
    a[i] = __nv_fp8x2_e4m3(in[i]);
    b[i] = __nv_fp8x2_e5m2(in[i]);
    c[i] = __nv_fp8x2_e8m0(in[i]);
}

extern "C" __global__ void from_eight(const __nv_fp8x2_e4m3 *a, const __nv_fp8x2_e5m2 *b, float2 *sums) {
    int i = threadIdx.x;
    float2 x = float2(a[i]), y = float2(b[i]);
    sums[i] = make_float2(x.x + y.x, x.y + y.y);
}

extern "C" __global__ void of_brains(const __nv_bfloat162 *in, __nv_fp8x2_e4m3 *a, __nv_fp6x2_e3m2 *b, __nv_fp4x2_e2m1 *c) {
    int i = threadIdx.x;
    a[i] = __nv_fp8x2_e4m3(in[i]);
    b[i] = __nv_fp6x2_e3m2(in[i]);
    c[i] = __nv_fp4x2_e2m1(in[i]);
}

extern "C" __global__ void to_brains(const __nv_fp6x2_e2m3 *a, const __nv_fp4x2_e2m1 *b, __half2 *sums) {
    int i = threadIdx.x;
    sums[i] = __hadd2(__half2(a[i]), __half2(b[i]));
}

extern "C" __global__ void unsigned_eight(const float *in, __nv_fp8_ue5m3 *out, float *back) {
    int i = threadIdx.x;
    out[i] = __nv_fp8_ue5m3(in[i]);
    back[i] = float(out[i]);
}
