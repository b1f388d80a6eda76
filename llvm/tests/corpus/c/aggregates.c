// Structs, unions and arrays as values, parameters and results; blocks of memory; variable arguments.
#include "kernel.h"
struct pair { u64 a; u32 b; }; struct small { u8 a, b; u16 c; }; struct floats { float x, y; double z; }; struct big { u64 v[9]; u8 t[3]; };
struct __attribute__((packed)) tight { u8 a; u64 b; u16 c; }; struct nested { struct small s[2]; struct pair p; union { double d; u64 u; } u; }; struct empty {};
union any { u64 u; double d; u8 bytes[8]; struct small s; };
NOINLINE struct pair make(u64 a, u32 b) { return (struct pair){a + b, b ^ 5}; }
NOINLINE struct small turn(struct small s) { return (struct small){s.b, s.a, (u16)(s.c + s.a)}; }
NOINLINE struct floats scale(struct floats f, float by) { f.x *= by; f.y += by; f.z -= by; return f; }
NOINLINE struct big grow(struct big b, int n) { for (int i = 0; i < 9; i++) b.v[i] = b.v[i] * n + i; b.t[n % 3] = n; return b; }
NOINLINE struct tight pack(u8 a, u64 b, u16 c) { return (struct tight){a, b, c}; }
NOINLINE u64 unpack(struct tight t) { t.b += t.a; return t.b * t.c; }
NOINLINE struct nested nest(struct nested n, struct empty e, struct pair q) { n.p = q; n.s[1] = turn(n.s[0]); n.u.d = n.u.u & 0xff; return n; }
NOINLINE u64 only_read(struct big b) { u64 s = 0; for (int i = 0; i < 9; i++) s += b.v[i] << i; return s + b.t[1]; }
NOINLINE union any change(union any u) { u.bytes[3] ^= 0x55; return u; }
NOINLINE i128 wide(i128 a, u8 b, i128 c) { return a * b - c; }
NOINLINE _Bool flip(_Bool a, i8 b, i16 c) { return a ^ (b < c); }
NOINLINE _BitInt(40) forty(_BitInt(40) a, unsigned _BitInt(3) b) { return a * b + 1; }
NOINLINE _Complex float cmul(_Complex float a, _Complex float b) { return a + b; }
KERNEL void structs(u64 *p) {
    struct pair q = make(p[0], p[1]); p[8] = q.a; p[9] = q.b;
    struct small s = turn((struct small){p[0], p[1], p[2]}); p[10] = s.a; p[11] = s.b; p[12] = s.c;
    struct floats f = scale((struct floats){1.5f, (float)(i8)p[0], (double)(i32)p[1]}, 4.25f); p[13] = __builtin_bit_cast(u32, f.x); p[14] = __builtin_bit_cast(u32, f.y); p[15] = __builtin_bit_cast(u64, f.z);
    struct big b = {{p[0], p[1], p[2]}, {1, 2, 3}}; b = grow(b, 5); b = grow(b, 7); for (int i = 0; i < 9; i++) p[16 + i] = b.v[i]; p[25] = b.t[0] + b.t[1] * 256 + b.t[2] * 65536;
    struct tight t = pack(p[3], p[4], p[5]); p[26] = unpack(t); p[27] = sizeof t; p[28] = t.b;
    struct nested n = {{{1, 2, 3}, {4, 5, 6}}, q, {.u = p[6]}}; n = nest(n, (struct empty){}, make(p[6], 8)); p[29] = n.s[1].a + n.s[1].b * 10 + n.s[1].c * 100; p[30] = n.p.a; p[31] = n.u.u;
    p[32] = only_read(b); union any u = {p[5]}; u = change(u); p[33] = u.u; WIDE(34, wide((i128)p[0] * -3, p[1], p[2])); p[36] = flip(p[0] & 1, p[1], p[2]); p[37] = (u64)(i64)forty(p[3], p[4]);
    _Complex float c = cmul(__builtin_complex(1.5f, 2.0f), __builtin_complex(0.25f, -7.0f)); p[38] = __builtin_bit_cast(u32, __real__ c); p[39] = __builtin_bit_cast(u32, __imag__ c);
}
typedef struct pair (*maker)(u64, u32); typedef struct big (*grower)(struct big, int);
NOINLINE struct pair other(u64 a, u32 b) { return (struct pair){a * b, b + 1}; }
static maker const makers[] = {make, other}; static grower const growers[] = {grow};
KERNEL void pointers(u64 *p) {
    for (int i = 0; i < 4; i++) { struct pair q = makers[p[i] & 1](p[i], i); p[8 + i] = q.a; p[12 + i] = q.b; }
    struct big b = {{p[0]}, {9}}; b = growers[p[1] >> 63 & 0](b, 3); p[16] = b.v[0]; p[17] = b.v[8]; p[18] = b.t[0];
    struct pair local[4] = {{1, 2}, {3, 4}, {5, 6}, {p[2], p[3]}}; struct pair *at = &local[p[4] & 3]; at->a += 7; *at = (struct pair){at->b, (u32)at->a}; u64 sum = 0; for (int i = 0; i < 4; i++) sum = sum * 31 + local[i].a * 3 + local[i].b; p[19] = sum;
}
KERNEL void blocks(u64 *p) {
    u8 a[200], b[200]; __builtin_memset(a, (int)p[0], sizeof a); __builtin_memcpy(a + 3, p, 64); __builtin_memmove(a + 5, a + 3, 64); __builtin_memcpy(b, a, 200); __builtin_memmove(b + 1, b, p[1] % 190); __builtin_memmove(b, b + 2, p[2] % 190);
    __builtin_memset(b + 100, 7, p[3] % 50); __builtin_memcpy(b + 150, a + 3, p[4] % 30); for (int i = 0; i < 25; i++) { u64 w; __builtin_memcpy(&w, a + i * 8, 8); p[8 + i] = w; __builtin_memcpy(&w, b + i * 8, 8); p[33 + i] = w; }
    struct big x = {{p[0], p[1]}, {5}}, y; y = x; volatile struct big z; z = y; y = z; p[60] = y.v[1]; p[61] = y.t[0]; __builtin_memcpy_inline(&p[62], &y, 8);
}
NOINLINE u64 sum(int n, ...) {
    __builtin_va_list l, m; __builtin_va_start(l, n); __builtin_va_copy(m, l); u64 s = 0;
    for (int i = 0; i < n; i++) { s = s * 7 + __builtin_va_arg(l, int); s += __builtin_va_arg(l, u64); s ^= (u64)__builtin_va_arg(l, double); }
    s += __builtin_va_arg(m, int); __builtin_va_end(l); __builtin_va_end(m); return s;
}
KERNEL void variable(u64 *p) { p[8] = sum(1, 3, p[0], 4.5); p[9] = sum(3, (char)p[1], p[2], 1.0f, -5, p[3], 1e9, 8, 9ul, 3.25); p[10] = sum(0, 7); }
NOINLINE u64 sum_structs(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); u64 s = 0; while (n--) { struct pair q = __builtin_va_arg(l, struct pair); s = s * 3 + q.a + q.b; } __builtin_va_end(l); return s; }
KERNEL void variable_structs(u64 *p) { struct pair a = {p[0], 5}, b = {7, p[1]}; p[8] = sum_structs(2, a, b); }
