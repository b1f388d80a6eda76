// Accumulators and fragments in arrays of constant indices, shifts in place of products, structs of halves handed to tensor cores, sums that a block finishes
// in shared memory: how compilers for tensors write CUDA.
#include "../corpus/common.h"
#include <cuda_bf16.h>

// launch: array_max_columns grid=16 block=16 args=a,out fill=f32
extern "C" __global__ void __launch_bounds__(16) array_max_columns(float *in, float *out) {
  float own[1], all[1];
  __shared__ __align__(16) float partial[16];
  int column = blockIdx.x, row = threadIdx.x;
  *(own + 0) = -1e38f;
  LOOP
  for (int r = 0; r < 8; r++) {
    float value = *(in + (column + (row << 9) + (r << 6)));
    *(own + 0) = (*(own + 0) < value) ? value : *(own + 0);
  }
  *(partial + row) = *(own + 0);
  __syncthreads();
  *(all + 0) = -1e38f;
  LOOP
  for (int r = 0; r < 16; r++) {
    float value = *(partial + r);
    *(all + 0) = (*(all + 0) < value) ? value : *(all + 0);
  }
  if (row == 0) {
    *(out + column) = *(all + 0);
  }
}

// launch: array_matvec_groups grid=4 block=8,4 args=a,b,out fill=f32
extern "C" __global__ void __launch_bounds__(32) array_matvec_groups(float *x, float *m, float *out) {
  float own[4], all[4];
  __shared__ __align__(16) float partial[128];
  int lane = threadIdx.x, row = threadIdx.y, first = row + (blockIdx.x << 4);
  *(own + 0) = 0.0f, *(own + 1) = 0.0f, *(own + 2) = 0.0f, *(own + 3) = 0.0f;
  LOOP
  for (int r = 0; r < 24; r++) {
    float factor = *(x + (lane + (r << 3)));
    int at = first + (lane << 6) + (r << 9);
    *(own + 0) = *(own + 0) + factor * *(m + at);
    *(own + 1) = *(own + 1) + factor * *(m + (at + 4));
    *(own + 2) = *(own + 2) + factor * *(m + (at + 8));
    *(own + 3) = *(own + 3) + factor * *(m + (at + 12));
  }
  *((float4 *)(partial + ((lane << 2) + (row << 5)))) = make_float4(own[0], own[1], own[2], own[3]);
  __syncthreads();
  *(all + 0) = 0.0f, *(all + 1) = 0.0f, *(all + 2) = 0.0f, *(all + 3) = 0.0f;
  LOOP
  for (int r = 0; r < 8; r++) {
    float4 part = *((float4 *)(partial + ((row << 5) + (r << 2))));
    *(all + 0) = *(all + 0) + part.x;
    *(all + 1) = *(all + 1) + part.y;
    *(all + 2) = *(all + 2) + part.z;
    *(all + 3) = *(all + 3) + part.w;
  }
  if (lane == 0) {
    *(out + first) = *(all + 0);
    *(out + (first + 4)) = *(all + 1);
    *(out + (first + 8)) = *(all + 2);
    *(out + (first + 12)) = *(all + 3);
  }
}

struct __align__(8) Half4 { half x, y, z, w; };
struct __align__(16) Half8 { half x, y, z, w, a, b, c, d; };
__device__ float4 multiply(Half8 a, Half4 b, float4 c) {
  int *wa = (int *)(&a), *wb = (int *)(&b), *wc = (int *)(&c);
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(wc[0]), "+r"(wc[1]), "+r"(wc[2]), "+r"(wc[3])
      : "r"(wa[0]), "r"(wa[1]), "r"(wa[2]), "r"(wa[3]), "r"(wb[0]), "r"(wb[1]));
  return c;
}

// launch: array_tensor_cores grid=4 block=32 args=a,b,out fill=f16
extern "C" __global__ void __launch_bounds__(32) array_tensor_cores(half *a, half *b, float *out) {
  float sums[8];
  int lane = threadIdx.x, row = (blockIdx.x << 10) + ((lane >> 2) << 6), column = (lane & 3) << 1;
  *(sums + 0) = 0.0f, *(sums + 1) = 0.0f, *(sums + 2) = 0.0f, *(sums + 3) = 0.0f;
  *(sums + 4) = 0.0f, *(sums + 5) = 0.0f, *(sums + 6) = 0.0f, *(sums + 7) = 0.0f;
  LOOP
  for (int r = 0; r < 4; r++) {
    int at = row + column + (r << 4), of = ((lane >> 2) << 6) + column + (r << 4);
    half2 v0 = *((half2 *)(a + at)), v1 = *((half2 *)(a + (at + 512)));
    half2 v2 = *((half2 *)(a + (at + 8))), v3 = *((half2 *)(a + (at + 520)));
    half2 w0 = *((half2 *)(b + of)), w1 = *((half2 *)(b + (of + 8)));
    half2 w2 = *((half2 *)(b + (of + 512))), w3 = *((half2 *)(b + (of + 520)));
    Half8 left = {v0.x, v0.y, v1.x, v1.y, v2.x, v2.y, v3.x, v3.y};
    Half4 right = {w0.x, w0.y, w1.x, w1.y}, other = {w2.x, w2.y, w3.x, w3.y};
    float4 p = multiply(left, right, make_float4(sums[0], sums[1], sums[2], sums[3]));
    float4 q = multiply(left, other, make_float4(sums[4], sums[5], sums[6], sums[7]));
    *(sums + 0) = p.x, *(sums + 1) = p.y, *(sums + 2) = p.z, *(sums + 3) = p.w;
    *(sums + 4) = q.x, *(sums + 5) = q.y, *(sums + 6) = q.z, *(sums + 7) = q.w;
  }
  int to = (blockIdx.x << 8) + (lane << 2);
  *((float4 *)(out + to)) = make_float4(sums[0], sums[1], sums[2], sums[3]);
  *((float4 *)(out + (to + 128))) = make_float4(sums[4], sums[5], sums[6], sums[7]);
}

// launch: array_four_bits grid=4 block=64 args=a,b,out fill=u32
extern "C" __global__ void __launch_bounds__(64) array_four_bits(const unsigned char *codes, const unsigned char *more, half *out) {
  unsigned char packed[8];
  half made[16];
  int at = (blockIdx.x << 9) + (threadIdx.x << 3);
  *(uint2 *)(packed + 0) = *(uint2 *)(codes + at);
  LOOP
  for (int i = 0; i < 16; ++i) {
    made[i] = (half)((float)((int)((packed[i >> 1] >> ((i & 1) * 4)) & 15) - 8));
  }
  *(uint4 *)(out + (at << 1)) = *(uint4 *)(made + 0);
  *(uint4 *)(out + ((at << 1) + 8)) = *(uint4 *)(made + 8);
}

// launch: array_dot_halves grid=4 block=64 args=a,b,out fill=f16
extern "C" __global__ void __launch_bounds__(64) array_dot_halves(const half *a, const half *b, float *out) {
  half x[8], y[8];
  float sum[1];
  sum[0] = 0.0f;
  LOOP
  for (int r = 0; r < 8; ++r) {
    *(uint4 *)(x + 0) = *(uint4 *)(a + ((r << 6) + ((threadIdx.x & 7) << 3)));
    *(uint4 *)(y + 0) = *(uint4 *)(b + ((blockIdx.x << 12) + ((threadIdx.x >> 3) << 9) + (r << 6) + ((threadIdx.x & 7) << 3)));
    LOOP
    for (int k = 0; k < 8; ++k) sum[0] = sum[0] + (float)x[k] * (float)y[k];
  }
  out[(blockIdx.x << 6) + threadIdx.x] = sum[0];
}

// launch: array_pooled grid=4 block=64 args=a,b,out fill=f32
extern "C" __global__ void __launch_bounds__(64) array_pooled(float *in, float *bias, float *out) {
  int at = (blockIdx.x << 8) + (threadIdx.x << 2);
  float4 above = *((float4 *)(in + at)), below = *((float4 *)(in + (at + 1024)));
  float shift = *(bias + blockIdx.x);
  float a = above.x + shift, b = above.y + shift, c = below.x + shift, d = below.y + shift;
  float e = above.z + shift, f = above.w + shift, g = below.z + shift, h = below.w + shift;
  a = (0.0f < a) ? a : 0.0f, b = (0.0f < b) ? b : 0.0f, c = (0.0f < c) ? c : 0.0f, d = (0.0f < d) ? d : 0.0f;
  e = (0.0f < e) ? e : 0.0f, f = (0.0f < f) ? f : 0.0f, g = (0.0f < g) ? g : 0.0f, h = (0.0f < h) ? h : 0.0f;
  float left = ((a < b) ? b : a) + ((c < d) ? d : c), right = ((e < f) ? f : e) + ((g < h) ? h : g);
  *((float2 *)(out + ((blockIdx.x << 7) + (threadIdx.x << 1)))) =
      make_float2((left < 6.0f) ? left : 6.0f, (right < 6.0f) ? right : 6.0f);
}

// launch: array_bf16_rows grid=8 block=16 args=a,b,out fill=f16
extern "C" __global__ void __launch_bounds__(16) array_bf16_rows(__nv_bfloat16 *in, __nv_bfloat16 *most, float *out) {
  float own[1], all[1];
  __shared__ __align__(16) float partial[16];
  __nv_bfloat16 top = *(most + blockIdx.x);
  *(own + 0) = 0.0f;
  LOOP
  for (int r = 0; r < 8; r++) {
    __nv_bfloat16 value = *(in + ((threadIdx.x << 3) + r + (blockIdx.x << 7)));
    *(own + 0) = *(own + 0) + (float)((__nv_bfloat16)exp2f((float)(value - top) * 1.4426950216293335f));
  }
  *(partial + threadIdx.x) = *(own + 0);
  __syncthreads();
  *(all + 0) = 0.0f;
  LOOP
  for (int r = 0; r < 16; r++) *(all + 0) = *(all + 0) + *(partial + r);
  if (threadIdx.x == 0) *(out + blockIdx.x) = *(all + 0);
}

// launch: array_long_sum grid=2 block=16 args=a,out fill=f32
extern "C" __global__ void __launch_bounds__(16) array_long_sum(float *in, float *out) {
  float sum[1];
  *(sum + 0) = 0.0f;
  LOOP
  for (int r = 0; r < 512; r++) *(sum + 0) = *(sum + 0) + *(in + ((blockIdx.x << 13) + (threadIdx.x << 9) + r));
  *(out + ((blockIdx.x << 4) + threadIdx.x)) = *(sum + 0) * 0.001953125f;
}
