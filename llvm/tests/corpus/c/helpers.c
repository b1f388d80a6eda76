// Functions that clang calls or leaves to a library: compiler-rt's complex numbers and oversized atomics, C's texts, mathematics and memory, C++'s guards.
#include "kernel.h"
typedef unsigned long size_t;
#define D(x) __builtin_bit_cast(u64, (double)(x))
#define F(x) __builtin_bit_cast(u32, (float)(x))
size_t strlen(const char *); size_t strnlen(const char *, size_t); int strcmp(const char *, const char *); int strncmp(const char *, const char *, size_t); int memcmp(const void *, const void *, size_t); int bcmp(const void *, const void *, size_t);
char *strcpy(char *, const char *); char *stpcpy(char *, const char *); char *strncpy(char *, const char *, size_t); char *strcat(char *, const char *); char *strncat(char *, const char *, size_t); void *mempcpy(void *, const void *, size_t);
void *memchr(const void *, int, size_t); char *strchr(const char *, int); char *strrchr(const char *, int); char *strstr(const char *, const char *); size_t strspn(const char *, const char *); size_t strcspn(const char *, const char *);
static int sign(int x) { return (x > 0) - (x < 0); }
// 0 where nothing is found, else the distance and 1.
static u64 at(const void *found, const void *text) { return found ? (const char *)found - (const char *)text + 1 : 0; }
KERNEL void texts(u64 *p) {
    char *t = (char *)(p + 40), *const bytes = (char *)p;
    char a[] = "the cat sat on the mat", b[] = "the cap"; a[3] = b[3] = ' ' + (p[0] & 0);
    p[8] = strlen(a) + strlen(a + 22) * 100; p[9] = strnlen(a, 5) + strnlen(b, 50) * 100 + strnlen(b, 0) * 10000; p[10] = sign(strcmp(a, b)) + 1; p[11] = sign(strcmp(b, a)) + 1; p[12] = sign(strcmp(a, a)) + 1 + 4 * (sign(strcmp("a", "ab")) + 1) + 16 * (sign(strcmp("\xff", "a")) + 1);
    p[13] = sign(strncmp(a, b, 6)) + 1 + 4 * (sign(strncmp(a, b, 7)) + 1) + 16 * (sign(strncmp(a, b, 0)) + 1) + 64 * (sign(strncmp("x", "x", 9)) + 1); p[14] = sign(memcmp(p, p + 1, 64 - 8)) + 1; p[15] = sign(memcmp(a, b, 6)) + 1 + 4 * (bcmp(a, b, 7) != 0) + 8 * (bcmp(a, a, 22) != 0);
    p[16] = at(memchr(p, bytes[17], 64), p); p[17] = at(memchr(a, 'z', 22), a) + at(memchr(a, 't', 0), a); p[18] = at(strchr(a, 's'), a) + 100 * at(strchr(a, 'z'), a) + 10000 * at(strchr(a, 0), a); p[19] = at(strrchr(a, 't'), a) + 100 * at(strrchr(a, 'z'), a) + 10000 * at(strrchr(a, 0), a);
    p[20] = at(strstr(a, "at"), a) + 100 * at(strstr(a, "at on"), a) + 10000 * at(strstr(a, "dog"), a) + 1000000 * at(strstr(a, ""), a) + 100000000 * at(strstr("aab", "ab"), 0) * 0; p[21] = strspn(a, "eht c") + 100 * strcspn(a, "s") + 10000 * strcspn(a, "z") + 1000000 * strspn(a, "");
    p[22] = strcpy(t, a) == t; p[23] = at(stpcpy(t + 24, b), t); p[24] = strncpy(t + 40, b, 12) == t + 40; strncpy(t + 52, a, 4); p[25] = strcat(t + 24, "!?") == t + 24; strncat(t + 24, a, 3); p[26] = at(mempcpy(t + 60, b, 3), t);
}
typedef _Complex double z; typedef _Complex float c; typedef _Complex _Float16 h;
NOINLINE z zmul(z x, z y) { return x * y; } NOINLINE z zdiv(z x, z y) { return x / y; } NOINLINE c cmul(c x, c y) { return x * y; } NOINLINE c cdiv(c x, c y) { return x / y; } NOINLINE h hmul(h x, h y) { return x * y; }
// The bits, but for the sign and the payload of NaN.
static u64 bits(double x) { return x != x ? 0x7ff8000000000000 : D(x); } static u64 fbits(float x) { return x != x ? 0x7fc00000 : F(x); }
#define Z(n, v) do { z r = v; p[n] = bits(__real__ r); p[(n) + 1] = bits(__imag__ r); } while (0)
#define C(n, v) do { c r = v; p[n] = fbits(__real__ r) | (u64)fbits(__imag__ r) << 32; } while (0)
KERNEL void complex(u64 *p) {
    double inf = __builtin_inf(), nan = __builtin_nan(""), x = (double)(i32)p[0], y = (double)(i32)p[1]; z a = { x, y }, s = { 4, 0 }, i = { inf, 0 }, n = { nan, inf }, o = { 0, 0 }, big = { 0x1p1000, 0x1p1000 }, m = { inf, nan };
    Z(8, zmul(a, (z){ 0.5, -2 })); Z(10, zmul(i, (z){ 1, 1 })); Z(12, zmul(n, a)); Z(14, zmul(big, big)); Z(16, zdiv(a, s)); Z(18, zdiv(a, o)); Z(20, zdiv(i, s)); Z(22, zdiv(a, i)); Z(24, zdiv(big, big)); Z(26, zmul(m, m)); Z(28, zdiv((z){ 0x1p-1040, 0 }, (z){ 0x1p-1060, 0 }));
    float fx = (float)(i16)p[2], fy = (float)(i16)p[3]; c f = { fx, fy }; C(30, cmul(f, (c){ -3, 0.25f })); C(31, cdiv(f, (c){ 0, 2 })); C(32, cdiv(f, (c){ 0, 0 })); C(33, cmul((c){ __builtin_inff(), fx }, f)); C(34, cdiv(f, (c){ __builtin_inff(), 1 }));
    h r = hmul((h){ (_Float16)(i8)p[4], 2 }, (h){ (_Float16)0.5f, -3 }); p[35] = __builtin_bit_cast(unsigned short, (_Float16)__real__ r) | (u64)__builtin_bit_cast(unsigned short, (_Float16)__imag__ r) << 16;
}
struct big { u64 v[3]; }; struct odd { u8 v[5]; };
KERNEL void oversized(u64 *p) {
    _Atomic struct big *b = (_Atomic struct big *)(p + 8); _Atomic struct odd *o = (_Atomic struct odd *)(p + 12); struct big x = { p[0], p[1], p[2] }, y, e = x;
    *b = x; y = *b; p[16] = y.v[2]; y.v[1]++; x = __c11_atomic_exchange(b, y, __ATOMIC_SEQ_CST); p[17] = x.v[1]; p[18] = __c11_atomic_compare_exchange_strong(b, &e, x, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); p[19] = e.v[1]; p[20] = __c11_atomic_compare_exchange_weak(b, &e, x, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); p[21] = ((u64 *)b)[1];
    struct odd s = { { 1, 2, 3, 4, p[3] } }; *o = s; s = *o; p[22] = s.v[4] + s.v[0]; p[23] = __atomic_is_lock_free(p[4] & 0 | 24, (void *)b) + 2 * __atomic_is_lock_free(p[4] & 0 | 4, (void *)b);
}
double hypot(double, double), frexp(double, int *), ldexp(double, int), cbrt(double), logb(double), remainder(double, double), nextafter(double, double), fmod(double, double), scalbn(double, int); float hypotf(float, float), ldexpf(float, int), modff(float, float *), remainderf(float, float); int ilogb(double); long lround(double), lrint(double); double (*volatile pointer)(double, double) = hypot;
KERNEL void mathematics(u64 *p) {
    double x = (i64)p[0] * 0x1p-20, y = (i64)p[1] * 0x1p-30; int e; float w;
    p[8] = D(hypot(3, 4 + (p[0] & 0))); p[9] = D(frexp(x, &e)); p[10] = e; p[11] = D(ldexp(x, -7)); p[12] = D(cbrt(8 + (p[0] & 0))); p[13] = D(logb(x)); p[14] = D(remainder(x, 3)); p[15] = D(nextafter(x, y)); p[16] = D(fmod(x, 7.5)); p[17] = F(hypotf(5 + (p[0] & 0), 12)); p[18] = F(ldexpf((float)x, 3)); p[19] = F(modff((float)y, &w)); p[20] = F(w); p[21] = F(remainderf((float)x, 3)); p[22] = ilogb(y); p[23] = lround(y); p[24] = lrint(y); p[25] = D(scalbn(y, 5)); p[26] = D(pointer(5, 12));
}
void *malloc(size_t); void *calloc(size_t, size_t); void free(void *);
KERNEL void memory(u64 *p) { u64 *a = calloc(5, 8), *b = malloc(16); for (int i = 0; i < 5; i++) p[8 + i] = a[i] + i; b[1] = p[0]; p[13] = b[1]; free(a); free(b); }
double cabs(z), carg(z); float cabsf(c), cargf(c);
KERNEL void magnitudes(u64 *p) {
    z a = __builtin_complex((double)((i64)p[0] >> 20), (double)((i64)p[1] >> 22)); c b = __builtin_complex((float)((i32)p[2] >> 4), (float)((i32)p[3] >> 3));
    p[8] = D(cabs(__builtin_complex(3.0 + (p[0] & 0), -4.0))); p[9] = F((float)cabs(a)); p[10] = F((float)carg(a)); p[11] = F(cabsf(__builtin_complex(-5.0f, 12.0f + (p[0] & 0)))); p[12] = F(__builtin_roundf(cargf(b) * 1024)); p[13] = D(carg(__builtin_complex(0.0, 0.0 + (p[0] & 0))));
}
