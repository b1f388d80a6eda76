// Fields of words, and numbers whose bounds are known: pixels of 16 bits, census and Hamming codes, bits of a stream, gradients of noise, dithering, a random generator whose state goes round, sets that are joined.
#include "../corpus/common.h"

typedef unsigned char u8;
typedef unsigned u32;

// launch: blend565 grid=2 block=64 args=a,b,out,8 fill=u32
KERNEL blend565(const unsigned short *src, const unsigned short *dst, unsigned short *out, int n) {
  LOOP for (int i = 0; i < n; i++) {
    int at = GID * n + i; u32 s = src[at], d = dst[at], a = (at * 5) & 31;
    u32 r = ((s >> 11) * a + (d >> 11) * (31 - a)) / 31, g = ((s >> 5 & 63) * a + (d >> 5 & 63) * (31 - a)) / 31, b = ((s & 31) * a + (d & 31) * (31 - a)) / 31;
    out[at] = r << 11 | g << 5 | b;
  }
}

// launch: census_stereo grid=2 block=64 args=a,b,out,64 fill=u32
__device__ u32 census(const u8 *img, int x, int y, int w) {
  u8 c = img[y * w + x]; u32 bits = 0;
  LOOP for (int dy = -2; dy <= 2; dy++)
    LOOP for (int dx = -2; dx <= 2; dx++)
      if (dx || dy) bits = bits << 1 | (img[(y + dy) * w + x + dx] < c);
  return bits;
}
KERNEL census_stereo(const u8 *left, const u8 *right, u8 *out, int w) {
  int x = GID % w, y = GID / w + 2;
  if (x < 10 || x >= w - 2) return;
  u32 l = census(left, x, y, w); int best = 99, disp = 0;
  LOOP for (int d = 0; d < 8; d++) {
    int cost = __popc(l ^ census(right, x - d, y, w));
    if (cost < best) best = cost, disp = d;
  }
  out[GID] = disp;
}

// launch: hamming_codes grid=2 block=64 args=a,out,8 fill=u32
KERNEL hamming_codes(const u32 *in, u32 *out, int n) {
  LOOP for (int i = 0; i < n; i++) {
    u32 d = in[GID * n + i] & 0x7ff, w = 0;
    int k = 0;
    LOOP for (int p = 1; p < 16; p++)
      if (p & (p - 1)) w |= (d >> k++ & 1) << p;
    u32 syn = 0;
    LOOP for (int p = 1; p < 16; p++)
      if (w >> p & 1) syn ^= p;
    LOOP for (int j = 0; j < 4; j++) w |= (syn >> j & 1) << (1 << j);
    out[GID * n + i] = w | (__popc(w) & 1);
  }
}

// launch: mt_temper grid=1 block=64 args=a,out,64 fill=u32
KERNEL mt_temper(u32 *state, u32 *out, int n) {
  __shared__ u32 mt[624];
  LOOP for (int i = threadIdx.x; i < 624; i += 64) mt[i] = state[i];
  __syncthreads();
  LOOP for (int base = 0; base < 624; base += 64) {
    int i = base + threadIdx.x; u32 v = 0;
    if (i < 624) { u32 y = (mt[i] & 0x80000000) | (mt[(i + 1) % 624] & 0x7fffffff); v = mt[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0df : 0); }
    __syncthreads();
    if (i < 624) mt[i] = v;
    __syncthreads();
    if (i < 624) { v ^= v >> 11; v ^= v << 7 & 0x9d2c5680; v ^= v << 15 & 0xefc60000; v ^= v >> 18; out[i] = v; }
  }
}

// launch: exp_golomb grid=1 block=64 args=a,out,16 fill=u32
KERNEL exp_golomb(const u32 *in, int *out, int n) {
  int pos = 0, sum = 0;
  const u32 *own = in + GID * 32;
  LOOP for (int i = 0; i < n && pos < 900; i++) {
    u32 w = __funnelshift_l(own[pos / 32 + 1], own[pos / 32], pos % 32);
    int zeros = min(__clz(w | 1), 12);
    int len = 2 * zeros + 1;
    int v = (int)(w >> (32 - len)) - 1;
    sum += v & 1 ? (v + 1) / 2 : -(v / 2);
    pos += len;
  }
  out[GID] = sum * 1024 + pos;
}

// launch: perlin2d grid=2 block=64 args=b,out,4 fill=u32
__device__ float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
__device__ float grad(int h, float x, float y) { float u = h & 1 ? x : y, v = h & 2 ? y : x; return (h & 4 ? -u : u) + (h & 8 ? -2 * v : 2 * v); }
KERNEL perlin2d(const u8 *perm, float *out, int octaves) {
  float x = GID * 0.13f, y = GID * 0.07f, amp = 1, sum = 0;
  LOOP for (int o = 0; o < octaves; o++) {
    int xi = (int)floorf(x) & 255, yi = (int)floorf(y) & 255;
    float xf = x - floorf(x), yf = y - floorf(y), u = fade(xf), v = fade(yf);
    int aa = perm[perm[xi] + yi], ab = perm[perm[xi] + yi + 1], ba = perm[perm[xi + 1] + yi], bb = perm[perm[xi + 1] + yi + 1];
    float a = grad(aa, xf, yf), b = grad(ba, xf - 1, yf), c = grad(ab, xf, yf - 1), d = grad(bb, xf - 1, yf - 1);
    sum += amp * ((1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d));
    x *= 2; y *= 2; amp *= 0.5f;
  }
  out[GID] = sum;
}

// launch: dither grid=1 block=32 args=a,out,64 fill=u32
KERNEL dither(const u8 *in, u8 *out, int w) {
  int err = 0, err2 = 0;
  u32 packed = 0;
  LOOP for (int x = 0; x < w; x++) {
    int v = in[GID * w + x] + (err * 7 + err2) / 16;
    int bit = v >= 128;
    err2 = err;
    err = v - (bit ? 255 : 0);
    packed = packed << 1 | bit;
    if (x % 8 == 7) out[(GID * w + x) / 8] = packed;
  }
}

// launch: union_find grid=1 block=64 args=a,out,8 fill=iota
KERNEL union_find(const int *edges, int *parent, int n) {
  LOOP for (int i = threadIdx.x; i < 256; i += 64) parent[i] = i;
  __syncthreads();
  LOOP for (int e = 0; e < n; e++) {
    int u = edges[GID * n + e] * 7 % 256, v = edges[GID * n + e] * 13 % 256;
    LOOP for (;;) {
      LOOP while (parent[u] != u) u = parent[u];
      LOOP while (parent[v] != v) v = parent[v];
      if (u == v) break;
      int hi = max(u, v), lo = min(u, v);
      if (atomicCAS(&parent[hi], hi, lo) == hi) break;
    }
  }
  __syncthreads();
  LOOP for (int i = threadIdx.x; i < 256; i += 64) {
    int r = i;
    LOOP while (parent[r] != r) r = parent[r];
    parent[1024 + i] = r;
  }
}

