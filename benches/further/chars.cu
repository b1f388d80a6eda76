// Bytes with a sign and flags, as programs about texts have them: numbers in decimal, UTF-8, tokens, brackets, `short` in 64 bits, a flag that is turned over.
#include "../corpus/common.h"

// launch: char_tokens grid=4 block=32 args=a,b,out,60 fill=u32
KERNEL char_tokens(const char *text, int *kinds, int *counts, int length) {
  const char *own = text + GID * length;
  int words = 0, numbers = 0, others = 0, state = 0;
  LOOP for (int k = 0; k < length; k++) {
    char c = own[k];
    int kind;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') kind = 1;
    else if (c >= '0' && c <= '9') kind = state == 1 ? 1 : 2;
    else if (c == ' ' || c == '\t' || c == '\n') kind = 0;
    else kind = 3;
    if (kind != state) {
      switch (kind) {
        case 1: words++; break;
        case 2: numbers++; break;
        case 3: others++; break;
      }
    }
    state = kind;
    kinds[GID * length + k] = kind;
  }
  counts[3 * GID] = words;
  counts[3 * GID + 1] = numbers;
  counts[3 * GID + 2] = others;
}

// launch: char_decimal grid=4 block=32 args=a,out,12 fill=u32
KERNEL char_decimal(const char *text, int *out, int length) {
  const char *own = text + GID * length;
  int sign = 1, value = 0, k = 0;
  LOOP while (k < length && (own[k] == ' ' || own[k] == '\t')) k++;
  if (k < length && (own[k] == '-' || own[k] == '+')) sign = own[k++] == '-' ? -1 : 1;
  LOOP while (k < length && own[k] >= '0' && own[k] <= '9') value = value * 10 + (own[k++] - '0');
  out[GID] = sign * value;
}

// launch: char_upper grid=4 block=64 args=a,out,1000 fill=u32
KERNEL char_upper(const char *in, char *out, int n) {
  LOOP for (int i = GID; i < n; i += gridDim.x * blockDim.x) {
    char c = in[i];
    if (c >= 'a' && c <= 'z') c -= 32;
    out[i] = c;
  }
}

// launch: char_points grid=4 block=32 args=a,out,50 fill=u32
KERNEL char_points(const char *text, int *out, int length) {
  int points = 0;
  LOOP for (int k = 0; k < length; k++) points += (text[GID * length + k] & 0xC0) != 0x80;
  out[GID] = points;
}

// launch: char_brackets grid=4 block=32 args=a,out,48 fill=u32
KERNEL char_brackets(const char *text, int *out, int length) {
  int depth = 0, deepest = 0;
  bool quoted = false, escaped = false;
  LOOP for (int k = 0; k < length; k++) {
    char c = text[GID * length + k];
    if (quoted) {
      if (escaped) escaped = false;
      else if (c == '\\') escaped = true;
      else if (c == '"') quoted = false;
    } else {
      switch (c) {
        case '"': quoted = true; break;
        case '{': case '[': deepest = max(deepest, ++depth); break;
        case '}': case ']': depth--; break;
      }
    }
  }
  out[GID] = deepest;
}

// launch: short_products grid=4 block=64 args=a,b,out,40 fill=u32
KERNEL short_products(const short *a, const short *b, long long *out, int n) {
  long long sum = 0;
  LOOP for (int k = 0; k < n; k++) sum += (long long)a[GID * n + k] * b[GID * n + k];
  out[GID] = sum;
}

// launch: flag_crossings grid=4 block=32 args=a,b,out,20 fill=f32
KERNEL flag_crossings(const float2 *corners, const float2 *points, unsigned char *out, int n) {
  float2 p = points[GID];
  bool inside = false;
  LOOP for (int i = 0, j = n - 1; i < n; j = i++) {
    float2 a = corners[i], b = corners[j];
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) inside = !inside;
  }
  out[GID] = inside;
}

// launch: remainders_gcd grid=4 block=64 args=a,b,out,200 fill=u32
KERNEL remainders_gcd(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  if (GID >= n) return;
  unsigned x = a[GID], y = b[GID];
  LOOP while (y) {
    unsigned rest = x % y;
    x = y;
    y = rest;
  }
  out[GID] = x;
}
