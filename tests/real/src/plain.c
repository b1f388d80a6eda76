// Plain C as clang compiles it for nvptx64: kernels, calls, aggregates, recursion, varargs, function pointers, globals.
#define KERNEL __attribute__((nvptx_kernel))
typedef struct { int a; double b; char c[3]; } Mixed;
typedef struct { Mixed *first; int (*f)(int); } Table;
static __attribute__((address_space(3))) int shared_tile[64];
__attribute__((address_space(4))) const int constants[5] = {1, -2, 3, 4, 5};
int global_counter = 7;
static const char message[] = "n is %d, f is %f\n";
Mixed mixed = {1, 2.5, {'a', 'b', 0}};
int vprintf(const char *, void *);
__attribute__((noinline)) int add_one(int x) { return x + 1; }
__attribute__((noinline)) int triple(int x) { return x * 3; }
Table tables[2] = {{&mixed, add_one}, {0, triple}};
__attribute__((noinline)) unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__attribute__((noinline)) Mixed update(Mixed m, int n)
{
    m.a += n;
    m.b *= n;
    m.c[n & 1] = n;
    return m;
}
__attribute__((noinline)) int sum(int n, ...)
{
    __builtin_va_list list;
    int total = 0;
    __builtin_va_start(list, n);
    for (int i = 0; i < n; i++) total += __builtin_va_arg(list, int);
    __builtin_va_end(list);
    return total;
}
KERNEL void recursion(unsigned *out) { *out = fibonacci(*out); }
KERNEL void indirect(int *out, int i) { *out = tables[i].f(*out) + constants[i] + global_counter; }
KERNEL void structures(Mixed *m, int n) { m[1] = update(*m, n); }
KERNEL void varied(int *out) { out[0] = sum(3, out[1], out[2], out[3]); }
KERNEL void tell(int n, double f)
{
    struct { int n; double f; } args = {n, f};
    vprintf(message, &args);
}
KERNEL void share(int *out, int i)
{
    shared_tile[i] = out[i];
    __nvvm_bar_sync(0);
    out[i] = shared_tile[63 - i];
}
KERNEL void choose(int *x, int n)
{
    switch (n) {
    case 0: *x = 4; break;
    case 1: *x /= 7; break;
    case 2: *x %= x[1]; break;
    case 3: *x = x[2] >> 3; break;
    case 4: *x ^= 0x55; break;
    case 5: *x = __builtin_bswap32(*x); break;
    }
}
KERNEL void local(int *out, int n)
{
    int a[40];
    for (int i = 0; i < 40; i++) a[i] = out[i];
    for (int i = 0; i < n; i++) a[a[i] % 40u] += i;
    out[0] = a[n % 40u];
}
