// Numbers of 128 bits: products modulo a number, decimal digits, money, hashes, sums of products, sorting, the greatest common divisor, shifts.
#include "../corpus/common.h"
typedef unsigned __int128 u128;
typedef __int128 i128;
typedef unsigned long long u64;

// launch: mulmod_any grid=2 block=64 args=a,b,c,out,10 fill=u32
KERNEL mulmod_any(const u64 *a, const u64 *b, const u64 *c, u64 *out, int n) {
  u64 sum = 1, m = c[GID] | 1;
  LOOP for (int k = 0; k < n; k++) sum = (u64)((u128)sum * (a[GID * n + k] ^ b[k]) % m);
  out[GID] = sum;
}

// launch: decimal_digits grid=2 block=32 args=a,out,39 fill=u32
KERNEL decimal_digits(const u128 *a, unsigned char *out, int width) {
  u128 x = a[GID];
  LOOP for (int k = width - 1; k >= 0; k--) {
    out[GID * width + k] = '0' + (int)(x % 10);
    x /= 10;
  }
}

// launch: scaled_money grid=2 block=64 args=a,b,out,8 fill=u32
KERNEL scaled_money(const long long *price, const int *amount, i128 *out, int n) {
  i128 sum = 0;
  LOOP for (int k = 0; k < n; k++) {
    i128 v = (i128)price[GID * n + k] * amount[k];
    sum += v / 100;
  }
  out[GID] = sum;
}

// launch: fnv128 grid=2 block=32 args=a,out,20 fill=u32
KERNEL fnv128(const unsigned char *text, u128 *out, int n) {
  u128 h = (u128)0x6c62272e07bb0142ull << 64 | 0x62b821756295c58dull;
  const u128 p = (u128)1 << 88 | 0x13b;
  LOOP for (int k = 0; k < n; k++) h = (h ^ text[GID * n + k]) * p;
  out[GID] = h;
}

// launch: dot128 grid=2 block=64 args=a,b,out,12 fill=u32
KERNEL dot128(const long long *a, const long long *b, i128 *out, int n) {
  i128 sum = 0;
  LOOP for (int k = 0; k < n; k++) sum += (i128)a[GID * n + k] * b[k];
  out[GID] = sum;
}

// launch: sort128 grid=1 block=32 args=a,out,8 fill=u32
KERNEL sort128(const u128 *in, u128 *out, int n) {
  LOOP for (int i = 0; i < n; i++) {
    u128 x = in[GID * n + i];
    int rank = 0;
    LOOP for (int j = 0; j < n; j++) {
      u128 y = in[GID * n + j];
      rank += y < x || (y == x && j < i);
    }
    out[GID * n + rank] = x;
  }
}

// launch: gcd128 grid=1 block=32 args=a,out,0 fill=u32
KERNEL gcd128(const u128 *a, u128 *out, int n) {
  u128 x = a[2 * GID] >> 40, y = a[2 * GID + 1] >> 50;
  LOOP while (y != 0) { u128 t = x % y; x = y; y = t; }
  out[GID] = x;
}

// launch: shifts128 grid=2 block=64 args=a,b,out,10 fill=u32
KERNEL shifts128(const u128 *a, const int *by, u128 *out, int n) {
  u128 s = a[GID];
  LOOP for (int k = 0; k < n; k++) {
    int d = by[k] & 127;
    s = (s << d | s >> (127 - d)) + k;
  }
  out[GID] = s;
}

// launch: mean128 grid=2 block=64 args=a,out,9 fill=u32
KERNEL mean128(const long long *a, long long *out, int n) {
  i128 sum = 0;
  LOOP for (int k = 0; k < n; k++) sum += a[GID * n + k];
  out[GID] = (long long)(sum / n);
}

// launch: montgomery128 grid=2 block=64 args=a,b,out,12 fill=u32
KERNEL montgomery128(const u64 *a, const u64 *b, u64 *out, int n) {
  u64 m = b[0] | 1, inv = m;
  LOOP for (int k = 0; k < 5; k++) inv *= 2 - m * inv;
  u64 x = a[GID] % m;
  LOOP for (int k = 0; k < n; k++) {
    u128 t = (u128)x * b[k];
    u64 q = (u64)t * -inv;
    u128 r = (t + (u128)q * m) >> 64;
    x = r >= m ? (u64)(r - m) : (u64)r;
  }
  out[GID] = x;
}
