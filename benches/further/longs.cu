// Kernels whose indices have 64 bits, as those of libraries of tensors: products, softmax, strides, stencils, pools, tables, transposes, scans.
#include "../corpus/common.h"

typedef long long i64; typedef unsigned long long u64; typedef unsigned char u8;

// launch: l_saxpy grid=2 block=64 args=a,b,out,512 fill=f32
KERNEL l_saxpy(const float *x, const float *y, float *out, int n) {
  LOOP for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * blockDim.x) out[i] = 2.5f * x[i] + y[i];
}
// launch: l_matmul grid=1 block=16,8 args=a,b,out,16,16,24 fill=f32
KERNEL l_matmul(const float *a, const float *b, float *c, int M, int N, int K) {
  i64 row = blockIdx.y * (i64)blockDim.y + threadIdx.y, col = blockIdx.x * (i64)blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float s = 0;
  LOOP for (i64 k = 0; k < K; k++) s += a[row * K + k] * b[k * N + col];
  c[row * N + col] = s;
}
// launch: l_softmax grid=1 block=64 args=a,out,48 fill=f32
KERNEL l_softmax(const float *in, float *out, int n) {
  const i64 row = GID; const float *x = in + row * n; float m = -INFINITY, s = 0;
  LOOP for (i64 j = 0; j < n; ++j) m = fmaxf(m, x[j]);
  LOOP for (i64 j = 0; j < n; ++j) s += __expf(x[j] - m);
  LOOP for (i64 j = 0; j < n; ++j) out[row * n + j] = __expf(x[j] - m) / s;
}
// launch: l_strided grid=1 block=64 args=a,out,8,3,5 fill=f32
struct Strides { i64 s[3]; };
KERNEL l_strided(const float *in, float *out, int n0, int n1, int n2) {
  Strides st = {{n1 * (i64)n2, n2, 1}};
  i64 lin = GID; if (lin >= (i64)n0 * n1 * n2) return;
  i64 dims[3] = {n0, n1, n2}, off = 0;
  LOOP for (int d = 2; d >= 0; d--) { i64 q = lin / dims[d]; off += (lin - q * dims[d]) * st.s[d]; lin = q; }
  out[GID] = in[off];
}
// launch: l_conv1d grid=1 block=64 args=a,b,out,100,7 fill=f32
KERNEL l_conv1d(const float *x, const float *w, float *out, int n, int k) {
  i64 i = GID; float s = 0;
  LOOP for (i64 j = 0; j < k; j++) { i64 p = i + j - k / 2; if (p >= 0 && p < n) s += x[p] * w[j]; }
  out[i] = s;
}
// launch: l_gather grid=1 block=64 args=a,b,out,8,32 fill=u32
KERNEL l_gather(const int *idx, const int *table, int *out, int n, int d) {
  i64 row = GID / d, col = GID % d;
  LOOP for (i64 i = 0; i < n; i++) { i64 id = idx[row * n + i] & 255; out[(row * n + i) * d + col] = table[id * d + col]; }
}
// launch: l_csr grid=1 block=64 args=a,b,out,4 fill=iota
KERNEL l_csr(const i64 *rowptr, const float *vals, float *out, int deg) {
  i64 r = GID; float s = 0;
  LOOP for (i64 e = r * deg; e < (r + 1) * deg; e++) s += vals[e] * vals[rowptr[e & 63] & 127];
  out[r] = s;
}
// launch: l_transpose grid=1 block=32,8 args=a,out,64,64 fill=f32
KERNEL l_transpose(const float *in, float *out, int w, int h) {
  __shared__ float t[32][33];
  i64 x = blockIdx.x * 32ll + threadIdx.x, y = blockIdx.y * 32ll + threadIdx.y;
  LOOP for (int j = 0; j < 32; j += 8) if (x < w && y + j < h) t[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32ll + threadIdx.x; y = blockIdx.x * 32ll + threadIdx.y;
  LOOP for (int j = 0; j < 32; j += 8) if (x < h && y + j < w) out[(y + j) * h + x] = t[threadIdx.x][threadIdx.y + j];
}
// launch: l_bsearch grid=1 block=64 args=a,b,out,200 fill=iota
KERNEL l_bsearch(const int *sorted, const int *q, i64 *out, int n) {
  size_t lo = 0, hi = n; int key = q[GID] * 3;
  LOOP while (lo < hi) { size_t mid = lo + (hi - lo) / 2; if (sorted[mid] < key) lo = mid + 1; else hi = mid; }
  out[GID] = lo;
}
// launch: l_hist grid=1 block=64 args=a,out,16 fill=u32
KERNEL l_hist(const u8 *in, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  LOOP for (size_t i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  LOOP for (size_t i = threadIdx.x; i < (size_t)n * 64; i += blockDim.x) atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  LOOP for (size_t i = threadIdx.x; i < 256; i += blockDim.x) if (local[i]) atomicAdd(&bins[i], local[i]);
}
// launch: l_prefix grid=1 block=64 args=a,out,12 fill=u32
KERNEL l_prefix(const unsigned *in, u64 *out, int n) {
  u64 s = 0; size_t base = (size_t)GID * n;
  LOOP for (size_t i = 0; i < (size_t)n; i++) { s += in[base + i]; out[base + i] = s; }
}
// launch: l_layernorm grid=1 block=64 args=a,b,out,64 fill=f32
KERNEL l_layernorm(const float *x, const float *g, float *out, int n) {
  i64 row = threadIdx.x / 32 + 2ll * blockIdx.x, lane = threadIdx.x % 32; float s = 0, q = 0;
  LOOP for (i64 i = lane; i < n; i += 32) { float v = x[row * n + i]; s += v; q += v * v; }
  LOOP for (int o = 16; o > 0; o >>= 1) { s += __shfl_xor_sync(~0u, s, o); q += __shfl_xor_sync(~0u, q, o); }
  float mu = s / n, r = rsqrtf(q / n - mu * mu + 1e-5f);
  LOOP for (i64 i = lane; i < n; i += 32) out[row * n + i] = (x[row * n + i] - mu) * r * g[i];
}
// launch: l_maxpool grid=1 block=64 args=a,out,2,16,16 fill=f32
KERNEL l_maxpool(const float *in, float *out, int C, int H, int W) {
  i64 oh = H / 2, ow = W / 2;
  LOOP for (i64 i = GID; i < C * oh * ow; i += (i64)gridDim.x * blockDim.x) {
    i64 x = i % ow, y = i / ow % oh, c = i / (ow * oh); float m = -1e30f;
    LOOP for (i64 dy = 0; dy < 2; dy++) LOOP for (i64 dx = 0; dx < 2; dx++) m = fmaxf(m, in[(c * H + 2 * y + dy) * W + 2 * x + dx]);
    out[i] = m;
  }
}
// launch: l_hash grid=1 block=64 args=a,out,8 fill=u32
KERNEL l_hash(const u64 *keys, u64 *table, int n) {
  LOOP for (int i = 0; i < n; i++) {
    u64 k = keys[(size_t)GID * n + i] | 1, h = k;
    h ^= h >> 33; h *= 0xff51afd7ed558ccdull; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53ull; h ^= h >> 33;
    LOOP for (u64 probe = 0; probe < 16; probe++) {
      u64 old = atomicCAS(&table[(h + probe) & 2047], 0ull, k);
      if (old == 0 || old == k) break;
    }
  }
}
// launch: l_dct grid=1 block=64 args=a,out,8 fill=f32
KERNEL l_dct(const double *in, double *out, int n) {
  size_t k = threadIdx.x % 8, row = GID / 8; double s = 0;
  LOOP for (size_t i = 0; i < (size_t)n; i++) s += in[(row * n + i) & 1023] * (double)((i * 2 + 1) * k % 16);
  out[GID] = s;
}
// launch: l_batched grid=1 block=64 args=a,b,out,4,8 fill=f32
KERNEL l_batched(const float *a, const float *b, float *out, int batch, int d) {
  i64 i = GID % d, j = GID / d % d;
  LOOP for (i64 n = 0; n < batch; n++) {
    const float *p = a + n * d * d, *q = b + n * d * d; float s = 0;
    LOOP for (i64 k = 0; k < d; k++) s += p[i * d + k] * q[k * d + j];
    out[n * d * d + i * d + j] = s;
  }
}
// launch: l_scatter grid=1 block=64 args=a,b,out,8,16 fill=u32
KERNEL l_scatter(const int *src, const i64 *index, int *out, int n, int d) {
  i64 stride = (i64)gridDim.x * blockDim.x;
  LOOP for (i64 t = GID; t < (i64)n * d; t += stride) {
    i64 r = t / d, c = t - r * d, to = index[r] & 63;
    atomicAdd(out + to * d + c, src[t]);
  }
}
// launch: l_rope grid=1 block=64 args=a,out,4,16 fill=f32
KERNEL l_rope(const float *x, float *out, int heads, int half) {
  i64 pos = GID / half, i = GID % half; float th = pos * __powf(10000.f, -(float)i / half), s, c; __sincosf(th, &s, &c);
  LOOP for (i64 h = 0; h < heads; h++) {
    i64 at = (pos * heads + h) * half * 2; float a = x[at + i], b = x[at + half + i];
    out[at + i] = a * c - b * s; out[at + half + i] = b * c + a * s;
  }
}
// launch: l_trisolve grid=1 block=32 args=a,b,out,16 fill=f32
KERNEL l_trisolve(const float *L, const float *b, float *x, int n) {
  size_t me = GID;
  LOOP for (size_t i = 0; i < (size_t)n; i++) {
    float s = b[me * n + i];
    LOOP for (size_t j = 0; j < i; j++) s -= L[i * n + j] * x[me * n + j];
    x[me * n + i] = s / (L[i * n + i] + 4);
  }
}
// launch: l_stencil3d grid=1 block=8,8 args=a,out,10,10,10 fill=f32
KERNEL l_stencil3d(const float *in, float *out, int nx, int ny, int nz) {
  i64 x = threadIdx.x + 1, y = threadIdx.y + 1;
  LOOP for (i64 z = 1; z < nz - 1; z++) {
    i64 c = (z * ny + y) * nx + x;
    out[c] = in[c] * -6 + in[c - 1] + in[c + 1] + in[c - nx] + in[c + nx] + in[c - (i64)nx * ny] + in[c + (i64)nx * ny];
  }
}
// launch: l_words grid=1 block=64 args=a,out,64 fill=u32
KERNEL l_words(const char *text, size_t *out, int n) {
  size_t words = 0, longest = 0, run = 0;
  LOOP for (size_t i = 0; i < (size_t)n; i++) {
    bool letter = (text[(size_t)GID * n + i] & 7) > 2;
    if (letter) { run++; if (run > longest) longest = run; } else { if (run) words++; run = 0; }
  }
  out[GID * 2] = words; out[GID * 2 + 1] = longest;
}
// launch: l_cumprod grid=1 block=64 args=a,out,3,16 fill=u32
KERNEL l_cumprod(const unsigned *in, unsigned *out, int planes, int len) {
  LOOP for (i64 i = GID; i < (i64)planes * len; i += blockDim.x * (i64)gridDim.x) {
    i64 plane = i / len, off = i % len; unsigned p = 1;
    LOOP for (i64 k = 0; k <= off; ++k) p *= in[plane * len + k] | 1;
    out[i] = p;
  }
}
// launch: l_embed grid=1 block=64 args=a,b,out,6,32 fill=u32
KERNEL l_embed(const i64 *ids, const float *table, float *out, int n, int dim) {
  LOOP for (i64 i = GID; i < (i64)n * dim; i += blockDim.x * (i64)gridDim.x) {
    i64 tok = i / dim, c = i % dim, id = ids[tok]; if (id < 0) id += 256; id &= 255;
    out[i] = table[id * dim + c] * 0.5f;
  }
}
// launch: l_unfold grid=1 block=64 args=a,out,6,6,3 fill=f32
KERNEL l_unfold(const float *in, float *out, int H, int W, int K) {
  i64 oh = H - K + 1, ow = W - K + 1, total = oh * ow * K * K;
  LOOP for (i64 i = GID; i < total; i += (i64)gridDim.x * blockDim.x) {
    i64 x = i % ow, y = i / ow % oh, kx = i / (ow * oh) % K, ky = i / (ow * oh * K);
    out[i] = in[(y + ky) * W + x + kx];
  }
}
