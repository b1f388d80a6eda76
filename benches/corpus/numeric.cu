// Numerics: half and byte floats, particles, transforms, random walks.
#include "common.h"
#include <cuda_fp8.h>

// launch: half_axpy grid=8 block=128 n=1024 fill=f16
KERNEL half_axpy(const __half2 *a, const __half2 *b, __half2 *out, int n) {
  int i = GID;
  if (i < n) out[i] = __hfma2(a[i], __float2half2_rn(0.5f), b[i]);
}

// launch: half_dot grid=4 block=128 n=32 fill=f16
KERNEL half_dot(const __half *a, const __half *b, float *out, int n) {
  float sum = 0;
  LOOP for (int i = 0; i < n; ++i) sum += __half2float(a[GID * 32 + i]) * __half2float(b[i]);
  out[GID] = sum;
}

// launch: half_norm grid=4 block=128 n=512 fill=f16
KERNEL half_norm(const __half *a, const __half *b, __half *out, int n) {
  __half x = a[GID], y = b[GID];
  __half z = x * x + y * y;
  if (z > __float2half(0.01f)) z = hsqrt(z);
  out[GID] = z / (x + __float2half(2.0f));
}

// launch: fp8_scale grid=4 block=128 n=512 fill=f32
KERNEL fp8_scale(const float *a, const float *b, unsigned char *out, int n) {
  int i = GID;
  __nv_fp8_e4m3 v(a[i] * b[0]);
  out[i] = v.__x;
  float back = float(v);
  out[i + n] = __nv_fp8_e5m2(back + b[i]).__x;
}

// launch: nbody grid=2 block=128 n=256 fill=f32
KERNEL nbody(const float4 *a, const float4 *b, float4 *out, int n) {
  __shared__ float4 tile[128];
  float4 me = a[GID];
  float3 force = {0, 0, 0};
  LOOP for (int t = 0; t < n; t += 128) {
    tile[threadIdx.x] = a[t + threadIdx.x];
    __syncthreads();
    LOOP for (int j = 0; j < 128; ++j) {
      float4 p = tile[j];
      float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float s = p.w * r * r * r;
      force.x += dx * s; force.y += dy * s; force.z += dz * s;
    }
    __syncthreads();
  }
  out[GID] = make_float4(force.x, force.y, force.z, me.w);
}

// launch: fft grid=4 block=64 n=128 fill=f32
KERNEL fft(const float2 *a, const float2 *b, float2 *out, int n) {
  __shared__ float2 x[128];
  int t = threadIdx.x;
  x[t] = a[blockIdx.x * 128 + (__brev(t) >> 25)];
  x[t + 64] = a[blockIdx.x * 128 + (__brev(t + 64) >> 25)];
  __syncthreads();
  LOOP for (int half = 1; half < 128; half *= 2) {
    int k = t & (half - 1), i = (t - k) * 2 + k;
    float2 w = b[k * (64 / half)], p = x[i], q = x[i + half];
    float2 m = {q.x * w.x - q.y * w.y, q.x * w.y + q.y * w.x};
    __syncthreads();
    x[i] = make_float2(p.x + m.x, p.y + m.y);
    x[i + half] = make_float2(p.x - m.x, p.y - m.y);
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = x[t];
  out[blockIdx.x * 128 + t + 64] = x[t + 64];
}

// launch: mandelbrot grid=4 block=128 n=64 fill=f32
KERNEL mandelbrot(const float *a, const float *b, int *out, int n) {
  float cx = (GID & 31) * 0.09f - 2.0f, cy = (GID >> 5) * 0.15f - 1.2f, x = 0, y = 0;
  int i = 0;
  LOOP while (i < n && x * x + y * y < 4.0f) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    ++i;
  }
  out[GID] = i;
}

// launch: monte_carlo grid=4 block=128 n=64 fill=u32
KERNEL monte_carlo(const unsigned *a, const unsigned *b, float *out, int n) {
  unsigned state = a[GID];
  int inside = 0;
  LOOP for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    float x = (state >> 8) * 5.9604645e-8f;
    state = state * 1664525u + 1013904223u;
    float y = (state >> 8) * 5.9604645e-8f;
    inside += x * x + y * y <= 1.0f;
  }
  out[GID] = 4.0f * inside / n;
}

// launch: black_scholes grid=4 block=128 n=512 fill=f32
KERNEL black_scholes(const float *a, const float *b, float *out, int n) {
  int i = GID;
  if (i >= n) return;
  float s = 20 + fabsf(a[i]) * 60, k = 20 + fabsf(b[i]) * 60, t = 0.5f, v = 0.3f, r = 0.02f;
  float root = sqrtf(t), d1 = (__logf(s / k) + (r + v * v / 2) * t) / (v * root), d2 = d1 - v * root;
  float p[2] = {d1, d2};
  for (int j = 0; j < 2; ++j) {
    float x = p[j], q = 1 / (1 + 0.2316419f * fabsf(x));
    float c = 0.39894228f * __expf(-0.5f * x * x) * q * (0.31938153f + q * (-0.356563782f + q * (1.781477937f + q * (-1.821255978f + q * 1.330274429f))));
    p[j] = x > 0 ? 1 - c : c;
  }
  out[i] = s * p[0] - k * __expf(-r * t) * p[1];
}

// launch: matrix_class grid=4 block=64 n=8 fill=f32
struct Mat3 {
  float m[3][3];
  __device__ Mat3 operator*(const Mat3 &o) const {
    Mat3 r;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        r.m[i][j] = 0;
        for (int k = 0; k < 3; ++k) r.m[i][j] += m[i][k] * o.m[k][j];
      }
    return r;
  }
};
KERNEL matrix_class(const Mat3 *a, const Mat3 *b, Mat3 *out, int n) {
  Mat3 x = a[GID];
  LOOP for (int i = 0; i < n; ++i) x = x * b[i];
  out[GID] = x;
}
