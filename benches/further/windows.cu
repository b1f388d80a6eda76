// Maxima and minima of sliding windows.
#include "../corpus/common.h"

// launch: window_maximum grid=16 block=128 n=9 fill=f32
KERNEL window_maximum(const float *a, const float *b, float *out, int n) {
  int i = GID;
  float most = a[i];
  LOOP for (int k = 1; k < n; ++k) most = fmaxf(most, a[i + k]);
  out[i] = most;
}

// launch: window_clamped grid=16 block=128 n=2048 fill=f32
KERNEL window_clamped(const float *a, const float *b, float *out, int n) {
  int i = GID;
  float most = -1e30f;
  LOOP for (int d = -4; d <= 4; ++d) {
    int at = min(max(i + d, 0), n - 1);
    most = fmaxf(most, a[at]);
  }
  out[i] = most;
}

// launch: window_inside grid=16 block=128 n=2048 fill=u32
KERNEL window_inside(const int *a, const int *b, int *out, int n) {
  int i = GID, least = 0x7fffffff, most = -0x7fffffff;
  LOOP for (int d = -3; d <= 3; ++d) {
    int at = i + d;
    if (at >= 0 && at < n) {
      least = min(least, a[at]);
      most = max(most, a[at]);
    }
  }
  out[i] = most ^ least;
}

// launch: window_shared grid=16 block=128 n=2048 fill=f32
KERNEL window_shared(const float *a, const float *b, float *out, int n) {
  __shared__ float line[144];
  int i = GID, t = threadIdx.x;
  line[t + 8] = a[i];
  if (t < 8) {
    line[t] = i >= 8 ? a[i - 8] : -1e30f;
    line[t + 136] = i + 128 < n ? a[i + 128] : -1e30f;
  }
  __syncthreads();
  float most = line[t], least = line[t];
  LOOP for (int k = 1; k <= 16; ++k) {
    most = fmaxf(most, line[t + k]);
    least = fminf(least, line[t + k]);
  }
  out[i] = most - least;
}

// launch: window_square grid=16 block=16,16 n=64 fill=f32
KERNEL window_square(const float *a, const float *b, float *out, int n) {
  int x = (blockIdx.x % 4) * 16 + threadIdx.x, y = (blockIdx.x / 4) * 16 + threadIdx.y;
  float most = -1e30f;
  LOOP for (int dy = -1; dy <= 1; ++dy)
    LOOP for (int dx = -1; dx <= 1; ++dx) {
      int sx = x + dx, sy = y + dy;
      if (sx >= 0 && sx < n && sy >= 0 && sy < n) most = fmaxf(most, a[sy * n + sx]);
    }
  out[y * n + x] = most;
}

// launch: window_pool grid=4 block=16,16 n=64 fill=f32
KERNEL window_pool(const float *a, const float *b, float *out, int n) {
  int x = (blockIdx.x % 2) * 16 + threadIdx.x, y = (blockIdx.x / 2) * 16 + threadIdx.y, best = 0;
  float most = -1e30f;
  LOOP for (int dy = 0; dy < 3; ++dy)
    LOOP for (int dx = 0; dx < 3; ++dx) {
      int sx = 2 * x + dx, sy = 2 * y + dy;
      if (sx < n && sy < n) {
        float v = a[sy * n + sx];
        if (v > most) { most = v; best = dy * 3 + dx; }
      }
    }
  out[y * 32 + x] = most + best;
}

// launch: window_queue grid=4 block=64 n=32 fill=u32
KERNEL window_queue(const int *a, const int *b, int *out, int n) {
  int i = GID, most = -0x7fffffff, at = -1;
  const int *row = a + i * n;
  LOOP for (int k = 0; k < n; ++k) {
    if (at < k - 5) {
      most = -0x7fffffff;
      LOOP for (int m = max(k - 5, 0); m < k; ++m)
        if (row[m] >= most) { most = row[m]; at = m; }
    }
    if (row[k] >= most) { most = row[k]; at = k; }
    out[i * n + k] = most;
  }
}
