// Texts and codes: edit distance, hashes, virtual machines, tokens.
#include "../corpus/common.h"
#include <stdint.h>

// launch: levenshtein grid=2 block=32 n=20 fill=u32
KERNEL levenshtein(const char *s, const char *t, int *out, int n) {
  int prev[33], cur[33];
  s += GID * 32;
  t += GID * 32;
  LOOP for (int j = 0; j <= n; ++j) prev[j] = j;
  LOOP for (int i = 1; i <= n; ++i) {
    cur[0] = i;
    LOOP for (int j = 1; j <= n; ++j) {
      int cost = (s[i - 1] & 3) == (t[j - 1] & 3) ? 0 : 1;
      cur[j] = min(min(cur[j - 1] + 1, prev[j] + 1), prev[j - 1] + cost);
    }
    LOOP for (int j = 0; j <= n; ++j) prev[j] = cur[j];
  }
  out[GID] = prev[n];
}

// launch: lcs_diagonal grid=2 block=64 n=64 fill=u32
KERNEL lcs_diagonal(const unsigned char *a, const unsigned char *b, int *out, int n) {
  __shared__ int d[3][65];
  int t = threadIdx.x;
  const unsigned char *x = a + blockIdx.x * n, *y = b + blockIdx.x * n;
  d[0][t] = d[1][t] = d[2][t] = 0;
  if (t == 0) d[0][64] = d[1][64] = d[2][64] = 0;
  __syncthreads();
  LOOP for (int diag = 0; diag < 2 * n - 1; ++diag) {
    int *now = d[diag % 3], *last = d[(diag + 2) % 3], *before = d[(diag + 1) % 3];
    int i = t, j = diag - t;
    if (j >= 0 && j < n)
      now[i + 1] = ((x[i] ^ y[j]) & 7) == 0 ? before[i] + 1 : max(last[i], last[i + 1]);
    __syncthreads();
  }
  out[GID] = d[(2 * n - 2) % 3][t + 1];
}

// launch: sha1_rounds grid=2 block=64 n=80 fill=u32
#define ROTL(x, k) (((x) << (k)) | ((x) >> (32 - (k))))
KERNEL sha1_rounds(const uint32_t *msg, const uint32_t *unused, uint32_t *out, int n) {
  uint32_t w[16];
  LOOP for (int i = 0; i < 16; ++i) w[i] = msg[GID * 16 + i];
  uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
  LOOP for (int t = 0; t < n; ++t) {
    uint32_t f, k;
    if (t < 20) { f = (b & c) | (~b & d); k = 0x5a827999; }
    else if (t < 40) { f = b ^ c ^ d; k = 0x6ed9eba1; }
    else if (t < 60) { f = (b & c) | (b & d) | (c & d); k = 0x8f1bbcdc; }
    else { f = b ^ c ^ d; k = 0xca62c1d6; }
    uint32_t word = w[t & 15];
    w[t & 15] = ROTL(w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ word, 1);
    uint32_t temp = ROTL(a, 5) + f + e + k + word;
    e = d;
    d = c;
    c = ROTL(b, 30);
    b = a;
    a = temp;
  }
  out[GID * 5] = a; out[GID * 5 + 1] = b; out[GID * 5 + 2] = c; out[GID * 5 + 3] = d; out[GID * 5 + 4] = e;
}

// launch: fnv_words grid=4 block=64 n=32 fill=u32
KERNEL fnv_words(const uint8_t *text, const uint8_t *b, uint64_t *out, unsigned length) {
  const size_t n = length;
  uint64_t h = 14695981039346656037ull;
  const uint8_t *p = text + GID * 32;
  LOOP for (size_t i = 0; i < n; ++i) {
    h ^= p[i];
    h *= 1099511628211ull;
  }
  out[GID] = h;
}

enum Op : uint8_t { PUSH, ADD, SUB, MUL, DUP, SWAP, JNZ, HALT };

// launch: stack_machine grid=2 block=32 n=64 fill=u32
class Machine {
  int stack[8];
  int sp = 0;

public:
  __device__ void push(int v) { stack[sp++ & 7] = v; }
  __device__ int pop() { return stack[--sp & 7]; }
  __device__ int run(const uint8_t *code, int budget, int seed) {
    for (int i = 0; i < 8; ++i) stack[i] = seed + i;
    int pc = 0;
    LOOP while (budget-- > 0) {
      uint8_t op = code[pc] & 7;
      switch (op) {
      case PUSH: push(code[pc + 1]); pc += 2; break;
      case ADD: push(pop() + pop()); pc++; break;
      case SUB: push(pop() - pop()); pc++; break;
      case MUL: push(pop() * pop()); pc++; break;
      case DUP: { int v = pop(); push(v); push(v); pc++; break; }
      case SWAP: { int x = pop(), y = pop(); push(x); push(y); pc++; break; }
      case JNZ: pc += pop() ? 2 : 1; break;
      default: pc = (pc + 3) & 255;
      }
    }
    return pop();
  }
};
KERNEL stack_machine(const uint8_t *a, const uint8_t *b, int *out, int n) {
  Machine m;
  out[GID] = m.run(a, n, (int)GID);
}

// launch: register_machine grid=2 block=64 n=40 fill=u32
KERNEL register_machine(const uint32_t *prog, const uint32_t *data, uint32_t *out, int n) {
  uint32_t r0 = GID, r1 = data[GID], acc = 1;
  LOOP for (int pc = 0; pc < n; ++pc) {
    uint32_t ins = prog[pc], imm = ins >> 8;
    switch (ins & 7) {
    case 0: acc += r0; break;
    case 1: acc ^= imm; break;
    case 2: acc *= r1 | 1; break;
    case 3: r0 = acc >> (imm & 15); break;
    case 4: r1 = acc + imm; break;
    case 5: if (acc & 1) pc += 1; break;
    case 6: acc = ~acc; break;
    case 7: acc = r0 - r1; break;
    }
  }
  out[GID] = acc;
}

// launch: count_words grid=2 block=64 n=128 fill=u32
__device__ inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || (c & 0x1c) == 4; }
KERNEL count_words(const char *text, const char *b, int *out, int n) {
  const char *p = text + GID * n, *end = p + n;
  int words = 0;
  bool inside = false;
  LOOP for (; p != end; ++p) {
    if (is_space(*p)) inside = false;
    else if (!inside) { inside = true; ++words; }
  }
  out[GID] = words;
}

// launch: hex_encode grid=4 block=64 n=1024 fill=u32
KERNEL hex_encode(const uint8_t *in, const uint8_t *b, char2 *out, int n) {
  auto digit = [](unsigned v) -> char { return v < 10 ? '0' + v : 'a' + (v - 10); };
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    uint8_t v = in[i];
    out[i] = make_char2(digit(v >> 4), digit(v & 15));
  }
}
