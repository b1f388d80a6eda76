// Bytes and words as ciphers, checksums and decoders take them: what a loop keeps in an array that other loops fill and empty, loops that count down to
// nothing, chains of bounds.
#include "../corpus/common.h"
typedef unsigned int u32;
typedef unsigned char u8;
__device__ __forceinline__ u32 rotl(u32 x, int n) { return (x << n) | (x >> (32 - n)); }
#define QR(a, b, c, d) a += b; d ^= a; d = rotl(d, 16); c += d; b ^= c; b = rotl(b, 12); a += b; d ^= a; d = rotl(d, 8); c += d; b ^= c; b = rotl(b, 7);

// launch: chacha20 grid=2 block=64 args=a,b,out,7 fill=u32
KERNEL chacha20(const u32 *key, const u32 *in, u32 *out, u32 nonce) {
  u32 x[16], s[16];
  s[0] = 0x61707865; s[1] = 0x3320646e; s[2] = 0x79622d32; s[3] = 0x6b206574;
  LOOP for (int i = 0; i < 8; i++) s[4 + i] = key[i];
  s[12] = GID; s[13] = 0; s[14] = nonce; s[15] = 0;
  LOOP for (int i = 0; i < 16; i++) x[i] = s[i];
  LOOP for (int i = 0; i < 10; i++) {
    QR(x[0], x[4], x[8], x[12]) QR(x[1], x[5], x[9], x[13]) QR(x[2], x[6], x[10], x[14]) QR(x[3], x[7], x[11], x[15])
    QR(x[0], x[5], x[10], x[15]) QR(x[1], x[6], x[11], x[12]) QR(x[2], x[7], x[8], x[13]) QR(x[3], x[4], x[9], x[14])
  }
  LOOP for (int i = 0; i < 16; i++) out[GID * 16 + i] = in[GID * 16 + i] ^ (x[i] + s[i]);
}

// launch: crc32_bytes grid=2 block=64 args=a,b,out,50 fill=u32
KERNEL crc32_bytes(const u32 *table, const u8 *data, u32 *out, int len) {
  __shared__ u32 t[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) t[i] = table[i];
  __syncthreads();
  u32 crc = ~0u;
  const u8 *p = data + GID * len;
  LOOP while (len--) crc = (crc >> 8) ^ t[(crc ^ *p++) & 0xff];
  out[GID] = ~crc;
}

// launch: utf8_count grid=2 block=64 args=a,out,40 fill=u32
KERNEL utf8_count(const u8 *s, int *out, int len) {
  const u8 *p = s + GID * len, *end = p + len;
  int n = 0;
  LOOP while (p < end) {
    u8 c = *p;
    int l = c < 0x80 ? 1 : c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 1;
    p += l; n++;
  }
  out[GID] = n;
}

// launch: yuv_rgb grid=4 block=64 args=a,b,c,out,60 fill=u32
KERNEL yuv_rgb(const u8 *Y, const u8 *U, const u8 *V, uchar4 *rgb, int n) {
  int i = GID;
  int y = Y[i] - 16, u = U[i >> 1] - 128, v = V[i >> 1] - 128;
  int r = (298 * y + 409 * v + 128) >> 8, g = (298 * y - 100 * u - 208 * v + 128) >> 8, b = (298 * y + 516 * u + 128) >> 8;
  r = r < 0 ? 0 : r > 255 ? 255 : r; g = g < 0 ? 0 : g > 255 ? 255 : g; b = b < 0 ? 0 : b > 255 ? 255 : b;
  rgb[i] = make_uchar4(r, g, b, 255);
}
