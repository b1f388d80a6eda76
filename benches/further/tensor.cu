// Tensor cores: fragments of mma.h, and mma, ldmatrix and cp.async in inline assembly, as matrix products and attention use them.
#include "../corpus/common.h"
#include <mma.h>
#include <stdint.h>
using namespace nvcuda;
// launch: wmma_tile grid=2 block=32 args=a,b,out,32 fill=f32
KERNEL wmma_tile(const half *a, const half *b, float *out, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  LOOP for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + i, k);
    wmma::load_matrix_sync(fb, b + i, k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  LOOP for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fmaxf(fc.x[i], 0.0f);
  wmma::store_matrix_sync(out + blockIdx.x * 256, fc, 16, wmma::mem_row_major);
}
__device__ void mma16816(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void ldsm4(uint32_t (&r)[4], const void *p) {
  uint32_t s = (uint32_t)__cvta_generic_to_shared(p);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(s));
}
__device__ void ldsm2t(uint32_t (&r)[2], const void *p) {
  uint32_t s = (uint32_t)__cvta_generic_to_shared(p);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(s));
}
// launch: mma_gemm grid=2 block=64 args=a,b,out,32 fill=f32
KERNEL mma_gemm(const half *a, const half *b, float *out, int k) {
  __shared__ __align__(16) half sa[32][24];
  __shared__ __align__(16) half sb[16][40];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float acc[4][4] = {};
  LOOP for (int k0 = 0; k0 < k; k0 += 16) {
    { int r = threadIdx.x / 2, c = threadIdx.x % 2 * 8; *(uint4 *)&sa[r][c] = *(const uint4 *)&a[(blockIdx.x * 32 + r) * k + k0 + c]; }
    { int r = threadIdx.x / 4, c = threadIdx.x % 4 * 8; *(uint4 *)&sb[r][c] = *(const uint4 *)&b[(k0 + r) * 32 + c]; }
    __syncthreads();
    uint32_t fa[4]; ldsm4(fa, &sa[warp * 16 + lane % 16][lane / 16 * 8]);
    LOOP for (int n = 0; n < 4; n++) { uint32_t fb[2]; ldsm2t(fb, &sb[lane % 16][n * 8]); mma16816(acc[n], fa, fb); }
    __syncthreads();
  }
  LOOP for (int n = 0; n < 4; n++) {
    float *o = out + (blockIdx.x * 32 + warp * 16 + lane / 4) * 32 + n * 8 + lane % 4 * 2;
    *(float2 *)o = make_float2(acc[n][0], acc[n][1]);
    *(float2 *)(o + 8 * 32) = make_float2(acc[n][2], acc[n][3]);
  }
}
// launch: mma_flash grid=1 block=32 args=a,b,c,out,32 fill=f32
KERNEL mma_flash(const half *q, const half *kk, const half *v, float *out, int n) {
  __shared__ __align__(16) half sk[16][24], sv[16][24], sq[16][24];
  int lane = threadIdx.x;
  *(uint4 *)&sq[lane / 2][lane % 2 * 8] = *(const uint4 *)&q[lane * 8];
  __syncwarp();
  uint32_t fq[4]; ldsm4(fq, &sq[lane % 16][lane / 16 * 8]);
  float o[2][4] = {}, m[2] = {-1e30f, -1e30f}, l[2] = {0, 0};
  LOOP for (int j = 0; j < n; j += 16) {
    *(uint4 *)&sk[lane / 2][lane % 2 * 8] = *(const uint4 *)&kk[j * 16 + lane * 8];
    *(uint4 *)&sv[lane / 2][lane % 2 * 8] = *(const uint4 *)&v[j * 16 + lane * 8];
    __syncwarp();
    float s[2][4] = {};
    LOOP for (int t = 0; t < 2; t++) {
      uint32_t p = (uint32_t)__cvta_generic_to_shared(&sk[t * 8 + lane % 8][lane / 8 % 2 * 8]); uint32_t fb[2];
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(p));
      mma16816(s[t], fq, fb);
    }
    LOOP for (int h = 0; h < 2; h++) {
      float mx = fmaxf(fmaxf(s[0][2 * h], s[0][2 * h + 1]), fmaxf(s[1][2 * h], s[1][2 * h + 1]));
      mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 1)); mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 2));
      mx = fmaxf(mx, m[h]);
      float c = exp2f(m[h] - mx), sum = 0; m[h] = mx;
      LOOP for (int t = 0; t < 2; t++) { s[t][2 * h] = exp2f(s[t][2 * h] - mx); s[t][2 * h + 1] = exp2f(s[t][2 * h + 1] - mx); sum += s[t][2 * h] + s[t][2 * h + 1]; o[t][2 * h] *= c; o[t][2 * h + 1] *= c; }
      l[h] = l[h] * c + sum;
    }
    uint32_t fp[4];
    half2 h0 = __floats2half2_rn(s[0][0], s[0][1]), h1 = __floats2half2_rn(s[0][2], s[0][3]), h2 = __floats2half2_rn(s[1][0], s[1][1]), h3 = __floats2half2_rn(s[1][2], s[1][3]);
    fp[0] = *(uint32_t *)&h0; fp[1] = *(uint32_t *)&h1; fp[2] = *(uint32_t *)&h2; fp[3] = *(uint32_t *)&h3;
    LOOP for (int t = 0; t < 2; t++) { uint32_t fb[2]; ldsm2t(fb, &sv[lane % 16][t * 8]); mma16816(o[t], fp, fb); }
    __syncwarp();
  }
  LOOP for (int h = 0; h < 2; h++) {
    float sum = l[h]; sum += __shfl_xor_sync(~0u, sum, 1); sum += __shfl_xor_sync(~0u, sum, 2);
    LOOP for (int t = 0; t < 2; t++) { out[(lane / 4 + 8 * h) * 16 + t * 8 + lane % 4 * 2] = o[t][2 * h] / sum; out[(lane / 4 + 8 * h) * 16 + t * 8 + lane % 4 * 2 + 1] = o[t][2 * h + 1] / sum; }
  }
}
// launch: wmma_int8 grid=1 block=32 args=a,b,out,32 fill=u32
KERNEL wmma_int8(const signed char *a, const signed char *b, int *out, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::fill_fragment(fc, 0);
  LOOP for (int i = 0; i < k; i += 16) { wmma::load_matrix_sync(fa, a + i, k); wmma::load_matrix_sync(fb, b + i, k); wmma::mma_sync(fc, fa, fb, fc); }
  wmma::store_matrix_sync(out, fc, 16, wmma::mem_row_major);
}
// launch: async_gemm grid=1 block=64 args=a,b,out,64 fill=f32
KERNEL async_gemm(const half *a, const half *b, float *out, int k) {
  __shared__ __align__(16) half sa[2][32][24];
  __shared__ __align__(16) half sb[2][16][40];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  auto load = [&](int s, int k0) {
    { int r = threadIdx.x / 2, c = threadIdx.x % 2 * 8; asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((uint32_t)__cvta_generic_to_shared(&sa[s][r][c])), "l"(a + r * k + k0 + c)); }
    { int r = threadIdx.x / 4, c = threadIdx.x % 4 * 8; asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((uint32_t)__cvta_generic_to_shared(&sb[s][r][c])), "l"(b + (k0 + r) * 32 + c)); }
    asm volatile("cp.async.commit_group;");
  };
  float acc[4][4] = {};
  load(0, 0);
  LOOP for (int k0 = 0, s = 0; k0 < k; k0 += 16, s ^= 1) {
    if (k0 + 16 < k) { load(s ^ 1, k0 + 16); asm volatile("cp.async.wait_group 1;"); } else asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    uint32_t fa[4]; ldsm4(fa, &sa[s][warp * 16 + lane % 16][lane / 16 * 8]);
    LOOP for (int n = 0; n < 4; n++) { uint32_t fb[2]; ldsm2t(fb, &sb[s][lane % 16][n * 8]); mma16816(acc[n], fa, fb); }
    __syncthreads();
  }
  LOOP for (int n = 0; n < 4; n++) {
    float *o = out + (warp * 16 + lane / 4) * 32 + n * 8 + lane % 4 * 2;
    o[0] = acc[n][0]; o[1] = acc[n][1]; o[8 * 32] = acc[n][2]; o[8 * 32 + 1] = acc[n][3];
  }
}
