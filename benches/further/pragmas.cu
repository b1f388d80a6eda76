// Code as libraries have it: `#pragma unroll` without a number, which holds with -DROLLED too, fragments passed by value, rows of so many bytes, counters of 64 bits.
#include "../corpus/common.h"
#include <stdint.h>
// launch: byte_rows grid=2 block=32 args=a,b,out,160,8 fill=iota
KERNEL byte_rows(const char *__restrict__ k, const float *__restrict__ q, float *__restrict__ out, int bytes, int n) {
  float best = -1e30f;
  LOOP for (int base = 0; base < n; base += 8) {
#pragma unroll
    for (int r = 0; r < 8; r++) {
      const int row = base + r;
      if (row >= n) break;
      const float *v = (const float *)(k + row * bytes);
      float s = 0;
#pragma unroll
      for (int c = 0; c < 32; c += 32) s += v[c + threadIdx.x] * q[c + threadIdx.x];
#pragma unroll
      for (int m = 16; m > 0; m >>= 1) s += __shfl_xor_sync(0xffffffff, s, m);
      best = fmaxf(best, s);
      if (threadIdx.x == 0) out[blockIdx.x * 64 + row] = s;
    }
  }
  out[blockIdx.x * 64 + 32 + threadIdx.x] = best;
}
// launch: long_bounds grid=2 block=64 args=a,out fill=u32
KERNEL long_bounds(const uint8_t *__restrict__ q, float *__restrict__ out) {
  const int64_t half = threadIdx.x / 32, first = 64 * half + 4 * (threadIdx.x % 16);
  const int64_t shift = 4 * (threadIdx.x % 32 / 16);
  for (int l = first; l < first + 4; ++l) out[l + 64 * (threadIdx.x % 32 / 16) + 256 * blockIdx.x] = (float)((q[l + 128 * blockIdx.x] >> shift) & 15) - 8.0f;
}
// launch: grid_stride grid=2 block=64 args=a,out,1024l,3l fill=f32
KERNEL grid_stride(const float *__restrict__ a, float *__restrict__ out, size_t n, size_t pitch) {
  float s = 0;
  LOOP for (size_t i = GID; i < n; i += (size_t)gridDim.x * blockDim.x) s += a[i * pitch];
  out[GID] = s;
}
template <int N> struct Fragment { float v[N]; };
template <int N, class F> static __device__ Fragment<N> map2(Fragment<N> a, Fragment<N> b, F f) {
  Fragment<N> c;
#pragma unroll
  for (int i = 0; i < N; i++) c.v[i] = f(a.v[i], b.v[i]);
  return c;
}
template <int N> static __device__ Fragment<N> read(const float *p, int stride) {
  Fragment<N> c;
#pragma unroll
  for (int i = 0; i < N; i++) c.v[i] = p[i * stride];
  return c;
}
template <int N> static __device__ Fragment<N> scaled(Fragment<N> a, float s) { return map2(a, a, [=](float x, float) { return x * s; }); }
// launch: fragments grid=2 block=64 args=a,b,out,64,6 fill=f32
KERNEL fragments(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int stride, int n) {
  Fragment<24> acc = read<24>(a + GID, stride);
  LOOP for (int k = 0; k < n; k++) acc = map2(scaled(acc, 0.5f), read<24>(b + GID + k, stride), [](float x, float y) { return fmaf(x, y, 1.0f); });
#pragma unroll
  for (int i = 0; i < 24; i++) out[GID * 24 + i] = acc.v[i];
}
// launch: half_accumulators grid=2 block=64 args=a,b,out,8 fill=f16
KERNEL half_accumulators(const uint32_t *__restrict__ a, const uint32_t *__restrict__ b, __half *__restrict__ out, int n) {
  __half acc[16];
#pragma unroll
  for (int i = 0; i < 16; i++) acc[i] = __ushort_as_half(0);
  LOOP for (int k = 0; k < n; k++) {
    uint32_t *d = (uint32_t *)acc;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      uint32_t x = a[k * 64 + threadIdx.x], y = b[k * 8 + i], z = d[i];
      asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d[i]) : "r"(x), "r"(y), "r"(z));
    }
  }
#pragma unroll
  for (int i = 0; i < 16; i++) out[i * 128 + GID] = __float2half(__half2float(acc[i]) * 0.5f);
}
// launch: ring grid=2 block=64 args=a,b,out,12 fill=f32
KERNEL ring(const float *__restrict__ a, const float *__restrict__ w, float *__restrict__ out, int n) {
  float x[4], y[4];
#pragma unroll
  for (int j = 0; j < 4; j++) { x[j] = a[GID * 4 + j]; y[j] = w[j]; }
  LOOP for (int i = 0; i < n; i++) {
    float s = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) s += x[(i + j) % 4] * y[j];
    out[i * 128 + GID] = s;
    x[i % 4] = a[GID * 4 + i + 4];
  }
}
// launch: tile_rows grid=2 block=32,4 args=a,out,96,64 fill=f32
KERNEL tile_rows(const float *__restrict__ a, float *__restrict__ out, int n, int m) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x;
#pragma unroll
  for (int j = 0; j < 32; j += 4) tile[threadIdx.y + j][threadIdx.x] = a[(threadIdx.y + j) * n + x];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 32; j += 4) out[(blockIdx.x * 32 + threadIdx.y + j) * m + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];
}
// launch: nibbles grid=2 block=64 args=a,b,out,6 fill=u32
KERNEL nibbles(const uint8_t *__restrict__ a, const int *__restrict__ b, int *__restrict__ out, int n) {
  int s = 0;
  LOOP for (int k = 0; k < n; k++) {
    const int part = threadIdx.x & 15, block = part - (part & 7);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int scale = (a[k * 16 + (block + 2 * i) / 8] >> 4 * ((block + 2 * i) / 4 % 2)) & 15;
      s = __dp4a(b[k * 64 + threadIdx.x + i], 0x01010101 * scale, s);
    }
  }
  out[GID] = s;
}
