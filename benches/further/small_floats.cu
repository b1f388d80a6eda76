// Halves, bf16, fp8 and int4 in vectors: what the layers of neural networks read and write.
#include "../corpus/common.h"
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>
// launch: bf16_layernorm grid=2 block=64 args=a,b,out,24 fill=f32
KERNEL bf16_layernorm(const __nv_bfloat162 *a, const __nv_bfloat162 *g, __nv_bfloat162 *out, int n) {
  float s = 0, q = 0; const __nv_bfloat162 *row = a + GID * n;
  LOOP for (int i = 0; i < n; i++) { float2 x = __bfloat1622float2(row[i]); s += x.x + x.y; q += x.x * x.x + x.y * x.y; }
  float mean = s / (2 * n), inv = rsqrtf(q / (2 * n) - mean * mean + 1e-5f);
  LOOP for (int i = 0; i < n; i++) { float2 x = __bfloat1622float2(row[i]), w = __bfloat1622float2(g[i]); out[GID * n + i] = __floats2bfloat162_rn((x.x - mean) * inv * w.x, (x.y - mean) * inv * w.y); }
}
// launch: bf16_fma2 grid=2 block=64 args=a,b,out,24 fill=f32
KERNEL bf16_fma2(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *out, int n) {
  __nv_bfloat162 acc = __float2bfloat162_rn(0.0f);
  LOOP for (int i = 0; i < n; i++) acc = __hfma2(a[GID + i], b[i], acc);
  out[GID] = __hmax2(acc, __float2bfloat162_rn(0.0f));
}
// launch: half2_softplus grid=2 block=64 args=a,out,16 fill=f32
KERNEL half2_softplus(const half2 *a, half2 *out, int n) {
  LOOP for (int i = 0; i < n; i++) { half2 x = a[GID * n + i]; out[GID * n + i] = __hadd2(h2log2(__hadd2(h2exp2(x), __float2half2_rn(1.0f))), __hmul2(x, __float2half2_rn(0.5f))); }
}
// launch: half_conv1d grid=2 block=64 args=a,b,out,5 fill=f32
KERNEL half_conv1d(const half *a, const half *w, half *out, int k) {
  half s = __float2half(0.0f);
  LOOP for (int i = 0; i < k; i++) s = __hfma(a[GID + i], w[i], s);
  out[GID] = __hgt(s, __float2half(0.0f)) ? s : __hmul(s, __float2half(0.1f));
}
// launch: fp8_quant grid=2 block=64 args=a,out,8 fill=f32
KERNEL fp8_quant(const float4 *a, uint32_t *out, int n) {
  float m = 0;
  LOOP for (int i = 0; i < n; i++) { float4 v = a[GID * n + i]; m = fmaxf(m, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)))); }
  float s = m > 0 ? 448.0f / m : 1.0f;
  LOOP for (int i = 0; i < n; i++) { float4 v = a[GID * n + i]; __nv_fp8x4_e4m3 p(make_float4(v.x * s, v.y * s, v.z * s, v.w * s)); out[GID * n + i] = p.__x; }
}
// launch: fp8_matvec grid=2 block=64 args=a,b,out,16 fill=u32
KERNEL fp8_matvec(const __nv_fp8x4_e4m3 *a, const __nv_fp8x4_e5m2 *b, float *out, int n) {
  float s = 0;
  LOOP for (int i = 0; i < n; i++) { float4 x = (float4)a[GID * n + i], y = (float4)b[i]; s += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; }
  out[GID] = s;
}
// launch: int4_dequant grid=2 block=64 args=a,b,out,8 fill=u32
KERNEL int4_dequant(const uint32_t *a, const half *scale, half2 *out, int n) {
  LOOP for (int i = 0; i < n; i++) {
    uint32_t q = a[GID * n + i]; half2 s = __half2half2(__ushort_as_half(0x3800 | (i & 255)));
    LOOP for (int j = 0; j < 4; j++) { uint32_t t = (q >> 4 * j & 0x000f000f) | 0x64006400; half2 h = *(half2 *)&t; out[(GID * n + i) * 4 + j] = __hmul2(__hsub2(h, __float2half2_rn(1032.0f)), s); }
  }
}
// launch: bf16_adam grid=2 block=64 args=a,b,c,out,8 fill=f32
KERNEL bf16_adam(__nv_bfloat16 *p, const __nv_bfloat16 *g, float *m, float *v, int n) {
  LOOP for (int i = GID; i < n * 128; i += 128) {
    float gr = __bfloat162float(g[i]), mi = 0.9f * m[i] + 0.1f * gr, vi = 0.99f * fabsf(v[i]) + 0.01f * gr * gr;
    m[i] = mi; v[i] = vi; p[i] = __float2bfloat16(__bfloat162float(p[i]) - 0.01f * mi / (sqrtf(vi) + 1e-6f));
  }
}
// launch: half_rope grid=2 block=64 args=a,b,out,8 fill=f32
KERNEL half_rope(const half2 *a, const float2 *cs, half2 *out, int n) {
  LOOP for (int i = 0; i < n; i++) { float2 x = __half22float2(a[GID * n + i]), c = cs[i]; out[GID * n + i] = __floats2half2_rn(x.x * c.x - x.y * c.y, x.x * c.y + x.y * c.x); }
}
// launch: gemv_half8 grid=2 block=64 args=a,b,out,8 fill=f32
KERNEL gemv_half8(const uint4 *a, const uint4 *b, float *out, int n) {
  float s = 0;
  LOOP for (int i = threadIdx.x % 32; i < n * 32; i += 32) {
    uint4 x = a[GID / 32 * n * 32 + i], y = b[i]; const half2 *hx = (const half2 *)&x, *hy = (const half2 *)&y;
    LOOP for (int j = 0; j < 4; j++) { float2 p = __half22float2(hx[j]), q = __half22float2(hy[j]); s += p.x * q.x + p.y * q.y; }
  }
  LOOP for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) out[GID / 32] = s;
}
