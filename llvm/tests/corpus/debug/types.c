/* Functions whose types are their own: LLVM writes what only one function names into its body, and each body counts on from the same number. */
#define KERNEL __attribute__((nvptx_kernel))

static __attribute__((noinline)) int first(int n) {
    struct Mine { int a; char b[3]; } mine = {n, {1, 2, 3}};
    typedef int (*Step)(int, struct Mine *);
    Step step = 0;
    return mine.a + mine.b[n & 1] + (step != 0);
}

static __attribute__((noinline)) long second(long n, float f) {
    enum Kind { SMALL, LARGE = 7 } kind = n > 4 ? LARGE : SMALL;
    union { float f; unsigned u; } bits = {f};
    double sums[4] = {f, n, kind, bits.u};
    return (long)sums[n & 3] + kind;
}

static __attribute__((noinline)) unsigned char third(unsigned char *at, unsigned short n) {
    struct List { struct List *next; unsigned char value; } tail = {0, at[0]}, head = {&tail, at[n]};
    return head.next->value ^ head.value;
}

KERNEL void types(long *out) {
    unsigned char bytes[4] = {1, 20, 3, 4};
    out[0] = first(5);
    out[1] = second(9, 1.5f);
    out[2] = third(bytes, 2);
}
