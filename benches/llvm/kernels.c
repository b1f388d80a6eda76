// The examples' kernels as C, for LLVM to compile. kernels.ll beside this file is made from it by
//   clang-22 --target=nvptx64-nvidia-cuda -march=sm_75 -Xclang -target-feature -Xclang +ptx64 -O1 -fno-unroll-loops -fno-inline \
//     -emit-llvm -S -o kernels.ll kernels.c
// -O1 so that llc starts from SSA without stack slots, as the examples do.
typedef unsigned u32;
typedef unsigned char u8;
typedef unsigned long u64;
#define KERNEL __attribute__((nvptx_kernel)) void
#define GLOBAL __attribute__((address_space(1)))
#define SHARED static __attribute__((address_space(3)))
#define CONST __attribute__((address_space(4)))
#define tid_x __nvvm_read_ptx_sreg_tid_x()
#define tid_y __nvvm_read_ptx_sreg_tid_y()
#define ctaid_x __nvvm_read_ptx_sreg_ctaid_x()
#define ctaid_y __nvvm_read_ptx_sreg_ctaid_y()
#define ntid_x __nvvm_read_ptx_sreg_ntid_x()
#define ntid_y __nvvm_read_ptx_sreg_ntid_y()
#define nctaid_x __nvvm_read_ptx_sreg_nctaid_x()
#define barrier() __syncthreads()

KERNEL saxpy(u32 n, float a, GLOBAL float *x, GLOBAL float *y) {
  u32 i = ctaid_x * ntid_x + tid_x;
  if (i < n) y[i] = __builtin_fmaf(a, x[i], y[i]);
}

SHARED u32 partial[32];
static u32 warp_sum(u32 v) {
  for (u32 d = 16; d; d >>= 1) v += __nvvm_shfl_sync_down_i32(-1, v, d, 31);
  return v;
}
KERNEL block_sum(u32 n, GLOBAL u32 *in, GLOBAL u32 *out) {
  u32 t = tid_x, i = ctaid_x * ntid_x + t, lane = t & 31, warp = t >> 5;
  u32 v = warp_sum(i < n ? in[i] : 0);
  if (lane == 0) partial[warp] = v;
  barrier();
  if (warp == 0) {
    u32 total = warp_sum(lane < 8 ? partial[lane] : 0);
    if (lane == 0) out[ctaid_x] = total;
  }
}

SHARED float a_tile[256], b_tile[256];
KERNEL matmul(u32 n, GLOBAL float *a, GLOBAL float *b, GLOBAL float *c) {
  u32 tx = tid_x, ty = tid_y, row = ctaid_y * 16 + ty, col = ctaid_x * 16 + tx;
  float acc = 0;
  for (u32 k0 = 0; k0 < n; k0 += 16) {
    a_tile[ty * 16 + tx] = a[row * n + k0 + tx];
    b_tile[ty * 16 + tx] = b[(k0 + ty) * n + col];
    barrier();
    for (u32 k = 0; k < 16; k++) acc = __builtin_fmaf(a_tile[ty * 16 + k], b_tile[k * 16 + tx], acc);
    barrier();
  }
  c[row * n + col] = acc;
}

SHARED u32 bins[64];
KERNEL histogram(u32 n, GLOBAL u8 *data, GLOBAL u32 *out) {
  u32 t = tid_x, stride = ntid_x * nctaid_x;
  if (t < 64) bins[t] = 0;
  barrier();
  for (u32 i = ctaid_x * ntid_x + t; i < n; i += stride) __atomic_fetch_add(&bins[data[i] >> 2], 1, __ATOMIC_RELAXED);
  barrier();
  if (t < 64) __atomic_fetch_add(&out[t], bins[t], __ATOMIC_RELAXED);
}

SHARED u32 tile[1056];
KERNEL transpose(u32 rows, u32 cols, GLOBAL u32 *in, GLOBAL u32 *out) {
  u32 tx = tid_x, ty = tid_y, col0 = ctaid_x * 32, row0 = ctaid_y * 32;
  for (u32 r = ty; r < 32; r += 8)
    if (row0 + r < rows && col0 + tx < cols) tile[r * 33 + tx] = in[(row0 + r) * cols + col0 + tx];
  barrier();
  for (u32 s = ty; s < 32; s += 8)
    if (col0 + s < cols && row0 + tx < rows) out[(col0 + s) * rows + row0 + tx] = tile[tx * 33 + s];
}

SHARED u32 totals[4];
static u32 warp_scan(u32 v, u32 lane) {
  for (u32 d = 1; d < 32; d <<= 1) {
    u32 other = __nvvm_shfl_sync_up_i32(-1, v, d, 0);
    v = lane >= d ? v + other : v;
  }
  return v;
}
KERNEL exclusive_scan(u32 n, GLOBAL u32 *in, GLOBAL u32 *out) {
  u32 t = tid_x, lane = t & 31, warp = t >> 5, carry = 0;
  for (u32 start = 0; start < n; start += 128) {
    u32 i = start + t, v = i < n ? in[i] : 0, inclusive = warp_scan(v, lane);
    if (lane == 31) totals[warp] = inclusive;
    barrier();
    u32 t0 = totals[0], t1 = totals[1], t2 = totals[2], t3 = totals[3];
    u32 before = (warp > 0 ? t0 : 0) + (warp > 1 ? t1 : 0) + (warp > 2 ? t2 : 0);
    if (i < n) out[i] = carry + before + inclusive - v;
    carry += t0 + t1 + t2 + t3;
    barrier();
  }
}

KERNEL mandelbrot(u32 width, u32 height, u32 limit, float left, float top, float step, GLOBAL u8 *out) {
  u32 px = ctaid_x * ntid_x + tid_x, py = ctaid_y * ntid_y + tid_y;
  if (px >= width || py >= height) return;
  float cx = __builtin_fmaf(px, step, left), cy = __builtin_fmaf(py, step, top), x = 0, y = 0;
  u32 n = 0;
  for (;;) {
    float xx = x * x, yy = y * y;
    if (!(xx + yy <= 4.0f && n < limit)) break;
    y = __builtin_fmaf(x + x, y, cy);
    x = xx - yy + cx;
    n++;
  }
  out[py * width + px] = n;
}

CONST const u32 round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
#define rotr(x, n) __builtin_rotateright32(x, n)
static u32 padded_byte(GLOBAL u8 *text, u32 length, u32 p) { return p < length ? text[p] : p == length ? 128 : 0; }
KERNEL sha256(u32 count, GLOBAL u8 *text, GLOBAL u32 *starts, GLOBAL u32 *lengths, GLOBAL u32 *out) {
  u32 id = ctaid_x * ntid_x + tid_x;
  if (id >= count) return;
  GLOBAL u8 *message = text + starts[id];
  u32 length = lengths[id], blocks = (length + 72) >> 6, w[16];
  u32 h0 = 0x6a09e667, h1 = 0xbb67ae85, h2 = 0x3c6ef372, h3 = 0xa54ff53a, h4 = 0x510e527f, h5 = 0x9b05688c, h6 = 0x1f83d9ab, h7 = 0x5be0cd19;
  for (u32 n = 0; n < blocks; n++) {
    for (u32 j = 0; j < 16; j++) {
      u32 p = n * 64 + j * 4;
      w[j] = padded_byte(message, length, p) << 24 | padded_byte(message, length, p + 1) << 16 |
             padded_byte(message, length, p + 2) << 8 | padded_byte(message, length, p + 3);
    }
    if (n + 1 == blocks) {
      w[14] = length >> 29;
      w[15] = length << 3;
    }
    u32 a = h0, b = h1, c = h2, d = h3, e = h4, f = h5, g = h6, h = h7;
    for (u32 t = 0; t < 64; t++) {
      u32 wt = w[t & 15];
      if (t >= 16) {
        u32 w15 = w[(t + 1) & 15], w2 = w[(t + 14) & 15];
        wt += (rotr(w15, 7) ^ rotr(w15, 18) ^ w15 >> 3) + w[(t + 9) & 15] + (rotr(w2, 17) ^ rotr(w2, 19) ^ w2 >> 10);
        w[t & 15] = wt;
      }
      u32 t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + round_constants[t] + wt;
      u32 t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    h0 += a; h1 += b; h2 += c; h3 += d; h4 += e; h5 += f; h6 += g; h7 += h;
  }
  GLOBAL u32 *o = out + id * 8;
  o[0] = __builtin_bswap32(h0); o[1] = __builtin_bswap32(h1); o[2] = __builtin_bswap32(h2); o[3] = __builtin_bswap32(h3);
  o[4] = __builtin_bswap32(h4); o[5] = __builtin_bswap32(h5); o[6] = __builtin_bswap32(h6); o[7] = __builtin_bswap32(h7);
}

static u32 xorshift(u32 x) {
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ x << 5;
}
KERNEL monte_carlo(u32 samples, u32 seed, GLOBAL u32 *total, GLOBAL u32 *per_thread) {
  u32 id = ctaid_x * ntid_x + tid_x, state = (2 * id + 1) * 0x9e3779b1u ^ seed, hits = 0;
  for (u32 i = 0; i < samples; i++) {
    u32 sx = xorshift(state);
    state = xorshift(sx);
    u64 x = sx >> 1, y = state >> 1;
    hits += x * x + y * y < 0x4000000000000000ul;
  }
  per_thread[id] = hits;
  __atomic_fetch_add(total, hits, __ATOMIC_RELAXED);
}

KERNEL vm(GLOBAL int *code, GLOBAL u32 *starts, GLOBAL int *out) {
  u32 t = tid_x, pc = starts[t & 1], depth = 1, steps = 0;
  int stack[32];
  stack[0] = (t >> 1) + 1;
  for (;;) {
    int op = code[pc], arg = code[pc + 1];
    pc += 2;
    steps++;
    switch (op) {
    case 0: stack[depth++] = arg; break;
    case 1: stack[depth] = stack[depth - 1 - arg]; depth++; break;
    case 2: stack[depth - 1 - arg] = stack[depth - 1]; depth--; break;
    case 3: stack[depth - 2] += stack[depth - 1]; depth--; break;
    case 4: stack[depth - 2] *= stack[depth - 1]; depth--; break;
    case 5: stack[depth - 2] -= stack[depth - 1]; depth--; break;
    case 6: stack[depth - 1] >>= 1; break;
    case 7: pc = arg; break;
    case 8: if (stack[--depth] == 0) pc = arg; break;
    case 9: stack[depth - 1] &= 1; break;
    default: out[2 * t] = stack[depth - 1]; out[2 * t + 1] = steps; return;
    }
  }
}

SHARED int keys[512];
KERNEL bitonic_sort(GLOBAL int *data) {
  u32 t = tid_x, start = ctaid_x << 9;
  keys[t] = data[start + t];
  keys[t + 256] = data[start + t + 256];
  for (u32 size = 2; size <= 512; size <<= 1)
    for (u32 stride = size >> 1; stride; stride >>= 1) {
      barrier();
      u32 i = 2 * t - (t & (stride - 1));
      int a = keys[i], b = keys[i + stride], least = a < b ? a : b, most = a < b ? b : a;
      int upwards = (i & size) == 0;
      keys[i] = upwards ? least : most;
      keys[i + stride] = upwards ? most : least;
    }
  barrier();
  data[start + t] = keys[t];
  data[start + t + 256] = keys[t + 256];
}

KERNEL spmv(u32 rows, GLOBAL u32 *row_start, GLOBAL u32 *columns, GLOBAL double *values, GLOBAL double *x, GLOBAL double *y) {
  u32 id = ctaid_x * ntid_x + tid_x, row = id >> 5, lane = id & 31;
  if (row >= rows) return;
  double sum = 0;
  for (u32 i = row_start[row] + lane; i < row_start[row + 1]; i += 32) sum = __builtin_fma(values[i], x[columns[i]], sum);
  for (u32 d = 16; d; d >>= 1) {
    union { double d; u32 u[2]; } other = {sum};
    other.u[0] = __nvvm_shfl_sync_bfly_i32(-1, other.u[0], d, 31);
    other.u[1] = __nvvm_shfl_sync_bfly_i32(-1, other.u[1], d, 31);
    sum += other.d;
  }
  if (lane == 0) y[row] = sum;
}
