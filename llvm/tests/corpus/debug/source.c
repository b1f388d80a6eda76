struct P { int a; float b[3]; struct P *next; unsigned c : 3; };
enum E { X, Y = 5 };
typedef unsigned long word;
static int helper(struct P *p, int k) { int sum = 0; for (int i = 0; i < 3; i++) { float f = p->b[i]; sum += (int)f * k; } return sum; }
static inline __attribute__((always_inline)) int twice(int v) { int r = v * 2; return r; }
__attribute__((nvptx_kernel)) void k(struct P *p, word n, enum E e) { int x = helper(p, (int)n); const char *s = "hi"; p->a = twice(x) + s[0] + e; }
