// Sorts, scans, reductions.
#include "../corpus/common.h"
#include <stdint.h>

// launch: bitonic_step grid=4 block=128 n=512 fill=u32
KERNEL bitonic_step(const int *in, const int *b, int *dev_values, int n) {
  unsigned int i = threadIdx.x + blockDim.x * blockIdx.x, j = 4, k = 16, ixj = i ^ j;
  int vi = in[i], vj = in[ixj];
  if (ixj > i) {
    bool up = (i & k) == 0;
    dev_values[i] = up == (vi > vj) ? vj : vi;
    dev_values[ixj] = up == (vi > vj) ? vi : vj;
  }
}

template <typename T> __device__ inline void comparator(T &keyA, T &valA, T &keyB, T &valB, unsigned dir) {
  if ((keyA > keyB) == dir) {
    T t = keyA; keyA = keyB; keyB = t;
    t = valA; valA = valB; valB = t;
  }
}

// launch: bitonic_pairs grid=2 block=64 n=128 fill=u32
KERNEL bitonic_pairs(const unsigned *srcKey, const unsigned *srcVal, unsigned *dst, unsigned n) {
  __shared__ unsigned s_key[128], s_val[128];
  unsigned base = blockIdx.x * 128 + threadIdx.x;
  s_key[threadIdx.x] = srcKey[base];
  s_val[threadIdx.x] = srcVal[base];
  s_key[threadIdx.x + 64] = srcKey[base + 64];
  s_val[threadIdx.x + 64] = srcVal[base + 64];
  LOOP for (unsigned size = 2; size < n; size <<= 1) {
    unsigned ddd = 1 ^ ((threadIdx.x & (size / 2)) != 0);
    LOOP for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
    }
  }
  __syncthreads();
  dst[base] = s_key[threadIdx.x] ^ s_val[threadIdx.x];
  dst[base + 64] = s_key[threadIdx.x + 64] ^ s_val[threadIdx.x + 64];
}

// launch: scan_blelloch grid=2 block=64 n=128 fill=u32
KERNEL scan_blelloch(const int *g_idata, const int *b, int *g_odata, int n) {
  __shared__ int temp[128];
  int thid = threadIdx.x, offset = 1;
  g_idata += blockIdx.x * n;
  g_odata += blockIdx.x * n;
  temp[2 * thid] = g_idata[2 * thid];
  temp[2 * thid + 1] = g_idata[2 * thid + 1];
  LOOP for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) temp[n - 1] = 0;
  LOOP for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  g_odata[2 * thid] = temp[2 * thid];
  g_odata[2 * thid + 1] = temp[2 * thid + 1];
}

// launch: scan_hillis grid=2 block=128 n=128 fill=f32
KERNEL scan_hillis(const float *in, const float *b, float *out, int n) {
  __shared__ float buf[2][128];
  int t = threadIdx.x, pout = 0, pin = 1;
  buf[pout][t] = t > 0 ? in[blockIdx.x * n + t - 1] : 0;
  __syncthreads();
  LOOP for (int offset = 1; offset < n; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= offset) buf[pout][t] = buf[pin][t] + buf[pin][t - offset];
    else buf[pout][t] = buf[pin][t];
    __syncthreads();
  }
  out[blockIdx.x * n + t] = buf[pout][t];
}

// launch: scan_warps grid=2 block=128 n=256 fill=u32
__device__ __forceinline__ int inclusive_warp(int v) {
  int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    int o = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += o;
  }
  return v;
}
KERNEL scan_warps(const int *in, const int *b, int *out, int n) {
  __shared__ int sums[4];
  int v = inclusive_warp(in[GID]);
  if ((threadIdx.x & 31) == 31) sums[threadIdx.x >> 5] = v;
  __syncthreads();
  int add = 0;
  LOOP for (int w = 0; w < (int)(threadIdx.x >> 5); ++w) add += sums[w];
  out[GID] = v + add;
}

// launch: reduce_multi grid=4 block=128 n=4096 fill=u32
template <unsigned int blockSize> __device__ void reduce6(const int *g_idata, int *g_odata, unsigned int n) {
  __shared__ int sdata[blockSize];
  unsigned int tid = threadIdx.x, i = blockIdx.x * (blockSize * 2) + tid, gridSize = blockSize * 2 * gridDim.x;
  sdata[tid] = 0;
  LOOP while (i < n) {
    sdata[tid] += g_idata[i] + g_idata[i + blockSize];
    i += gridSize;
  }
  __syncthreads();
  if (blockSize >= 128) {
    if (tid < 64) sdata[tid] += sdata[tid + 64];
    __syncthreads();
  }
  if (tid < 32) {
    int v = sdata[tid] + sdata[tid + 32];
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    if (tid == 0) g_odata[blockIdx.x] = v;
  }
}
KERNEL reduce_multi(const int *a, const int *b, int *out, int n) { reduce6<128>(a, out, n); }

// launch: argmax_struct grid=4 block=128 n=2048 fill=f32
struct Best {
  float value;
  int index;
  __device__ Best better(const Best &o) const { return o.value > value || (o.value == value && o.index < index) ? o : *this; }
};
KERNEL argmax_struct(const float *x, const float *b, int *out, int n) {
  __shared__ Best part[4];
  Best best = {-3.4e38f, -1};
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) best = best.better(Best{x[i], i});
  for (int o = 16; o > 0; o >>= 1) {
    Best other = {__shfl_down_sync(0xffffffffu, best.value, o), __shfl_down_sync(0xffffffffu, best.index, o)};
    best = best.better(other);
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x == 0) {
    LOOP for (int w = 1; w < 4; ++w) best = best.better(part[w]);
    out[blockIdx.x] = best.index;
  }
}

// launch: insertion_local grid=2 block=32 n=16 fill=u32
KERNEL insertion_local(const int *a, const int *b, int *out, int n) {
  int arr[16];
  LOOP for (int i = 0; i < 16; ++i) arr[i] = a[GID * 16 + i];
  LOOP for (int i = 1; i < n; i++) {
    int key = arr[i], j = i - 1;
    LOOP while (j >= 0 && arr[j] > key) {
      arr[j + 1] = arr[j];
      j = j - 1;
    }
    arr[j + 1] = key;
  }
  LOOP for (int i = 0; i < 16; ++i) out[GID * 16 + i] = arr[i];
}

// launch: radix_flags grid=2 block=64 n=8 fill=u32
KERNEL radix_flags(const unsigned *in, const unsigned *b, unsigned *out, int bits) {
  __shared__ unsigned keys[64], pos[64];
  int t = threadIdx.x;
  keys[t] = in[GID];
  __syncthreads();
  LOOP for (int bit = 0; bit < bits; ++bit) {
    unsigned key = keys[t], flag = (key >> bit) & 1u;
    pos[t] = 1 - flag;
    __syncthreads();
    LOOP for (int d = 1; d < 64; d <<= 1) {
      unsigned add = t >= d ? pos[t - d] : 0;
      __syncthreads();
      pos[t] += add;
      __syncthreads();
    }
    unsigned zeros = pos[63], dest = flag ? zeros + t - pos[t] : pos[t] - 1;
    __syncthreads();
    keys[dest] = key;
    __syncthreads();
  }
  out[GID] = keys[t];
}

// launch: merge_rank grid=2 block=64 n=64 fill=iota
KERNEL merge_rank(const int *a, const int *b, int *out, int n) {
  int key = a[threadIdx.x] * 2, lo = 0, hi = n;
  LOOP while (lo < hi) {
    int mid = (lo + hi) >> 1;
    if (b[mid] * 3 < key) lo = mid + 1;
    else hi = mid;
  }
  out[blockIdx.x * n * 2 + threadIdx.x + lo] = key;
}
