// Bytes that pointers walk over, tables of constants that a kernel declares inside, and elements beside each other that threads add to.
#include "../corpus/common.h"
#include <stdint.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// launch: adler32 grid=2 block=64 args=a,out,120 fill=u32
KERNEL adler32(const u8 *data, u32 *out, int len) {
  const u8 *p = data + GID * 128;
  u32 a = 1, b = 0;
  LOOP while (len > 0) {
    int n = len > 32 ? 32 : len;
    len -= n;
    LOOP do { a += *p++; b += a; } while (--n);
    a %= 65521; b %= 65521;
  }
  out[GID] = b << 16 | a;
}

// launch: varint_sum grid=2 block=64 args=a,out,40 fill=u32
KERNEL varint_sum(const u8 *in, u64 *out, int n) {
  const u8 *p = in + GID * 128;
  u64 sum = 0, prev = 0;
  LOOP for (int i = 0; i < n; i++) {
    u64 v = 0; int shift = 0; u8 b;
    LOOP do { b = *p++; v |= (u64)(b & 0x7f) << shift; shift += 7; } while (b & 0x80 && shift < 21);
    prev += (v >> 1) ^ -(v & 1);
    sum ^= prev;
  }
  out[GID] = sum;
}

// launch: rle_decode grid=1 block=64 args=a,out,20 fill=u32
KERNEL rle_decode(const u8 *in, u8 *out, int pairs) {
  const u8 *p = in + GID * 64; u8 *o = out + GID * 512;
  int n = 0;
  LOOP for (int i = 0; i < pairs; i++) {
    u8 value = p[2 * i], count = p[2 * i + 1] & 15;
    LOOP for (int j = 0; j < count; j++) o[n++] = value;
  }
  out[GID * 512 + 511] = (u8)n;
}

// launch: idct_block grid=2 block=8,8 args=a,b,out fill=u32
KERNEL idct_block(const short *coef, const short *quant, u8 *out) {
  __shared__ int t[8][9];
  int x = threadIdx.x, y = threadIdx.y;
  const int C[8] = {64, 89, 83, 75, 64, 50, 36, 18};
  t[y][x] = (coef[blockIdx.x * 64 + y * 8 + x] >> 8) * (quant[y * 8 + x] & 15);
  __syncthreads();
  int s = 0;
  LOOP for (int u = 0; u < 8; u++) { int k = (2 * x + 1) * u & 31; int sg = k > 8 && k < 24 ? -1 : 1; s += t[y][u] * C[u] * sg; }
  __syncthreads();
  t[y][x] = (s + 64) >> 7;
  __syncthreads();
  s = 0;
  LOOP for (int u = 0; u < 8; u++) { int k = (2 * y + 1) * u & 31; int sg = k > 8 && k < 24 ? -1 : 1; s += t[u][x] * C[u] * sg; }
  s = ((s + 2048) >> 12) + 128;
  out[blockIdx.x * 64 + y * 8 + x] = s < 0 ? 0 : s > 255 ? 255 : s;
}

// launch: pic_deposit grid=2 block=64 args=a,b,out,32,32 fill=f32
KERNEL pic_deposit(const float *px, const float *py, float *rho, int nx, int ny) {
  float x = (px[GID] + 1.0f) * 0.5f * (nx - 2), y = (py[GID] + 1.0f) * 0.5f * (ny - 2);
  int ix = (int)x, iy = (int)y;
  float fx = x - ix, fy = y - iy;
  atomicAdd(&rho[iy * nx + ix], (1 - fx) * (1 - fy));
  atomicAdd(&rho[iy * nx + ix + 1], fx * (1 - fy));
  atomicAdd(&rho[(iy + 1) * nx + ix], (1 - fx) * fy);
  atomicAdd(&rho[(iy + 1) * nx + ix + 1], fx * fy);
}

// launch: sparse24 grid=2 block=32 args=a,b,c,out,32 fill=u32
KERNEL sparse24(const int8_t *vals, const u32 *meta, const int8_t *x, int *y, int K) {
  int s = 0;
  LOOP for (int g = 0; g < K / 4; g++) {
    u32 m = meta[GID * 2 + g / 8] >> (g % 8 * 4);
    s += vals[GID * K / 2 + g * 2] * x[g * 4 + (m & 3)] + vals[GID * K / 2 + g * 2 + 1] * x[g * 4 + (m >> 2 & 3)];
  }
  y[GID] = s;
}
