// Sums and checks written in straight lines.
#include "../corpus/common.h"

// launch: sums_taps grid=8 block=128 n=1024 fill=u32
KERNEL sums_taps(const int *a, const int *b, int *out, int n) {
  int i = GID + 4;
  out[i] = a[i - 4] + 2 * a[i - 3] + 3 * a[i - 2] + 4 * a[i - 1] + 5 * a[i] + 4 * a[i + 1] + 3 * a[i + 2] + 2 * a[i + 3] + a[i + 4];
}

// launch: sums_planes grid=8 block=128 n=1024 fill=f32
KERNEL sums_planes(const float *a, const float *b, float *out, int n) {
  int i = GID;
  float sum = a[i] + a[i + n] + a[i + 2 * n] + a[i + 3 * n] + a[i + 4 * n] + a[i + 5 * n];
  out[i] = sum / 6;
  out[i + n] = a[i] - sum / 6;
}

// launch: sums_index grid=8 block=128 n=33 fill=u32
KERNEL sums_index(const int *a, const int *b, int *out, int n) {
  int i = GID, x = i % n, y = i / n;
  int left = x - 1 + y * n, right = x + 1 + y * n, up = x + (y - 1) * n, down = x + (y + 1) * n;
  out[i] = a[left + n + 1] + a[right + n + 1] + a[up + n + 1] + a[down + n + 1] - 4 * a[x + y * n + n + 1];
}

// launch: sums_moment grid=8 block=128 n=8 fill=f32
KERNEL sums_moment(const float *a, const float *b, float *out, int n) {
  int i = GID;
  float x0 = a[8 * i], x1 = a[8 * i + 1], x2 = a[8 * i + 2], x3 = a[8 * i + 3];
  float x4 = a[8 * i + 4], x5 = a[8 * i + 5], x6 = a[8 * i + 6], x7 = a[8 * i + 7];
  float mean = (x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7) / n;
  float square = x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3 + x4 * x4 + x5 * x5 + x6 * x6 + x7 * x7;
  out[i] = square / n - mean * mean;
}

// launch: sums_checks grid=8 block=128 n=1024 fill=u32
KERNEL sums_checks(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int i = GID;
  unsigned x = a[i] % 40, y = b[i] % 100, bits = 0;
  if (x == 3 || x == 5 || x == 9 || x == 17 || x == 31) bits |= 1;
  if (y == 32 || y == 9 || y == 10 || y == 13) bits |= 2;
  if (x >= 10 && x <= 20) bits |= 4;
  if (y < 48 || y > 57) bits |= 8;
  out[i] = bits;
}

// launch: sums_cross grid=8 block=64 n=1024 fill=f32
KERNEL sums_cross(const float *a, const float *b, float *out, int n) {
  int i = 3 * GID;
  float ax = a[i], ay = a[i + 1], az = a[i + 2], bx = b[i], by = b[i + 1], bz = b[i + 2];
  float cx = ay * bz - az * by, cy = az * bx - ax * bz, cz = ax * by - ay * bx;
  float length = sqrtf(cx * cx + cy * cy + cz * cz);
  out[i] = cx / length;
  out[i + 1] = cy / length;
  out[i + 2] = cz / length;
}
