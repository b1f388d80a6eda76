// Linear algebra and images. A line `// launch:` says how the kernel below it is measured: all take (a, b, out, n).
#include "common.h"

// launch: saxpy grid=32 block=128 n=4000 fill=f32
KERNEL saxpy(const float *a, const float *b, float *out, int n) {
  int i = GID;
  if (i < n) out[i] = 2.5f * a[i] + b[i];
}

// launch: copy4 grid=8 block=128 n=1024 fill=f32
KERNEL copy4(const float4 *a, const float4 *b, float4 *out, int n) {
  int i = GID;
  if (i < n) {
    float4 v = a[i], w = b[i];
    v.x += w.x; v.y += w.y; v.z += w.z; v.w += w.w;
    out[i] = v;
  }
}

// launch: matmul_naive grid=4 block=16,16 n=32 fill=f32
KERNEL matmul_naive(const float *a, const float *b, float *out, int n) {
  int row = (blockIdx.x / 2) * 16 + threadIdx.y, col = (blockIdx.x % 2) * 16 + threadIdx.x;
  float sum = 0;
  LOOP for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  out[row * n + col] = sum;
}

// launch: matmul_tiled grid=4 block=16,16 n=32 fill=f32
KERNEL matmul_tiled(const float *a, const float *b, float *out, int n) {
  __shared__ float x[16][16], y[16][16];
  int row = (blockIdx.x / 2) * 16 + threadIdx.y, col = (blockIdx.x % 2) * 16 + threadIdx.x;
  float sum = 0;
  LOOP for (int t = 0; t < n; t += 16) {
    x[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
    __syncthreads();
    LOOP for (int k = 0; k < 16; ++k) sum += x[threadIdx.y][k] * y[k][threadIdx.x];
    __syncthreads();
  }
  out[row * n + col] = sum;
}

// launch: conv2d grid=16 block=16,16 n=64 fill=f32
KERNEL conv2d(const float *a, const float *b, float *out, int n) {
  int x = (blockIdx.x % 4) * 16 + threadIdx.x, y = (blockIdx.x / 4) * 16 + threadIdx.y;
  if (x < 2 || y < 2 || x >= n - 2 || y >= n - 2) return;
  float sum = 0;
  LOOP for (int dy = -2; dy <= 2; ++dy)
    LOOP for (int dx = -2; dx <= 2; ++dx) sum += a[(y + dy) * n + x + dx] * b[(dy + 2) * 5 + dx + 2];
  out[y * n + x] = sum;
}

// launch: transpose grid=4 block=32,8 n=64 fill=f32
KERNEL transpose(const float *a, const float *b, float *out, int n) {
  __shared__ float tile[32][33];
  int bx = blockIdx.x % 2, by = blockIdx.x / 2;
  LOOP for (int j = 0; j < 32; j += 8)
    tile[threadIdx.y + j][threadIdx.x] = a[(by * 32 + threadIdx.y + j) * n + bx * 32 + threadIdx.x];
  __syncthreads();
  LOOP for (int j = 0; j < 32; j += 8)
    out[(bx * 32 + threadIdx.y + j) * n + by * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];
}

// launch: stencil grid=16 block=128 n=2048 fill=f32
KERNEL stencil(const float *a, const float *b, float *out, int n) {
  __shared__ float line[136];
  int i = GID, t = threadIdx.x + 4;
  line[t] = a[i];
  if (threadIdx.x < 4) {
    line[t - 4] = i >= 4 ? a[i - 4] : 0;
    line[t + 128] = i + 128 < n ? a[i + 128] : 0;
  }
  __syncthreads();
  float sum = 0;
  LOOP for (int d = -4; d <= 4; ++d) sum += line[t + d] * b[d + 4];
  out[i] = sum;
}

// launch: jacobi grid=16 block=16,16 n=64 fill=f32
KERNEL jacobi(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int n) {
  int x = (blockIdx.x % 4) * 16 + threadIdx.x, y = (blockIdx.x / 4) * 16 + threadIdx.y;
  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
  int i = y * n + x;
  out[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n]) - b[i];
}

// launch: matvec4 grid=8 block=128 n=64 fill=f32
KERNEL matvec4(const float4 *a, const float4 *b, float *out, int n) {
  int row = (GID) % 64;
  float sum = 0;
  LOOP for (int k = 0; k < n / 4; ++k) {
    float4 v = a[row * (n / 4) + k], w = b[k];
    sum += v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
  }
  out[GID] = sum;
}
