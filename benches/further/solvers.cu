// Kernels with the parameters that programs have: strides and bounds as numbers, several outputs, doubles.
#include "../corpus/common.h"

// launch: rows_times grid=1 block=64 args=48,64,a,b,out fill=f32
KERNEL rows_times(int rows, int columns, const float *matrix, const float *vector, float *result) {
  int row = GID;
  if (row >= rows) return;
  result[row] = 0;
  LOOP for (int k = 0; k < columns; ++k) result[row] += matrix[row * columns + k] * vector[k];
}

// launch: columns_times grid=1 block=64 args=48,64,0.5,a,b,out fill=f32
KERNEL columns_times(int rows, int columns, float scale, float *matrix, float *vector, float *result) {
  int column = GID;
  if (column >= columns) return;
  result[column] *= scale;
  LOOP for (int k = 0; k < rows; ++k) result[column] += vector[k] * matrix[k * columns + column];
}

// launch: orthogonalise grid=1 block=64 args=30,32,5,a,out,b fill=f32
KERNEL orthogonalise(int rows, int columns, int pivot, const float *in, float *out, const float *basis) {
  int column = GID;
  if (column <= pivot || column >= columns) return;
  float *product = out + pivot * columns + column;
  *product = 0;
  LOOP for (int k = 0; k < rows; ++k) *product += basis[k * columns + pivot] * in[k * columns + column];
  float *rest = out + columns * columns + column;
  LOOP for (int k = 0; k < rows; ++k) rest[k * columns] = in[k * columns + column] - basis[k * columns + pivot] * *product;
}

// launch: sweep_down grid=1 block=64 args=50,a,b,out fill=f32
KERNEL sweep_down(int n, const float *diagonal, const float *right, float *x) {
  int column = GID;
  if (column >= n) return;
  x[column] = right[column];
  LOOP for (int row = 1; row < n; ++row)
    x[row * n + column] = right[row * n + column] - 0.5f * diagonal[row * n + column] * x[(row - 1) * n + column];
}

// launch: running_sum grid=2 block=64 args=a,out,40l fill=u32
KERNEL running_sum(const unsigned *in, unsigned *out, long n) {
  in += GID * n;
  out += GID * n;
  out[0] = in[0];
  LOOP for (int k = 1; k < n; ++k) out[k] = out[k - 1] + in[k];
}

// launch: tree_by_remainder grid=4 block=64 args=a,out fill=f32
KERNEL tree_by_remainder(const float *in, float *sums) {
  __shared__ float part[64];
  int thread = threadIdx.x;
  part[thread] = in[GID];
  __syncthreads();
  LOOP for (int half = 1; half < blockDim.x; half *= 2) {
    if (thread % (2 * half) == 0) part[thread] += part[thread + half];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = part[0];
}

// launch: rows_of_batches grid=4 block=64 args=a,b,out,6,40,250l fill=f32
KERNEL rows_of_batches(const float *in, const float *bias, float *out, int rows, int width, long all) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i >= all) return;
  int column = i % width, row = i / width % rows, batch = i / width / rows;
  out[(batch * rows + row) * width + column] = in[i] + bias[row * width + column];
}

// launch: first_above grid=2 block=64 args=a,b,out,100,1.5 fill=f32
KERNEL first_above(const float *sums, const float *values, int *places, int n, float scale) {
  int place = -1;
  LOOP for (int k = 0; k < n; ++k)
    if (sums[k] >= values[GID] * scale) {
      place = k;
      break;
    }
  places[GID] = place < 0 ? n - 1 : place;
}

// launch: shrinking_window grid=2 block=64 args=6,a,b,out,3 fill=u32
KERNEL shrinking_window(int rounds, const int *costs, const int *first, int *out, int border) {
  __shared__ int now[64], next[64];
  int at = threadIdx.x, left = max(at - 1, 0), right = min(at + 1, 63);
  bool inside = at >= border && at < 64 - border, taken = false;
  now[at] = first[GID] & 255;
  __syncthreads();
  LOOP for (int k = 0; k < rounds; ++k) {
    taken = false;
    if (inside && at > k && at < 63 - k) {
      taken = true;
      next[at] = min(now[at], min(now[left], now[right])) + (costs[k * 64 + at] & 255);
    }
    __syncthreads();
    if (k == rounds - 1) break;
    if (taken) now[at] = next[at];
    __syncthreads();
  }
  if (taken) out[GID] = next[at];
}
