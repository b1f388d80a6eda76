// Loops that end on a flag, and loops that are left in several places.
#include "../corpus/common.h"

// launch: flag_collatz grid=8 block=128 n=1024 fill=u32
KERNEL flag_collatz(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int i = GID;
  unsigned x = a[i] & 0xffff, steps = 0;
  bool done = x <= 1;
  LOOP while (!done) {
    x = x & 1 ? 3 * x + 1 : x >> 1;
    ++steps;
    done = x <= 1 || steps >= 200;
  }
  out[i] = steps;
}

// launch: flag_newton grid=8 block=128 n=1024 fill=f32
KERNEL flag_newton(const float *a, const float *b, float *out, int n) {
  int i = GID, rounds = 0;
  float c = fabsf(a[i]) + 1, x = c;
  bool converged = false;
  LOOP while (!converged && rounds < 30) {
    float next = 0.5f * (x + c / x);
    if (fabsf(next - x) < 1e-5f * x) converged = true;
    x = next;
    ++rounds;
  }
  out[i] = x + rounds;
}

// launch: flag_find grid=8 block=128 n=64 fill=u32
KERNEL flag_find(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int i = GID, at = -1;
  bool found = false;
  unsigned key = b[i] & 31;
  LOOP for (int k = 0; k < n && !found; ++k)
    if ((a[i * 4 + k] & 31) == key) {
      found = true;
      at = k;
    }
  out[i] = found ? at : n;
}

// launch: flag_sorted grid=4 block=64 n=32 fill=u32
KERNEL flag_sorted(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int i = GID;
  unsigned *own = out + i * n;
  LOOP for (int k = 0; k < n; ++k) own[k] = a[i * n + k];
  bool swapped = true;
  int end = n;
  LOOP while (swapped) {
    swapped = false;
    --end;
    LOOP for (int k = 0; k < end; ++k)
      if (own[k] > own[k + 1]) {
        unsigned held = own[k];
        own[k] = own[k + 1];
        own[k + 1] = held;
        swapped = true;
      }
  }
}

// launch: left_bracket grid=8 block=128 n=64 fill=u32
KERNEL left_bracket(const unsigned char *a, const unsigned *b, unsigned *out, int n) {
  int i = GID, depth = 0, k = 0;
  const unsigned char *text = a + i * 16;
  LOOP for (; k < n; ++k) {
    unsigned char c = text[k] & 7;
    if (c == 0) ++depth;
    if (c == 1 && --depth < 0) break;
    if (c == 2 && depth > 3) break;
  }
  out[i] = depth * 256 + k;
}

// launch: left_compare grid=8 block=128 n=24 fill=u32
KERNEL left_compare(const unsigned char *a, const unsigned char *b, int *out, int n) {
  int i = GID, result = 0;
  LOOP for (int k = 0; k < n; ++k) {
    int x = a[i * 8 + k] & 3, y = b[i * 8 + k] & 3;
    if (x != y && k > 2) {
      result = x - y;
      break;
    }
    if (x == 0 && y == 0) {
      result = 100 + k;
      break;
    }
  }
  out[i] = result;
}

// launch: left_budget grid=8 block=128 n=48 fill=f32
KERNEL left_budget(const float *a, const float *b, float *out, int n) {
  int i = GID;
  float sum = 0, most = 0;
  LOOP for (int k = 0; k < n; ++k) {
    float v = a[i + k * 64];
    if (v != v) { sum = -1; break; }
    sum += v;
    if (sum > 40) break;
    most = fmaxf(most, v * b[k]);
    if (most > 90) { sum = -sum; break; }
  }
  out[i] = sum + most;
}

// launch: left_probe grid=8 block=128 n=256 fill=u32
KERNEL left_probe(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int i = GID;
  unsigned key = b[i] & 1023, slot = key * 2654435761u >> 24, found = ~0u;
  LOOP for (int tries = 0; tries < 32; ++tries) {
    unsigned at = (slot + tries) & (n - 1), entry = a[at] & 2047;
    if (entry == key) { found = at; break; }
    if (entry > 1900) break;
  }
  out[i] = found;
}

// launch: classes grid=8 block=128 n=40 fill=u32
KERNEL classes(const unsigned char *a, const unsigned *b, unsigned *out, int n) {
  int i = GID;
  unsigned count = 0, other = 0;
  LOOP for (int k = 0; k < n; ++k) {
    unsigned c = a[i * 8 + k] & 63;
    if (c == 9 || c == 10 || c == 13 || c == 32) ++count;
    if (c == 3 || c == 5 || c == 9 || c == 17 || c == 33) other += c;
  }
  out[i] = count * 65536 + other;
}
