// Eight, six and four bit floats.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
__global__ void eight(__nv_fp8_e4m3 *a, __nv_fp8_e5m2 *b, float *f, __half2 *h)
{
    a[0] = __nv_fp8_e4m3(f[0]);
    b[0] = __nv_fp8_e5m2(f[1]);
    f[2] = float(a[1]) + float(b[1]);
    ((__nv_fp8x4_e4m3 *)a)[2] = __nv_fp8x4_e4m3(((float4 *)f)[1]);
    h[0] = __half2(((__nv_fp8x2_e5m2 *)b)[3]);
}
__global__ void six(__nv_fp6_e2m3 *a, __nv_fp6_e3m2 *b, float *f)
{
    a[0] = __nv_fp6_e2m3(f[0]);
    b[0] = __nv_fp6_e3m2(f[1]);
    f[2] = float(a[1]) + float(b[1]);
}
__global__ void four(__nv_fp4x2_e2m1 *a, float2 *f, __nv_fp8_e8m0 *s)
{
    a[0] = __nv_fp4x2_e2m1(f[0]);
    f[1] = float2(a[1]);
    s[0] = __nv_fp8_e8m0(f[2].x);
    f[3].x = float(s[1]);
}
