// Floating point: the f32 and f64 library, roundings, half, bfloat16 and their packed forms.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void single(float *x)
{
    x[0] = sinf(x[1]) + cosf(x[2]) * expf(x[3]) / logf(x[4]) + tanhf(x[5]) + powf(x[6], x[7]);
    x[8] = __sinf(x[9]) + __fdividef(x[1], x[2]) + rsqrtf(x[3]) + __log2f(x[4]) + exp2f(x[5]);
    x[11] = __fadd_rz(x[1], x[2]) + __fmul_ru(x[2], x[3]) + __fmaf_rd(x[1], x[2], x[3]) + __fsqrt_rn(x[4]);
    x[12] = fminf(x[1], fmaxf(x[2], x[3])) + copysignf(x[1], x[2]) + rintf(x[4]) + truncf(x[5]) + erff(x[6]);
    x[13] = __saturatef(x[1]) + __frcp_rn(x[2]) + __frsqrt_rn(x[3]) + (isnan(x[4]) ? 1.0f : lgammaf(x[5]));
}
__global__ void twice(double *y)
{
    y[0] = sin(y[1]) + exp(y[2]) * sqrt(y[3]) / y[4] + log(y[5]);
    y[1] = __dadd_ru(y[2], y[3]) + __drcp_rn(y[4]) + fma(y[1], y[2], y[3]) + floor(y[5]) + cbrt(y[6]) + pow(y[1], y[2]);
    y[2] = __double2int_rz(y[3]) + (double)__double2ull_ru(y[4]) + __ll2double_rd((long long)y[5]) + __hiloint2double(1, 2);
}
__global__ void halves(__half2 *a, __nv_bfloat162 *b, __half *h, float *f, int *i)
{
    a[0] = __hfma2(a[1], a[2], a[3]);
    a[4] = h2exp(a[5]);
    h[1] = __float2half_rn(f[0]) + __int2half_rz(i[0]);
    h[2] = hsqrt(h[3]) / h[4];
    i[1] = __half2int_rd(h[5]) + __hgt(h[6], h[7]) + __hbeq2(a[1], a[2]);
    f[1] = __bfloat162float(b[6].x) + __low2float(a[8]);
    b[7] = __floats2bfloat162_rn(f[2], f[3]);
    atomicAdd(a + 10, a[11]);
#if __CUDA_ARCH__ >= 800
    a[6] = __hmax2(a[7], __hmin2_nan(a[1], a[2]));
    b[0] = __hfma2(b[1], b[2], b[3]);
    b[4] = __habs2(__hneg2(b[5]));
    a[9] = h2tanh_approx(__hadd2_sat(a[1], a[2]));
    atomicAdd(b + 10, b[11]);
#endif
}
