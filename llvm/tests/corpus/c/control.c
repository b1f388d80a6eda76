// Branches, loops, switches, recursion, jumps through tables, memory of the stack.
#include "kernel.h"
NOINLINE u64 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
NOINLINE u32 odd(u32 n); NOINLINE u32 even(u32 n) { return n == 0 ? 1 : odd(n - 1); } NOINLINE u32 odd(u32 n) { return n == 0 ? 0 : even(n - 1); }
KERNEL void recursion(u64 *p) { p[8] = fib(p[0] & 15); p[9] = even(p[1] & 31); p[10] = odd(p[2] & 31); }
NOINLINE u64 dense(u32 x) { switch (x) { case 0: return 5; case 1: return 8; case 2: case 3: return x * 7; case 4: x += 2; case 5: x *= 3; break; case 6: return ~x; case 7: return 1; default: x = 99; } return x; }
NOINLINE i64 sparse(i64 x) { switch (x) { case -1: return 1; case -5000000000: return 2; case 7: return 3; case 0x7fffffffffffffff: return 4; case 1000 ... 1010: return 5; default: return x; } }
NOINLINE u32 chars(i8 c) { switch (c) { case 'a' ... 'z': return 1; case -3: return 2; case '0': return 3; case -128: return 4; } return 0; }
NOINLINE u32 wide(i128 x) { switch (x) { case 5: return 1; case -1: return 2; case (i128)1 << 100: return 3; } return 0; }
NOINLINE u32 bools(_BitInt(3) x) { switch (x) { case -4: return 1; case 3: return 2; case 0: return 3; } return 4; }
KERNEL void switches(u64 *p) {
    for (int i = 0; i < 10; i++) p[8 + i] = dense(i); p[18] = sparse(-1); p[19] = sparse(-5000000000); p[20] = sparse(7); p[21] = sparse(0x7fffffffffffffff); p[22] = sparse(1005); p[23] = sparse(p[0]);
    p[24] = chars('q'); p[25] = chars(-3); p[26] = chars('0'); p[27] = chars(-128); p[28] = chars('A'); p[29] = wide(5); p[30] = wide(-1); p[31] = wide((i128)1 << 100); p[32] = wide(p[1]); for (int i = 0; i < 8; i++) p[33 + i] = bools((_BitInt(3))i);
}
KERNEL void loops(u64 *p) {
    u64 s = 0; for (int i = 0; i < 20; i++) { if (p[i & 7] & 1) continue; if (i == 17) break; for (int j = i; j; j >>= 1) s = s * 3 + j; } p[8] = s;
    int n = 0; do { n += p[n & 7] & 3; n++; } while (n < 50); p[9] = n; u32 x = p[0], y = p[1] | 1; while (y) { u32 t = x % y; x = y; y = t; } p[10] = x;
    int i = 0; again: if (i < 5) { p[11 + i] = i * p[i]; i++; goto again; } for (i = 0;; i++) { for (int j = 0; j < 5; j++) if (i * j == 12) goto out; } out: p[16] = i; p[17] = p[0] > p[1] && p[2] > p[3] || !(p[4] & 1); p[18] = p[5] & 1 ? p[6] & 2 ? 1 : 2 : 3;
}
KERNEL void computed(u64 *p) {
    static void *const labels[] = {&&add, &&mul, &&neg, &&end}; u64 acc = p[0]; int at = 0; u8 code[] = {0, 1, 2, 0, (u8)(p[1] & 1), 3}; goto *labels[code[at++]];
add: acc += p[2]; goto *labels[code[at++]]; mul: acc *= 3; goto *labels[code[at++]]; neg: acc = -acc; goto *labels[code[at++]]; end: p[8] = acc; p[9] = at;
}
NOINLINE u64 sized(u64 *p, int n) { u64 *v = __builtin_alloca(n * 8); for (int i = 0; i < n; i++) v[i] = p[i & 7] * i; u64 s = 0; for (int i = n - 1; i >= 0; i--) s = s * 5 + v[i]; return s; }
KERNEL void dynamic(u64 *p) { p[8] = sized(p, 3); p[9] = sized(p, (p[0] & 31) + 1); u64 s = 0; for (int i = 1; i < 6; i++) { u8 *b = __builtin_alloca(i * 8); for (int j = 0; j < i * 8; j++) b[j] = i * j; s += b[i * 4] + b[i * 8 - 1]; } p[10] = s; }
NOINLINE u64 apply(u64 (*f)(u64, u64), u64 a, u64 b) { return f(a, b); }
static u64 add(u64 a, u64 b) { return a + b; } static u64 sub(u64 a, u64 b) { return a - b; } static u64 mul(u64 a, u64 b) { return a * b; }
u64 (*table[3])(u64, u64) = {add, sub, mul};
KERNEL void indirect(u64 *p) { u64 x = p[0]; for (int i = 0; i < 6; i++) x = apply(table[p[i] % 3], x, p[i + 1]); p[8] = x; u64 (*f)(u64, u64) = p[0] & 1 ? add : sub; p[9] = f(p[1], p[2]); p[10] = table[0] == add; p[11] = f != 0; }
NOINLINE static u32 bitcount(u32 x, u32 *out) { *out = x * 2; return __builtin_expect(x == 0, 0) ? 32 : __builtin_clz(x); }
KERNEL void hints(u64 *p) { u32 o; p[8] = bitcount(p[0], &o); p[9] = o; __builtin_assume(p[1] != 0 || p[1] == 0); if (p[2] == 0x1234567) __builtin_unreachable(); p[10] = __builtin_constant_p(p[3]); p[11] = __builtin_object_size(p, 0); u8 b[40]; p[12] = __builtin_object_size(b + 8, 0); p[13] = __builtin_dynamic_object_size(b + 3, 1); p[14] = (u64)(u8 *)__builtin_align_up(&b[0], 16) % 16; p[15] = (u64)(__builtin_align_down(p[3], 64)); p[16] = __builtin_expect_with_probability(p[4] & 1, 1, 0.9); p[17] = __builtin_nondeterministic_value(o) & 0; p[18] = (u64)__builtin_launder(p) == (u64)p; }
