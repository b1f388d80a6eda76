// Linear algebra: products of matrices in several shapes and types, norms, solvers.
#include "../corpus/common.h"
#include <stdint.h>

// launch: gemm_alpha grid=8 block=16,16 n=48 fill=f32
KERNEL gemm_alpha(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, unsigned int n) {
  const unsigned int row = blockIdx.x * 2 + threadIdx.y / 8;
  const unsigned int col = (threadIdx.y % 8) * 16 + threadIdx.x;
  if (row >= n || col >= n) return;
  float acc = 0.f;
  LOOP for (unsigned int k = 0; k < n; k++) acc += A[row * n + k] * B[k * n + col];
  C[row * n + col] = 1.5f * acc + 0.5f * C[row * n + col];
}

template <int TILE, typename T> struct SharedTile {
  T data[TILE][TILE + 1];
  __device__ T &at(int r, int c) { return data[r][c]; }
};

// launch: gemm_rect grid=4 block=16,16 n=64 fill=f32
KERNEL gemm_rect(const float *A, const float *B, float *C, int n) {
  constexpr int TILE = 16;
  __shared__ SharedTile<TILE, float> As, Bs;
  int tx = threadIdx.x, ty = threadIdx.y;
  int M = 50, N = 60, K = n;
  int row = blockIdx.x * TILE + ty;
  LOOP for (int bx = 0; bx < (N + TILE - 1) / TILE; ++bx) {
    int col = bx * TILE + tx;
    float value = 0;
    LOOP for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
      As.at(ty, tx) = (row < M && t * TILE + tx < K) ? A[row * K + t * TILE + tx] : 0.0f;
      Bs.at(ty, tx) = (col < N && t * TILE + ty < K) ? B[(t * TILE + ty) * N + col] : 0.0f;
      __syncthreads();
      LOOP for (int k = 0; k < TILE; ++k) value += As.at(ty, k) * Bs.at(k, tx);
      __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = value;
  }
}

// launch: gemm_blocked grid=2 block=64 n=64 fill=f32
template <int BM, int BN, int BK, int TM, int TN>
__device__ __forceinline__ void sgemm(int N, int K, const float *A, const float *B, float *C) {
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const uint threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  const uint innerRowA = threadIdx.x / BK, innerColA = threadIdx.x % BK;
  const uint innerRowB = threadIdx.x / BN, innerColB = threadIdx.x % BN;
  A += blockIdx.x * BM * K;
  C += blockIdx.x * BM * N;
  float results[TM * TN] = {0.0};
  float regM[TM] = {0.0}, regN[TN] = {0.0};
  LOOP for (uint bk = 0; bk < K; bk += BK) {
    LOOP for (uint o = 0; o < BM; o += 64 / BK) As[(innerRowA + o) * BK + innerColA] = A[(innerRowA + o) * K + innerColA];
    LOOP for (uint o = 0; o < BK; o += 64 / BN) Bs[(innerRowB + o) * BN + innerColB] = B[(innerRowB + o) * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    LOOP for (uint dot = 0; dot < BK; ++dot) {
#pragma unroll
      for (uint i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dot];
#pragma unroll
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[dot * BN + threadCol * TN + i];
#pragma unroll
      for (uint m = 0; m < TM; ++m)
#pragma unroll
        for (uint j = 0; j < TN; ++j) results[m * TN + j] += regM[m] * regN[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (uint m = 0; m < TM; ++m)
#pragma unroll
    for (uint j = 0; j < TN; ++j) C[(threadRow * TM + m) * N + threadCol * TN + j] = results[m * TN + j];
}
KERNEL gemm_blocked(const float *a, const float *b, float *out, int n) { sgemm<32, 32, 8, 4, 4>(32, n, a, b, out); }

// launch: gemv_warp grid=8 block=32,4 n=96 fill=f32
KERNEL gemv_warp(const float *__restrict__ mat, const float *__restrict__ vec, float *__restrict__ dst, int ncols) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  const float *r = mat + (size_t)row * ncols;
  LOOP for (int c = threadIdx.x; c < ncols; c += warpSize) sum = fmaf(__ldg(r + c), __ldg(vec + c), sum);
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) dst[row] = sum;
}

// launch: transpose_pad grid=16 block=32,8 n=128 fill=f32
#define TILE_DIM 32
#define BLOCK_ROWS 8
KERNEL transpose_pad(const float *idata, const float *unused, float *odata, int width) {
  __shared__ float tile[TILE_DIM][TILE_DIM + 1];
  int bx = blockIdx.x % 4, by = blockIdx.x / 4;
  int x = bx * TILE_DIM + threadIdx.x;
  int y = by * TILE_DIM + threadIdx.y;
  LOOP for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  x = by * TILE_DIM + threadIdx.x;
  y = bx * TILE_DIM + threadIdx.y;
  LOOP for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) odata[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

// launch: axpy_double grid=4 block=64 n=2000 fill=u32
KERNEL axpy_double(const double *__restrict__ x, const double *__restrict__ y, double *__restrict__ z, int count) {
  const size_t n = count;
  const size_t stride = (size_t)blockDim.x * gridDim.x;
  LOOP for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) z[i] = 2.0 * x[i] + y[i];
}

template <typename T, int N> class Matrix {
  T e[N][N];

public:
  __device__ static Matrix identity() {
    Matrix m;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) m.e[i][j] = i == j ? T(1) : T(0);
    return m;
  }
  __device__ void load(const T *p) {
    for (int i = 0; i < N * N; ++i) e[i / N][i % N] = p[i];
  }
  __device__ Matrix operator*(const Matrix &o) const {
    Matrix r;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        T s = 0;
        for (int k = 0; k < N; ++k) s += e[i][k] * o.e[k][j];
        r.e[i][j] = s;
      }
    return r;
  }
  __device__ T trace() const {
    T s = 0;
    for (int i = 0; i < N; ++i) s += e[i][i];
    return s;
  }
};

// launch: matrix_power grid=2 block=64 n=6 fill=f32
KERNEL matrix_power(const float *a, const float *b, float *out, int n) {
  Matrix<float, 3> base, result = Matrix<float, 3>::identity();
  base.load(a + 9 * GID);
  LOOP while (n) {
    if (n & 1) result = result * base;
    base = base * base;
    n >>= 1;
  }
  out[GID] = result.trace();
}

// launch: cholesky_small grid=2 block=32 n=4 fill=f32
KERNEL cholesky_small(const float *a, const float *b, float *out, int n) {
  float L[4][4];
  const float *src = a + GID * 16;
  LOOP for (int i = 0; i < 4; i++) LOOP for (int j = 0; j <= i; j++) {
    float s = i == j ? 4.0f + src[i * 4 + j] : src[i * 4 + j];
    LOOP for (int k = 0; k < j; k++) s -= L[i][k] * L[j][k];
    L[i][j] = i == j ? sqrtf(s) : s / L[j][j];
  }
  LOOP for (int i = 0; i < 4; i++) LOOP for (int j = 0; j <= i; j++) out[GID * 16 + i * n + j] = L[i][j];
}

// launch: jacobi_solve grid=2 block=64 n=64 fill=f32
KERNEL jacobi_solve(const float *A, const float *rhs, float *x, int n) {
  __shared__ float cur[64];
  int i = threadIdx.x;
  cur[i] = 0.0f;
  __syncthreads();
  LOOP for (int it = 0; it < 3; ++it) {
    float sigma = 0.0f;
    LOOP for (int j = 0; j < n; ++j)
      if (j != i) sigma += A[i * n + j] * cur[j];
    __syncthreads();
    cur[i] = (rhs[i] - sigma) / (A[i * n + i] + 8.0f);
    __syncthreads();
  }
  x[GID] = cur[i];
}
