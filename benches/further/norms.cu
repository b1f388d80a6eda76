// Normalisation over groups, instances, batches and rows.
#include "../corpus/common.h"

// launch: norm_group grid=8 block=64 n=16 fill=f32
KERNEL norm_group(const float *a, const float *b, float *out, int n) {
  int group = blockIdx.x, channels = 4, t = threadIdx.x;
  __shared__ float sums[64], squares[64];
  float sum = 0, square = 0;
  const float *in = a + group * channels * n * n;
  LOOP for (int k = t; k < channels * n * n; k += 64) {
    float v = in[k];
    sum += v;
    square += v * v;
  }
  sums[t] = sum;
  squares[t] = square;
  __syncthreads();
  LOOP for (int half = 32; half > 0; half >>= 1) {
    if (t < half) {
      sums[t] += sums[t + half];
      squares[t] += squares[t + half];
    }
    __syncthreads();
  }
  float mean = sums[0] / (channels * n * n), scale = rsqrtf(squares[0] / (channels * n * n) - mean * mean + 1e-5f);
  LOOP for (int k = t; k < channels * n * n; k += 64) {
    int c = group * channels + k / (n * n);
    out[group * channels * n * n + k] = (in[k] - mean) * scale * b[2 * c] + b[2 * c + 1];
  }
}

// launch: norm_instance grid=4 block=32 n=64 fill=f32
KERNEL norm_instance(const float *a, const float *b, float *out, int n) {
  int i = GID;
  float mean = 0, m2 = 0;
  LOOP for (int k = 0; k < n; ++k) {
    float v = a[i * n + k], delta = v - mean;
    mean += delta / (k + 1);
    m2 += delta * (v - mean);
  }
  float scale = rsqrtf(m2 / n + 1e-5f);
  LOOP for (int k = 0; k < n; ++k) out[i * n + k] = (a[i * n + k] - mean) * scale;
}

// launch: norm_batch grid=2 block=64 n=32 fill=f32
KERNEL norm_batch(const float *a, const float *b, float *out, int n) {
  int c = GID, channels = gridDim.x * blockDim.x;
  float sum = 0, square = 0;
  LOOP for (int k = 0; k < n; ++k) {
    float v = a[k * channels + c];
    sum += v;
    square += v * v;
  }
  float mean = sum / n, scale = rsqrtf(square / n - mean * mean + 1e-5f) * b[c], shift = b[channels + c] - mean * scale;
  LOOP for (int k = 0; k < n; ++k) out[k * channels + c] = a[k * channels + c] * scale + shift;
}

// launch: norm_group_loops grid=2 block=32 n=8 fill=f32
KERNEL norm_group_loops(const float *a, const float *b, float *out, int n) {
  int i = GID;
  const float *in = a + i * 4 * n * 2;
  float mean = 0, variance = 0;
  LOOP for (int c = 0; c < 4; ++c)
    LOOP for (int k = 0; k < n; ++k) mean += in[c * n + k];
  mean /= 4 * n;
  LOOP for (int c = 0; c < 4; ++c)
    LOOP for (int k = 0; k < n; ++k) {
      float d = in[c * n + k] - mean;
      variance += d * d;
    }
  float scale = rsqrtf(variance / (4 * n) + 1e-5f);
  LOOP for (int c = 0; c < 4; ++c) {
    float gamma = b[c] * scale, beta = b[c + 4];
    LOOP for (int k = 0; k < n; ++k) out[i * 4 * n + c * n + k] = (in[c * n + k] - mean) * gamma + beta;
  }
}

// launch: norm_warp grid=8 block=32 n=128 fill=f32
KERNEL norm_warp(const float *a, const float *b, float *out, int n) {
  int row = blockIdx.x, lane = threadIdx.x;
  float sum = 0;
  LOOP for (int k = lane; k < n; k += 32) sum += a[row * n + k];
  LOOP for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  float mean = sum / n, square = 0;
  LOOP for (int k = lane; k < n; k += 32) {
    float d = a[row * n + k] - mean;
    square += d * d;
  }
  LOOP for (int d = 16; d > 0; d /= 2) square += __shfl_xor_sync(~0u, square, d);
  float scale = rsqrtf(square / n + 1e-5f);
  LOOP for (int k = lane; k < n; k += 32) out[row * n + k] = (a[row * n + k] - mean) * scale * b[k] + b[n + k];
}
