// Integers: hashes, sorting, searching, graphs, sparse matrices.
#include "common.h"

// launch: sha_like grid=2 block=64 n=16 fill=u32
KERNEL sha_like(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  unsigned w[16], s[8];
  for (int i = 0; i < 16; ++i) w[i] = a[GID * 16 + i];
  for (int i = 0; i < 8; ++i) s[i] = b[i];
  LOOP for (int r = 0; r < 64; r += 16) {
    for (int i = 0; i < 16; ++i) {
      unsigned e = s[4], x = s[0];
      unsigned t = s[7] + ((e >> 6 | e << 26) ^ (e >> 11 | e << 21) ^ (e >> 25 | e << 7)) + ((e & s[5]) ^ (~e & s[6])) + w[i] + b[r + i];
      unsigned u = ((x >> 2 | x << 30) ^ (x >> 13 | x << 19) ^ (x >> 22 | x << 10)) + ((x & s[1]) ^ (x & s[2]) ^ (s[1] & s[2]));
      s[7] = s[6]; s[6] = s[5]; s[5] = e; s[4] = s[3] + t; s[3] = s[2]; s[2] = s[1]; s[1] = x; s[0] = t + u;
    }
    for (int i = 0; i < 16; ++i) {
      unsigned p = w[(i + 1) & 15], q = w[(i + 14) & 15];
      w[i] += w[(i + 9) & 15] + ((p >> 7 | p << 25) ^ (p >> 18 | p << 14) ^ p >> 3) + ((q >> 17 | q << 15) ^ (q >> 19 | q << 13) ^ q >> 10);
    }
  }
  for (int i = 0; i < 8; ++i) out[GID * 8 + i] = s[i] + b[i];
}

// launch: xorshift grid=4 block=128 n=64 fill=u32
KERNEL xorshift(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  unsigned long long x = a[GID] | (unsigned long long)b[GID] << 32 | 1;
  unsigned sum = 0;
  LOOP for (int i = 0; i < n; ++i) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    sum += (unsigned)(x >> 32) % 1000;
  }
  out[GID] = sum;
}

// launch: bitonic grid=2 block=256 n=256 fill=u32
KERNEL bitonic(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  __shared__ unsigned tile[256];
  unsigned t = threadIdx.x;
  tile[t] = a[GID];
  __syncthreads();
  LOOP for (unsigned k = 2; k <= 256; k *= 2)
    LOOP for (unsigned j = k / 2; j > 0; j /= 2) {
      unsigned p = t ^ j;
      if (p > t) {
        bool up = (t & k) == 0;
        unsigned x = tile[t], y = tile[p];
        if ((x > y) == up) { tile[t] = y; tile[p] = x; }
      }
      __syncthreads();
    }
  out[GID] = tile[t];
}

// launch: binary_search grid=4 block=128 n=4096 fill=iota
KERNEL binary_search(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  unsigned key = (GID * 2654435761u) >> 20;
  int low = 0, high = n;
  LOOP while (low < high) {
    int middle = (low + high) / 2;
    if (a[middle] < key) low = middle + 1; else high = middle;
  }
  out[GID] = low;
}

// launch: spmv grid=4 block=128 n=512 fill=f32
KERNEL spmv(const float *a, const float *b, float *out, int n) {
  unsigned row = GID;
  if (row >= n) return;
  unsigned begin = row * 7, end = begin + 3 + (row & 7);
  float sum = 0;
  LOOP for (unsigned k = begin; k < end; ++k) sum += a[k] * b[(k * 40503u >> 3) % n];
  out[row] = sum;
}

// launch: bfs grid=8 block=128 n=1024 fill=u32
KERNEL bfs(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int v = GID;
  if (v >= n || (b[v] & 3) != 1) return;
  LOOP for (int e = 0; e < 8; ++e) {
    unsigned to = a[v * 8 + e] % n;
    if ((b[to] & 3) == 0) atomicMin(&out[to], 0u); else atomicAdd(&out[to], 1u);
  }
}

// launch: collatz grid=2 block=128 n=0 fill=u32
KERNEL collatz(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  unsigned x = GID + 1, steps = 0;
  LOOP while (x != 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    ++steps;
  }
  out[GID] = steps;
}

// launch: dp4_like grid=4 block=128 n=16 fill=u32
KERNEL dp4_like(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  const signed char *x = (const signed char *)a + GID * 16;
  const signed char *y = (const signed char *)b;
  int sum = 0;
  LOOP for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  out[GID] = sum;
}

// launch: vm grid=2 block=64 n=64 fill=u32
KERNEL vm(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  unsigned stack[8], sp = 0, acc = GID;
  LOOP for (int pc = 0; pc < n; ++pc) {
    unsigned op = a[pc];
    switch (op % 6) {
    case 0: acc += op; break;
    case 1: stack[sp++ & 7] = acc; break;
    case 2: if (sp) acc ^= stack[--sp & 7]; break;
    case 3: acc = acc * 5 + 1; break;
    case 4: acc = acc >> 3 | acc << 29; break;
    default: acc -= b[op & 255];
    }
  }
  out[GID] = acc;
}

// launch: edit grid=2 block=64 n=24 fill=u32
KERNEL edit(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int row[25];
  for (int j = 0; j <= 24; ++j) row[j] = j;
  LOOP for (int i = 0; i < n; ++i) {
    int corner = row[0], left = i + 1;
    row[0] = left;
    for (int j = 1; j <= 24; ++j) {
      int cost = corner + ((a[GID + i] & 3) != (b[j] & 3));
      corner = row[j];
      left = min(min(left, corner) + 1, cost);
      row[j] = left;
    }
  }
  out[GID] = row[24];
}
