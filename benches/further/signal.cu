// Signals and images: convolutions, stencils, filters, pixels of four bytes.
#include "../corpus/common.h"
#include <stdint.h>

__constant__ float mask_weights[25] = {1, 4, 7, 4, 1, 4, 16, 26, 16, 4, 7, 26, 41, 26, 7, 4, 16, 26, 16, 4, 1, 4, 7, 4, 1};

// launch: conv_const grid=16 block=16,16 n=64 fill=f32
KERNEL conv_const(const float *in, const float *unused, float *out, int n) {
  int col = (blockIdx.x & 3) * blockDim.x + threadIdx.x;
  int row = (blockIdx.x >> 2) * blockDim.y + threadIdx.y;
  float sum = 0;
  LOOP for (int i = -2; i <= 2; ++i) {
    LOOP for (int j = -2; j <= 2; ++j) {
      int r = row + i, c = col + j;
      if (r >= 0 && r < n && c >= 0 && c < n) sum += in[r * n + c] * mask_weights[(i + 2) * 5 + (j + 2)];
    }
  }
  out[row * n + col] = sum / 273.0f;
}

// launch: conv_halo grid=16 block=16,16 n=64 fill=f32
template <int RADIUS> __device__ void conv_tile(const float *in, const float *k, float *out, int w, int h) {
  __shared__ float s[16 + 2 * RADIUS][16 + 2 * RADIUS];
  int gx = blockIdx.x % 4 * 16, gy = blockIdx.x / 4 * 16;
  LOOP for (int y = threadIdx.y; y < 16 + 2 * RADIUS; y += 16)
    LOOP for (int x = threadIdx.x; x < 16 + 2 * RADIUS; x += 16) {
      int ix = min(max(gx + x - RADIUS, 0), w - 1), iy = min(max(gy + y - RADIUS, 0), h - 1);
      s[y][x] = in[iy * w + ix];
    }
  __syncthreads();
  float acc = 0.0f;
  LOOP for (int dy = 0; dy <= 2 * RADIUS; ++dy)
    LOOP for (int dx = 0; dx <= 2 * RADIUS; ++dx) acc += s[threadIdx.y + dy][threadIdx.x + dx] * k[dy * (2 * RADIUS + 1) + dx];
  out[(gy + threadIdx.y) * w + gx + threadIdx.x] = acc;
}
KERNEL conv_halo(const float *a, const float *b, float *out, int n) { conv_tile<1>(a, b, out, n, n); }

// launch: conv_channels grid=4 block=8,8 n=16 fill=f32
KERNEL conv_channels(const float *input, const float *weight, float *output, int W) {
  const int C = 3, KH = 3, KW = 3;
  int oc = blockIdx.x;
  LOOP for (int oy = threadIdx.y; oy < W - KH + 1; oy += blockDim.y)
    LOOP for (int ox = threadIdx.x; ox < W - KW + 1; ox += blockDim.x) {
      float acc = 0;
      LOOP for (int ic = 0; ic < C; ic++)
        LOOP for (int ky = 0; ky < KH; ky++)
          LOOP for (int kx = 0; kx < KW; kx++)
            acc += input[ic * W * W + (oy + ky) * W + (ox + kx)] * weight[((oc * C + ic) * KH + ky) * KW + kx];
      output[(oc * (W - KH + 1) + oy) * (W - KW + 1) + ox] = fmaxf(acc, 0.0f);
    }
}

// launch: stencil_shared grid=16 block=128 n=2048 fill=f32
#define RADIUS 3
KERNEL stencil_shared(const float *in, const float *coef, float *out, int n) {
  __shared__ float temp[128 + 2 * RADIUS];
  int gindex = threadIdx.x + blockIdx.x * blockDim.x;
  int lindex = threadIdx.x + RADIUS;
  temp[lindex] = in[gindex];
  if (threadIdx.x < RADIUS) {
    temp[lindex - RADIUS] = gindex >= RADIUS ? in[gindex - RADIUS] : 0.0f;
    temp[lindex + 128] = gindex + 128 < n ? in[gindex + 128] : 0.0f;
  }
  __syncthreads();
  float result = 0.0f;
  LOOP for (int offset = -RADIUS; offset <= RADIUS; offset++) result += coef[offset + RADIUS] * temp[lindex + offset];
  out[gindex] = result;
}

// launch: heat_step grid=4 block=16,16 n=32 fill=f32
#define IDX(i, j) ((i) * n + (j))
KERNEL heat_step(const float *u, const float *b, float *v, int n) {
  int j = blockIdx.x % 2 * blockDim.x + threadIdx.x, i = blockIdx.x / 2 * blockDim.y + threadIdx.y;
  if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
    v[IDX(i, j)] = u[IDX(i, j)] + 0.1f * (u[IDX(i - 1, j)] + u[IDX(i + 1, j)] + u[IDX(i, j - 1)] + u[IDX(i, j + 1)] - 4.0f * u[IDX(i, j)]);
  else if (i < n && j < n)
    v[IDX(i, j)] = u[IDX(i, j)];
}

// launch: stencil_z grid=4 block=8,8 n=16 fill=f32
KERNEL stencil_z(const float *__restrict__ A0, const float *b, float *__restrict__ Anext, int nx) {
  const int ny = nx, nz = nx;
  int i = blockIdx.x % 2 * 8 + threadIdx.x, j = blockIdx.x / 2 * 8 + threadIdx.y;
  if (i == 0 || j == 0 || i >= nx - 1 || j >= ny - 1) return;
  float bottom = A0[i + nx * j], current = A0[i + nx * (j + ny)];
  LOOP for (int k = 1; k < nz - 1; k++) {
    float top = A0[i + nx * (j + ny * (k + 1))];
    Anext[i + nx * (j + ny * k)] =
        (top + bottom + A0[i + nx * (j + 1 + ny * k)] + A0[i + nx * (j - 1 + ny * k)] + A0[i + 1 + nx * (j + ny * k)] + A0[i - 1 + nx * (j + ny * k)]) * 0.1667f - current * 0.5f;
    bottom = current;
    current = top;
  }
}

// launch: blend_pixels grid=8 block=64 n=512 fill=u32
__device__ __forceinline__ uchar4 blend(const uchar4 &src, const uchar4 &dst) {
  uchar4 r;
  int alpha = src.w, inv = 255 - alpha;
  r.x = (unsigned char)((src.x * alpha + dst.x * inv + 127) / 255);
  r.y = (unsigned char)((src.y * alpha + dst.y * inv + 127) / 255);
  r.z = (unsigned char)((src.z * alpha + dst.z * inv + 127) / 255);
  r.w = 255;
  return r;
}
KERNEL blend_pixels(const uchar4 *a, const uchar4 *b, uchar4 *out, int n) {
  LOOP for (unsigned i = GID; i < (unsigned)n; i += gridDim.x * blockDim.x) out[i] = blend(a[i], b[i]);
}

// launch: sobel_bytes grid=16 block=16,16 n=64 fill=u32
KERNEL sobel_bytes(const unsigned char *src, const unsigned char *unused, unsigned char *dst, int w) {
  int x = blockIdx.x % 4 * 16 + threadIdx.x, y = blockIdx.x / 4 * 16 + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= w - 1) return;
  const unsigned char *p = src + y * w + x;
  int gx = -p[-w - 1] + p[-w + 1] - 2 * p[-1] + 2 * p[1] - p[w - 1] + p[w + 1];
  int gy = -p[-w - 1] - 2 * p[-w] - p[-w + 1] + p[w - 1] + 2 * p[w] + p[w + 1];
  int mag = abs(gx) + abs(gy);
  dst[y * w + x] = mag > 255 ? 255 : mag;
}

// launch: dft_naive grid=1 block=64 n=64 fill=f32
KERNEL dft_naive(const float2 *x, const float2 *b, float2 *X, int N) {
  int k = threadIdx.x;
  float2 sum = make_float2(0.f, 0.f);
  LOOP for (int t = 0; t < N; t++) {
    float s, c;
    __sincosf(-6.2831853f * k * t / N, &s, &c);
    float2 v = x[t];
    sum.x += v.x * c - v.y * s;
    sum.y += v.x * s + v.y * c;
  }
  X[k] = sum;
}
