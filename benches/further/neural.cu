// Networks: normalisations, softmax, activations, in floats, halves, bf16 and bytes.
#include "../corpus/common.h"
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

struct SumOp {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct MaxOp {
  template <typename T> __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

template <typename T, typename Op> __device__ T warp_reduce(T val, Op op) {
  for (int mask = 16; mask > 0; mask /= 2) val = op(val, __shfl_xor_sync(0xffffffff, val, mask, 32));
  return val;
}

template <typename T, typename Op> __device__ T block_reduce(T val, Op op, T init) {
  static __shared__ T shared[32];
  int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  val = warp_reduce(val, op);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = threadIdx.x < (blockDim.x >> 5) ? shared[lane] : init;
  val = warp_reduce(val, op);
  if (threadIdx.x == 0) shared[0] = val;
  __syncthreads();
  val = shared[0];
  __syncthreads();
  return val;
}

// launch: softmax_rows grid=8 block=128 n=300 fill=f32
KERNEL softmax_rows(const float *inp, const float *unused, float *out, int C) {
  const float *x = inp + (size_t)blockIdx.x * C;
  float *y = out + (size_t)blockIdx.x * C;
  float maxval = -INFINITY;
  LOOP for (int i = threadIdx.x; i < C; i += blockDim.x) maxval = fmaxf(maxval, x[i]);
  maxval = block_reduce(maxval, MaxOp(), -INFINITY);
  float sumval = 0.0f;
  LOOP for (int i = threadIdx.x; i < C; i += blockDim.x) {
    float e = __expf(x[i] - maxval);
    y[i] = e;
    sumval += e;
  }
  sumval = block_reduce(sumval, SumOp(), 0.0f);
  LOOP for (int i = threadIdx.x; i < C; i += blockDim.x) y[i] /= sumval;
}

// launch: layernorm_affine grid=8 block=128 n=256 fill=f32
KERNEL layernorm_affine(const float *__restrict__ inp, const float *__restrict__ params, float *__restrict__ out, int C) {
  const float *weight = params, *bias = params + C;
  int row = blockIdx.x;
  float s1 = 0, s2 = 0;
  LOOP for (int i = threadIdx.x; i < C; i += blockDim.x) {
    float v = inp[row * C + i];
    s1 += v;
    s2 += v * v;
  }
  s1 = block_reduce(s1, SumOp(), 0.f);
  s2 = block_reduce(s2, SumOp(), 0.f);
  float mean = s1 / C, rstd = rsqrtf(s2 / C - mean * mean + 1e-5f);
  LOOP for (int i = threadIdx.x; i < C; i += blockDim.x) out[row * C + i] = (inp[row * C + i] - mean) * rstd * weight[i] + bias[i];
}

// launch: layernorm_vec grid=4 block=32,4 n=128 fill=f32
KERNEL layernorm_vec(const float4 *in, const float4 *gamma, float4 *out, int n) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, cols = n / 4;
  float sum = 0.0f;
  LOOP for (int c = threadIdx.x; c < cols; c += 32) {
    float4 v = in[row * cols + c];
    sum += v.x + v.y + v.z + v.w;
  }
  float mean = warp_reduce(sum, SumOp()) / n, var = 0.0f;
  LOOP for (int c = threadIdx.x; c < cols; c += 32) {
    float4 v = in[row * cols + c];
    v.x -= mean; v.y -= mean; v.z -= mean; v.w -= mean;
    var += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  float inv = rsqrtf(warp_reduce(var, SumOp()) / n + 1e-5f);
  LOOP for (int c = threadIdx.x; c < cols; c += 32) {
    float4 v = in[row * cols + c], g = gamma[c];
    out[row * cols + c] = make_float4((v.x - mean) * inv * g.x, (v.y - mean) * inv * g.y, (v.z - mean) * inv * g.z, (v.w - mean) * inv * g.w);
  }
}

// launch: online_softmax grid=4 block=64 n=48 fill=f32
struct __align__(8) MD {
  float m, d;
};
__device__ __forceinline__ MD reduce_md(MD a, MD b) {
  bool a_bigger = a.m > b.m;
  MD bigger = a_bigger ? a : b, smaller = a_bigger ? b : a, res;
  res.d = bigger.d + smaller.d * __expf(smaller.m - bigger.m);
  res.m = bigger.m;
  return res;
}
KERNEL online_softmax(const float *x, const float *unused, float *y, int V) {
  x += GID * V;
  y += GID * V;
  MD md = {-1e30f, 0.0f};
  LOOP for (int i = 0; i < V; i++) {
    MD next = {x[i], 1.0f};
    md = reduce_md(md, next);
  }
  float inv = __fdividef(1.0f, md.d);
  LOOP for (int i = 0; i < V; i++) y[i] = __expf(x[i] - md.m) * inv;
}

// launch: gelu_half2 grid=8 block=64 n=2048 fill=f16
KERNEL gelu_half2(const half2 *__restrict__ in, const half2 *__restrict__ bias, half2 *__restrict__ out, int n) {
  LOOP for (int i = GID; i < n / 2; i += gridDim.x * blockDim.x) {
    float2 f = __half22float2(__hadd2(in[i], bias[i & 63]));
    f.x = 0.5f * f.x * (1.0f + tanhf(0.79788456f * (f.x + 0.044715f * f.x * f.x * f.x)));
    f.y = 0.5f * f.y * (1.0f + tanhf(0.79788456f * (f.y + 0.044715f * f.y * f.y * f.y)));
    out[i] = __float22half2_rn(f);
  }
}

// launch: half_gemm grid=4 block=16,8 n=64 fill=f16
KERNEL half_gemm(const __half *A, const __half *B, __half *C, int n) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, col = threadIdx.x;
  float acc = 0;
  LOOP for (int k = 0; k < n; ++k) acc += __half2float(__hmul(A[row * n + k], B[k * 16 + col]));
  C[row * 16 + col] = __float2half(acc);
}

// launch: bf16_scale_add grid=4 block=128 n=1024 fill=u32
KERNEL bf16_scale_add(const __nv_bfloat162 *x, const __nv_bfloat162 *y, __nv_bfloat162 *z, int n) {
  const __nv_bfloat162 alpha = __float2bfloat162_rn(0.25f);
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) z[i] = __hfma2(alpha, x[i], y[i]);
}

// launch: fp8_dequant grid=4 block=64 n=1024 fill=u32
KERNEL fp8_dequant(const uint32_t *q, const float *scales, float4 *out, int n) {
  int i = GID;
  if (i >= n / 4) return;
  uint32_t packed = q[i];
  float s = (float)(i & 7) * 0.125f + 1.0f;
  float r[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    __nv_fp8_e4m3 v;
    v.__x = (packed >> (8 * j)) & 0xff;
    r[j] = static_cast<float>(v) * s;
  }
  out[i] = make_float4(r[0], r[1], r[2], r[3]);
}

// launch: quantize_rows grid=8 block=64 n=256 fill=f32
KERNEL quantize_rows(const float *x, const float *unused, int8_t *q, int n) {
  const float *row = x + blockIdx.x * n;
  float amax = 0.f;
  LOOP for (int i = threadIdx.x; i < n; i += 64) amax = fmaxf(amax, fabsf(row[i]));
  amax = block_reduce(amax, MaxOp(), 0.f);
  const float scale = 127.0f / fmaxf(amax, 1e-8f);
  LOOP for (int i = threadIdx.x; i < n; i += 64) {
    int v = __float2int_rn(row[i] * scale);
    q[blockIdx.x * n + i] = (int8_t)max(-128, min(127, v));
  }
}

// launch: attention_row grid=2 block=32 n=32 fill=f32
KERNEL attention_row(const float *qkv, const float *unused, float *out, int T) {
  const int D = 16;
  int t = GID % T;
  const float *Q = qkv + t * D, *K = qkv + T * D, *V = K + T * D;
  float m = -1e20f, l = 0.f, o[D] = {};
  LOOP for (int j = 0; j <= t; ++j) {
    float dot = 0.f;
    LOOP for (int d = 0; d < D; ++d) dot += Q[d] * K[j * D + d];
    dot *= 0.25f;
    float mn = max(m, dot), corr = __expf(m - mn), p = __expf(dot - mn);
    l = l * corr + p;
#pragma unroll
    for (int d = 0; d < D; ++d) o[d] = o[d] * corr + p * V[j * D + d];
    m = mn;
  }
#pragma unroll
  for (int d = 0; d < D; ++d) out[GID * D + d] = o[d] / l;
}
