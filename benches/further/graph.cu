// Graphs and sparse data: rows in CSR form, searches, histograms, compaction.
#include "../corpus/common.h"
#include <stdint.h>

struct CsrView {
  const int *rowptr;
  const int *colidx;
  int rows;
  __device__ int begin(int r) const { return rowptr[r] & 1023; }
  __device__ int end(int r) const { return min(begin(r) + 16, 1024); }
};

// launch: spmv_scalar grid=4 block=64 n=256 fill=iota
KERNEL spmv_scalar(const int *a, const int *b, float *y, int n) {
  CsrView m{a, b, n};
  unsigned row = GID;
  if (row >= m.rows) return;
  float dot = 0;
  const int row_start = m.begin(row), row_end = m.end(row);
  LOOP for (int e = row_start; e < row_end; e++) dot += (float)a[e] * (float)b[m.colidx[e] & 255];
  y[row] += dot;
}

// launch: spmv_vector grid=4 block=128 n=16 fill=iota
KERNEL spmv_vector(const int *rowptr, const int *cols, float *y, int n) {
  __shared__ volatile float vals[128];
  int warp_id = GID / 32, lane = threadIdx.x & 31;
  int start = rowptr[warp_id] * 40, end = start + 40;
  vals[threadIdx.x] = 0;
  LOOP for (int j = start + lane; j < end; j += 32) vals[threadIdx.x] += (float)cols[j] * 0.5f;
  __syncwarp();
  if (lane < 16) vals[threadIdx.x] += vals[threadIdx.x + 16];
  __syncwarp();
  if (lane < 8) vals[threadIdx.x] += vals[threadIdx.x + 8];
  __syncwarp();
  if (lane < 4) vals[threadIdx.x] += vals[threadIdx.x + 4];
  __syncwarp();
  if (lane == 0) y[warp_id] = vals[threadIdx.x] + vals[threadIdx.x + 1] + vals[threadIdx.x + 2] + vals[threadIdx.x + 3];
}

// launch: bfs_level grid=4 block=64 n=256 fill=iota
KERNEL bfs_level(const unsigned *offsets, const unsigned *edges, unsigned *dist, unsigned n) {
  const unsigned level = 3;
  unsigned v = GID;
  if (v < n && (offsets[v] & 3) == level) {
    unsigned first = offsets[v] * 3, last = first + 1 + (v & 7);
    LOOP for (unsigned i = first; i < last; ++i) {
      unsigned to = edges[i] & 511;
      if (dist[to] == 0) {
        dist[to] = level + 1;
        dist[1024] = 1;
      }
    }
  }
}

// launch: relax_edges grid=4 block=64 n=1024 fill=iota
KERNEL relax_edges(const int2 *edges, const int *weight, int *dist, int m) {
  LOOP for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < m; e += blockDim.x * gridDim.x) {
    int2 uv = edges[e];
    int u = uv.x & 255, v = uv.y & 255;
    int nd = u * 3 + weight[e];
    if (nd < 4000) atomicMax(&dist[v], nd);
  }
}

// launch: degree_count grid=4 block=128 n=2048 fill=u32
KERNEL degree_count(const uint32_t *data, const uint32_t *unused, unsigned int *histo, int size) {
  __shared__ unsigned int temp[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) temp[k] = 0;
  __syncthreads();
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int offset = blockDim.x * gridDim.x;
  LOOP while (i < size) {
    uint32_t w = data[i];
    atomicAdd(&temp[w & 0xff], 1u);
    atomicAdd(&temp[(w >> 8) & 0xff], 1u);
    atomicAdd(&temp[(w >> 16) & 0xff], 1u);
    atomicAdd(&temp[w >> 24], 1u);
    i += offset;
  }
  __syncthreads();
  LOOP for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&histo[k], temp[k]);
}

// launch: compact_ballot grid=4 block=64 n=256 fill=u32
KERNEL compact_ballot(const int *in, const int *b, int *out, int n) {
  int i = GID, lane = threadIdx.x % 32;
  bool keep = i < n && in[i] > 0;
  unsigned m = __ballot_sync(0xffffffffu, keep);
  int leader = __ffs(m) - 1, base = 0;
  if (lane == leader) base = atomicAdd(out + 2048 + blockIdx.x * 2 + threadIdx.x / 32, __popc(m));
  base = __shfl_sync(0xffffffffu, base, leader < 0 ? 0 : leader);
  if (keep) out[(i & ~31) + base + __popc(m & ((1u << lane) - 1))] = in[i];
}

// launch: triangle_count grid=2 block=64 n=24 fill=iota
KERNEL triangle_count(const int *adj, const int *adj2, int *out, int deg) {
  int u = GID, count = 0;
  const int *p = adj + u * 3, *q = adj2 + u * 2;
  int i = 0, j = 0;
  LOOP while (i < deg && j < deg) {
    int x = p[i], y = q[j];
    if (x == y) { ++count; ++i; ++j; }
    else if (x < y) ++i;
    else ++j;
  }
  out[u] = count;
}

// launch: binary_lookup grid=4 block=64 n=1000 fill=iota
template <typename T> __device__ size_t lower_bound(const T *first, size_t count, T value) {
  size_t lo = 0;
  LOOP while (count > 0) {
    size_t step = count / 2;
    if (first[lo + step] < value) {
      lo += step + 1;
      count -= step + 1;
    } else
      count = step;
  }
  return lo;
}
KERNEL binary_lookup(const int *a, const int *b, int *out, int n) { out[GID] = (int)lower_bound(a, (size_t)n, b[GID] * 5 - 100); }
