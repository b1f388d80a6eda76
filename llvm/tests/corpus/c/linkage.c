// What runs before all else, what may be defined or not, other names.
#include "kernel.h"
static u64 state = 1, log[4]; static int at;
__attribute__((constructor(200))) static void second(void) { state = state * 3 + 1; log[at++] = 2; }
__attribute__((constructor(150))) static void first(void) { state += 10; log[at++] = 1; }
extern u64 absent(u64) __attribute__((weak)); extern u32 absent_variable __attribute__((weak)); __attribute__((weak)) u64 present(u64 x) { return x + 1; } static u32 *const maybe = &absent_variable;

KERNEL void constructed(u64 *p) { p[8] = state; p[9] = log[0] * 10 + log[1]; }
KERNEL void weak_symbols(u64 *p) { p[8] = absent ? absent(3) : 7; p[9] = &absent_variable ? 1 : 2; p[10] = present ? present(p[0]) : 0; p[11] = maybe == 0; }
