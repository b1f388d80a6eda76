// Stencils in three dimensions: of 7, 13, 19 and 27 points.
#include "../corpus/common.h"

// launch: stencil27_loops grid=16 block=16,16 n=16 fill=f32
KERNEL stencil27_loops(const float *a, const float *b, float *out, int n) {
  int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  float sum = 0;
  LOOP for (int dz = -1; dz <= 1; ++dz)
    LOOP for (int dy = -1; dy <= 1; ++dy)
      LOOP for (int dx = -1; dx <= 1; ++dx)
        sum += b[(dz + 1) * 9 + (dy + 1) * 3 + dx + 1] * a[((z + dz) * n + y + dy) * n + x + dx];
  out[(z * n + y) * n + x] = sum;
}

// launch: stencil27_classes grid=16 block=16,16 n=16 fill=f32
KERNEL stencil27_classes(const float *a, const float *b, float *out, int n) {
  int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  float sums[4] = {0, 0, 0, 0};
  LOOP for (int dz = -1; dz <= 1; ++dz)
    LOOP for (int dy = -1; dy <= 1; ++dy)
      LOOP for (int dx = -1; dx <= 1; ++dx)
        sums[abs(dx) + abs(dy) + abs(dz)] += a[((z + dz) * n + y + dy) * n + x + dx];
  out[(z * n + y) * n + x] = 0.5f * sums[0] + 0.25f * sums[1] + 0.125f * sums[2] + 0.0625f * sums[3];
}

// launch: stencil27_march grid=1 block=16,16 n=16 fill=f32
KERNEL stencil27_march(const float *a, const float *b, float *out, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  float below = 0, here = 0;
  LOOP for (int z = 0; z < n; ++z) {
    float above = 0;
    LOOP for (int dy = -1; dy <= 1; ++dy)
      LOOP for (int dx = -1; dx <= 1; ++dx) above += a[(z * n + y + dy) * n + x + dx];
    if (z >= 2) out[((z - 1) * n + y) * n + x] = (below + here + above) / 27;
    below = here;
    here = above;
  }
}

#define AT(dx, dy, dz) a[((z + dz) * n + y + dy) * n + x + dx]
// launch: stencil7 grid=16 block=16,16 n=16 fill=f32
KERNEL stencil7(const float *a, const float *b, float *out, int n) {
  int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  out[(z * n + y) * n + x] = b[0] * AT(0, 0, 0) + b[1] * (AT(-1, 0, 0) + AT(1, 0, 0) + AT(0, -1, 0) + AT(0, 1, 0) + AT(0, 0, -1) + AT(0, 0, 1));
}

// launch: stencil7_march grid=1 block=16,16 n=16 fill=f32
KERNEL stencil7_march(const float *a, const float *b, float *out, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int plane = n * n, at = y * n + x;
  float below = a[at], here = a[at + plane];
  LOOP for (int z = 1; z < n - 1; ++z) {
    at += plane;
    float above = a[at + plane];
    out[at] = 0.4f * here + 0.1f * (below + above + a[at - 1] + a[at + 1] + a[at - n] + a[at + n]);
    below = here;
    here = above;
  }
}

// launch: stencil7_periodic grid=16 block=16,16 n=16 fill=f32
KERNEL stencil7_periodic(const float *a, const float *b, float *out, int n) {
  int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  int left = (x + n - 1) % n, right = (x + 1) % n, front = (y + n - 1) % n, back = (y + 1) % n;
  int low = (z + n - 1) % n, high = (z + 1) % n;
  out[(z * n + y) * n + x] = a[(z * n + y) * n + left] + a[(z * n + y) * n + right] + a[(z * n + front) * n + x] +
                             a[(z * n + back) * n + x] + a[(low * n + y) * n + x] + a[(high * n + y) * n + x] -
                             6 * a[(z * n + y) * n + x];
}

// launch: stencil13 grid=16 block=16,16 n=16 fill=f32
KERNEL stencil13(const float *a, const float *b, float *out, int n) {
  int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  if (x < 2 || y < 2 || z < 2 || x >= n - 2 || y >= n - 2 || z >= n - 2) return;
  float sum = b[0] * AT(0, 0, 0);
  LOOP for (int r = 1; r <= 2; ++r)
    sum += b[r] * (AT(r, 0, 0) + AT(-r, 0, 0) + AT(0, r, 0) + AT(0, -r, 0) + AT(0, 0, r) + AT(0, 0, -r));
  out[(z * n + y) * n + x] = sum;
}
