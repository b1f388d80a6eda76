// Values that a thread keeps if it has any: `if (i < n) x[k] = p[i]`, then a reduction, then `if (i < n) use(x[k])`; threads that leave at once beside ways
// that store to one place; lists whose pointers are in memory. How libraries of kernels for training are written.
#include "../corpus/common.h"
#include <cuda_fp16.h>

#define EACH _Pragma("unroll")

__device__ __forceinline__ float across(float sum) {
  for (int i = 1; i < 32; i <<= 1) sum += __shfl_xor_sync(0xffffffff, sum, i);
  return sum;
}

// launch: guarded_softmax_backward grid=4 block=32,4 args=out,a,90 fill=f32
extern "C" __global__ void guarded_softmax_backward(float *grad, const float *output, int length) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, offset = row * length + threadIdx.x;
  grad += offset;
  output += offset;
  float grads[4], outputs[4], sum = 0;
  EACH for (int i = 0; i < 4; i++) {
    int at = threadIdx.x + i * 32;
    if (at < length) {
      grads[i] = grad[i * 32];
      outputs[i] = output[i * 32];
      sum += grads[i] * outputs[i];
    }
  }
  sum = across(sum);
  EACH for (int i = 0; i < 4; i++) {
    int at = threadIdx.x + i * 32;
    if (at < length) grad[i * 32] = outputs[i] * (grads[i] - sum);
  }
}

// launch: guarded_layer_norm grid=4 block=32 args=a,b,out,300 fill=f32
extern "C" __global__ void guarded_layer_norm(const float4 *in, const float *scale, float4 *out, int quads) {
  float4 own[4];
  float sum = 0;
  in += blockIdx.x * quads;
  out += blockIdx.x * quads;
  EACH for (int i = 0; i < 4; i++) {
    int at = i * 32 + threadIdx.x;
    if (at < quads) {
      own[i] = in[at];
      sum += own[i].x + own[i].y + own[i].z + own[i].w;
    }
  }
  float mean = across(sum) / (4 * quads), squares = 0;
  EACH for (int i = 0; i < 4; i++) {
    int at = i * 32 + threadIdx.x;
    if (at < quads) {
      float4 v = own[i];
      squares += (v.x - mean) * (v.x - mean) + (v.y - mean) * (v.y - mean) + (v.z - mean) * (v.z - mean) +
                 (v.w - mean) * (v.w - mean);
    }
  }
  float inverse = rsqrtf(across(squares) / (4 * quads) + 1e-5f);
  EACH for (int i = 0; i < 4; i++) {
    int at = i * 32 + threadIdx.x;
    if (at < quads) {
      float by = scale[at] * inverse;
      float4 v = own[i];
      out[at] = make_float4((v.x - mean) * by, (v.y - mean) * by, (v.z - mean) * by, (v.w - mean) * by);
    }
  }
}

// launch: guarded_leaves grid=8 block=128 args=a,b,out,900,40,7,9,11 fill=u32
extern "C" __global__ void guarded_leaves(const unsigned char *bins, const unsigned *rows, int *leaves, unsigned n,
                                          unsigned threshold, int left, int right, int missing) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned row = rows[i] & 4095, bin = bins[row];
  if (bin == 0) {
    leaves[row] = missing;
  } else if (bin > 250) {
    leaves[row] = missing;
  } else if (bin > threshold) {
    leaves[row] = right;
  } else {
    leaves[row] = left;
  }
}

// launch: guarded_quantize grid=4 block=32,2 args=a,out,b,150 fill=f32
extern "C" __global__ void guarded_quantize(const float *in, char *out, float *scales, int length) {
  int group = blockIdx.x * blockDim.y + threadIdx.y;
  const float *base = in + group * length;
  float values[6], most = 0;
  bool has[6];
  EACH for (int i = 0; i < 6; i++) {
    has[i] = threadIdx.x + 32 * i < length;
    if (has[i]) {
      values[i] = base[threadIdx.x + 32 * i];
      most = fmaxf(most, fabsf(values[i]));
    }
  }
  for (int i = 16; i > 0; i >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, i));
  float scale = most == 0 ? 1.0f : 127.0f / most;
  EACH for (int i = 0; i < 6; i++) {
    if (has[i]) out[group * length + threadIdx.x + 32 * i] = (char)max(-128, min(127, __float2int_rn(values[i] * scale)));
  }
  if (threadIdx.x == 0) scales[group] = scale;
}

// launch: guarded_rope grid=8 block=64 args=out,a,40,300 fill=f32
extern "C" __global__ void guarded_rope(float *x, const float *angles, int half, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float even, odd, c, s;
  bool inside = i < n, turns = threadIdx.x < half;
  if (inside && turns) {
    even = x[2 * i];
    odd = x[2 * i + 1];
    __sincosf(angles[i], &s, &c);
  }
  __syncthreads();
  if (inside && turns) {
    x[2 * i] = even * c - odd * s;
    x[2 * i + 1] = even * s + odd * c;
  }
}

// launch: guarded_best grid=4 block=128 args=a,b,out,400 fill=f32
extern "C" __global__ void guarded_best(const float *gains, const float *counts, float *out, int n) {
  __shared__ float best[4];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool found = false;
  float gain, count;
  if (i < n) {
    gain = gains[i];
    if (gain > 0.1f) {
      count = counts[i];
      found = count > 0.25f;
    }
  }
  float own = found ? gain * count : -1.0f;
  for (int by = 16; by > 0; by >>= 1) own = fmaxf(own, __shfl_xor_sync(0xffffffff, own, by));
  if ((threadIdx.x & 31) == 0) best[threadIdx.x >> 5] = own;
  __syncthreads();
  float all = fmaxf(fmaxf(best[0], best[1]), fmaxf(best[2], best[3]));
  if (found && gain * count == all) {
    out[2 * i] = gain;
    out[2 * i + 1] = count;
  }
}

// launch: guarded_half_softmax grid=4 block=32 args=a,out,100,3.5 fill=f16
extern "C" __global__ void guarded_half_softmax(const __half2 *in, __half2 *out, int length, float scale) {
  float2 own[4];
  float most = -10000.0f, sum = 0;
  EACH for (int i = 0; i < 4; i++) {
    int at = threadIdx.x + 32 * i;
    if (at < length) {
      own[i] = __half22float2(in[blockIdx.x * length + at]);
      own[i].x *= scale;
      own[i].y *= scale;
      most = fmaxf(most, fmaxf(own[i].x, own[i].y));
    }
  }
  for (int by = 1; by < 32; by *= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, by));
  EACH for (int i = 0; i < 4; i++) {
    int at = threadIdx.x + 32 * i;
    if (at < length) {
      own[i].x = __expf(own[i].x - most);
      own[i].y = __expf(own[i].y - most);
      sum += own[i].x + own[i].y;
    }
  }
  sum = across(sum);
  EACH for (int i = 0; i < 4; i++) {
    int at = threadIdx.x + 32 * i;
    if (at < length) out[blockIdx.x * length + at] = __floats2half2_rn(own[i].x / sum, own[i].y / sum);
  }
}
