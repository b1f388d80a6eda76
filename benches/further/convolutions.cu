// Convolutions: dilated, strided, depthwise, transposed and in one dimension.
#include "../corpus/common.h"

// launch: conv_dilated grid=16 block=16,16 n=64 fill=f32
KERNEL conv_dilated(const float *a, const float *b, float *out, int n) {
  int x = (blockIdx.x % 4) * 16 + threadIdx.x, y = (blockIdx.x / 4) * 16 + threadIdx.y;
  float sum = 0;
  LOOP for (int ky = 0; ky < 3; ++ky)
    LOOP for (int kx = 0; kx < 3; ++kx) {
      int sy = y + (ky - 1) * 2, sx = x + (kx - 1) * 2;
      if (sy >= 0 && sy < n && sx >= 0 && sx < n) sum += a[sy * n + sx] * b[ky * 3 + kx];
    }
  out[y * n + x] = sum;
}

// launch: conv_dilated_by grid=16 block=16,16 n=64 fill=f32
KERNEL conv_dilated_by(const float *a, const float *b, float *out, int n) {
  int x = (blockIdx.x % 4) * 16 + threadIdx.x, y = (blockIdx.x / 4) * 16 + threadIdx.y, dilation = n / 16;
  float sum = 0;
  LOOP for (int ky = -1; ky <= 1; ++ky) {
    int sy = y + ky * dilation;
    if (sy < 0 || sy >= n) continue;
    LOOP for (int kx = -1; kx <= 1; ++kx) {
      int sx = x + kx * dilation;
      if (sx < 0 || sx >= n) continue;
      sum += a[sy * n + sx] * b[(ky + 1) * 3 + kx + 1];
    }
  }
  out[y * n + x] = sum;
}

// launch: conv_strided grid=4 block=16,16 n=64 fill=f32
KERNEL conv_strided(const float *a, const float *b, float *out, int n) {
  int x = (blockIdx.x % 2) * 16 + threadIdx.x, y = (blockIdx.x / 2) * 16 + threadIdx.y;
  float sum = 0;
  LOOP for (int c = 0; c < 4; ++c)
    LOOP for (int ky = 0; ky < 3; ++ky)
      LOOP for (int kx = 0; kx < 3; ++kx) {
        int sy = 2 * y + ky - 1, sx = 2 * x + kx - 1;
        float v = sy >= 0 && sx >= 0 && sy < n && sx < n ? a[(c * n + sy) * n + sx] : 0;
        sum += v * b[(c * 3 + ky) * 3 + kx];
      }
  out[y * (n / 2) + x] = sum;
}

// launch: conv_depthwise grid=16 block=16,16 n=32 fill=f32
KERNEL conv_depthwise(const float *a, const float *b, float *out, int n) {
  int c = blockIdx.x / 4, x = (blockIdx.x % 2) * 16 + threadIdx.x, y = (blockIdx.x / 2 % 2) * 16 + threadIdx.y;
  const float *in = a + c * n * n, *weights = b + c * 9;
  float sum = b[1000 + c];
  LOOP for (int ky = -1; ky <= 1; ++ky)
    LOOP for (int kx = -1; kx <= 1; ++kx) {
      int sy = y + ky, sx = x + kx;
      if ((unsigned)sy < (unsigned)n && (unsigned)sx < (unsigned)n) sum += in[sy * n + sx] * weights[(ky + 1) * 3 + kx + 1];
    }
  out[(c * n + y) * n + x] = fmaxf(sum, 0.0f);
}

// launch: conv_line grid=8 block=128 n=1024 fill=f32
KERNEL conv_line(const float *a, const float *b, float *out, int n) {
  int i = GID;
  float sum = 0;
  LOOP for (int c = 0; c < 8; ++c)
    LOOP for (int k = 0; k < 5; ++k) {
      int at = i + (k - 2) * 4;
      if (at >= 0 && at < n) sum += a[c * n + at] * b[c * 5 + k];
    }
  out[i] = sum;
}

// launch: conv_transposed grid=16 block=16,16 n=64 fill=f32
KERNEL conv_transposed(const float *a, const float *b, float *out, int n) {
  int x = (blockIdx.x % 4) * 16 + threadIdx.x, y = (blockIdx.x / 4) * 16 + threadIdx.y;
  float sum = 0;
  LOOP for (int ky = 0; ky < 4; ++ky)
    LOOP for (int kx = 0; kx < 4; ++kx) {
      int ty = y + 1 - ky, tx = x + 1 - kx;
      if (ty < 0 || tx < 0 || ty % 2 || tx % 2) continue;
      int sy = ty / 2, sx = tx / 2;
      if (sy < n / 2 && sx < n / 2) sum += a[sy * (n / 2) + sx] * b[ky * 4 + kx];
    }
  out[y * n + x] = sum;
}

// launch: conv_causal grid=4 block=64 n=64 fill=f32
KERNEL conv_causal(const float *a, const float *b, float *out, int n) {
  int c = blockIdx.x, t = threadIdx.x;
  float sum = 0;
  LOOP for (int k = 0; k < 4; ++k)
    if (t - k * (c + 1) >= 0) sum += a[(t - k * (c + 1)) * 4 + c] * b[c * 4 + k];
  out[t * 4 + c] = sum / (1 + __expf(-sum));
}
