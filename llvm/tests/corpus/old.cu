// C++ as clang before 15 writes it, whose pointers say what they point to; the host runs it too (`old.expected`).
#ifdef __CUDA__
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device))
#else
#define KERNEL extern "C" void
#define DEVICE
#endif
#define NOINLINE __attribute__((noinline))
typedef unsigned long u64; typedef unsigned u32; typedef unsigned char u8;
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
struct Pair { u64 a; u32 b; }; struct Block { u64 v[9]; u8 t[3]; };
struct Shape { u64 id = 1; DEVICE virtual u64 area() const = 0; DEVICE virtual u64 scale(u64 k) { return area() * k; } };
struct Square : Shape { u64 s; DEVICE Square(u64 s) : s(s) {} DEVICE u64 area() const override { return s * s; } };
struct Circle : Shape { u64 r; DEVICE Circle(u64 r) : r(r) { id = 2; } DEVICE u64 area() const override { return r * r * 3; } DEVICE u64 scale(u64 k) override { return area() + k; } };
struct Node { Node *next; u64 value; DEVICE u64 plus(u64 k) { return value + k; } DEVICE u64 times(u64 k) { return value * k; } };
typedef u64 (Node::*Method)(u64); typedef u64 (*Function)(u64);
DEVICE NOINLINE u64 area(Shape *s, u64 k) { return s->area() + s->scale(k) + s->id; }
DEVICE NOINLINE u64 call(Node *n, Method m, u64 k) { return (n->*m)(k); }
DEVICE NOINLINE Block grow(Block b, int n) { for (int i = 0; i < 9; i++) b.v[i] = b.v[i] * n + i; b.t[n % 3] = n; return b; }
DEVICE u64 twice(u64 x) { return x * 2; } DEVICE u64 square(u64 x) { return x * x; } DEVICE Function functions[] = {twice, square}; DEVICE u32 grid[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}; DEVICE const char *names[] = {"zero", "one"}; DEVICE u32 *inner = &grid[1][2];
KERNEL classes(u64 *p) { Square q(p[0] & 255); Circle c(p[1] & 255); Shape *all[] = {&q, &c, &q}; u64 t = 0; for (int i = 0; i < 3; i++) t = t * 7 + area(all[p[i] % 3], i); p[8] = t; }
KERNEL members(u64 *p) { Node b = {nullptr, p[1]}, a = {&b, p[0]}; for (int i = 0; i < 2; i++) p[8 + i] = call(p[i] & 2 ? &a : a.next, p[2 + i] & 1 ? &Node::plus : &Node::times, p[4]); u64 Node::*value = &Node::value; p[10] = b.*value; }
KERNEL blocks(u64 *p) { Block b = {{p[0], p[1], p[2]}, {1, 2, 3}}; b = grow(b, 5); u8 bytes[100]; __builtin_memset(bytes, 7, 100); __builtin_memcpy(bytes + 3, p, 64); __builtin_memmove(bytes + 5, bytes + 3, 64); for (int i = 0; i < 9; i++) p[8 + i] = b.v[i]; for (int i = 0; i < 12; i++) __builtin_memcpy(p + 17 + i, bytes + i * 8, 8); p[30] = b.t[2]; }
extern "C" __attribute__((weak)) DEVICE u64 absent(u64);
KERNEL tables(u64 *p) { p[16] = absent ? absent(p[0]) : 7; p[8] = functions[p[0] & 1](p[1]); p[9] = grid[p[2] % 2][p[3] % 4]; p[10] = names[p[4] & 1][1]; p[11] = *inner + inner[-1]; u32x4 v; __builtin_memcpy(&v, p + 2, 16); v = v * v.wzyx + 1; __builtin_memcpy(p + 12, &v, 16); u64 *q = &p[14]; *q = 5; __atomic_fetch_add(q, p[5], __ATOMIC_RELAXED); Pair pairs[3] = {{p[6], 1}, {2, 3}, {4, 5}}; Pair *at = &pairs[p[7] % 3]; at->a += at->b; p[15] = pairs[0].a + pairs[1].a * 3 + pairs[2].a * 5; }
