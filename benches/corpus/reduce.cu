// Reductions, scans, normalisations.
#include "common.h"

static __device__ float warp_sum(float v) {
  LOOP for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

static __device__ float warp_max(float v) {
  LOOP for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
  return v;
}

template <typename F> static __device__ float block_reduce(float v, float zero, F warp) {
  __shared__ float parts[32];
  v = warp(v);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : zero;
  if (threadIdx.x < 32) v = warp(v);
  if (threadIdx.x == 0) parts[0] = v;
  __syncthreads();
  v = parts[0];
  __syncthreads();
  return v;
}

// launch: reduce_shared grid=4 block=256 n=4096 fill=f32
KERNEL reduce_shared(const float *a, const float *b, float *out, int n) {
  __shared__ float tile[256];
  float sum = 0;
  LOOP for (int i = GID; i < n; i += gridDim.x * blockDim.x) sum += a[i];
  tile[threadIdx.x] = sum;
  __syncthreads();
  LOOP for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}

// launch: reduce_warp grid=4 block=256 n=4096 fill=f32
KERNEL reduce_warp(const float *a, const float *b, float *out, int n) {
  float sum = 0;
  LOOP for (int i = GID; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  sum = block_reduce(sum, 0.0f, warp_sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// launch: softmax grid=8 block=128 n=512 fill=f32
KERNEL softmax(const float *a, const float *b, float *out, int n) {
  const float *row = a + blockIdx.x * n;
  float *to = out + blockIdx.x * n;
  float high = -3e38f, sum = 0;
  LOOP for (int i = threadIdx.x; i < n; i += blockDim.x) high = fmaxf(high, row[i]);
  high = block_reduce(high, -3e38f, warp_max);
  LOOP for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __expf(row[i] - high);
  sum = block_reduce(sum, 0.0f, warp_sum);
  LOOP for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = __expf(row[i] - high) / sum;
}

// launch: layernorm grid=8 block=128 n=512 fill=f32
KERNEL layernorm(const float *a, const float *b, float *out, int n) {
  const float *row = a + blockIdx.x * n;
  float sum = 0, squares = 0;
  LOOP for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = row[i];
    sum += v;
    squares += v * v;
  }
  sum = block_reduce(sum, 0.0f, warp_sum) / n;
  squares = block_reduce(squares, 0.0f, warp_sum) / n;
  float scale = rsqrtf(squares - sum * sum + 1e-5f);
  LOOP for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = (row[i] - sum) * scale * b[i] + b[i + n];
}

// launch: scan grid=4 block=256 n=1024 fill=u32
KERNEL scan(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  __shared__ unsigned tile[2][256];
  int t = threadIdx.x, from = 0;
  tile[0][t] = a[GID];
  __syncthreads();
  LOOP for (int d = 1; d < 256; d *= 2) {
    tile[1 - from][t] = t >= d ? tile[from][t] + tile[from][t - d] : tile[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[GID] = tile[from][t];
}

// launch: histogram grid=4 block=128 n=4096 fill=u32
KERNEL histogram(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  __shared__ unsigned bins[256];
  LOOP for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  LOOP for (int i = GID; i < n; i += gridDim.x * blockDim.x) {
    unsigned v = a[i];
    atomicAdd(&bins[v & 255], 1);
    atomicAdd(&bins[v >> 24], 1);
  }
  __syncthreads();
  LOOP for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}

// launch: argmax grid=4 block=128 n=2048 fill=f32
KERNEL argmax(const float *a, const float *b, int *out, int n) {
  struct Best { float value; int at; } best = {-3e38f, -1};
  LOOP for (int i = GID; i < n; i += gridDim.x * blockDim.x)
    if (a[i] > best.value) best = {a[i], i};
  LOOP for (int d = 16; d > 0; d >>= 1) {
    Best other = {__shfl_down_sync(~0u, best.value, d), __shfl_down_sync(~0u, best.at, d)};
    if (other.value > best.value) best = other;
  }
  if (threadIdx.x % 32 == 0) out[GID / 32] = best.at;
}
