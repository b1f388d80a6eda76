// C++ as it is compiled for a machine that has exceptions: with what handles them, which is never reached where nothing throws, and types at run time.
#include "kernel.h"
#undef KERNEL
#ifdef __NVPTX__
#define KERNEL extern "C" __attribute__((nvptx_kernel))
#else
#define KERNEL extern "C"
#endif
using size_t = decltype(sizeof 0);
// As libstdc++ declares them.
namespace std {
class type_info { public: virtual ~type_info(); const char *name() const { return n[0] == '*' ? n + 1 : n; } bool operator==(const type_info &o) const { if (n == o.n) return true; int i = 0; while (n[i] && n[i] == o.n[i]) i++; return n[i] == o.n[i]; } protected: const char *n; };
class exception { public: exception() noexcept {} virtual ~exception() noexcept; virtual const char *what() const noexcept; };
class bad_alloc : public exception { public: bad_alloc() noexcept {} virtual ~bad_alloc() noexcept; virtual const char *what() const noexcept; };
class logic_error : public exception { const char *m; public: explicit logic_error(const char *); logic_error(const logic_error &) noexcept; virtual ~logic_error() noexcept; virtual const char *what() const noexcept; };
class out_of_range : public logic_error { public: explicit out_of_range(const char *); out_of_range(const out_of_range &) = default; virtual ~out_of_range() noexcept; };
class runtime_error : public exception { const char *m; public: explicit runtime_error(const char *); runtime_error(const runtime_error &) noexcept; virtual ~runtime_error() noexcept; virtual const char *what() const noexcept; };
int uncaught_exceptions() noexcept;
}
// What is destroyed when a scope is left, by whatever way.
struct Note { u64 *h; u64 v; Note(u64 *h, u64 v) : h(h), v(v) { *h = *h * 31 + v; } ~Note() { *h = *h * 17 + v; } };
struct Own : std::runtime_error { int code; Own(int c) : std::runtime_error("own"), code(c) {} };
struct Plain { int code; };
NOINLINE static u64 risky(u64 x) { if (x > 1000000) throw Own(3); if (x > 100000) throw Plain{4}; if (x > 50000) throw (int)x; return x * 3 + 1; }
NOINLINE static u64 scopes(u64 *h, u64 x) { Note a(h, 1); { Note b(h, 2); *h += risky(x); if (x & 1) return risky(x + 1); } Note c(h, 3); for (int i = 0; i < 3; i++) { Note d(h, 4 + i); if (i == (int)(x & 3)) continue; *h ^= risky(i); } return risky(x + 2); }
KERNEL void unwinding(u64 *p) { u64 h = 7; for (int i = 0; i < 6; i++) p[8 + i] = scopes(&h, p[i] % 1000); p[14] = h; p[15] = std::uncaught_exceptions(); }
NOINLINE static u64 caught(u64 x, u64 &h) { u64 r = 0; try { Note n(&h, x); r = risky(x); try { r += risky(r % 99); h += r; } catch (int) { h = 1; throw; } } catch (const std::exception &e) { return e.what()[0]; } catch (Plain &q) { return q.code; } catch (...) { r = 99; } return r + h; }
KERNEL void catching(u64 *p) { u64 h = 1; for (int i = 0; i < 8; i++) p[8 + i] = caught(p[i] % 777, h); p[16] = h; }
// Functions that may not throw, and constructors that handle what their members throw.
struct Sub { u64 v; Sub(u64 x) : v(risky(x)) {} };
struct Tried { Sub s; u64 w; Tried(u64 x, u64 &h) try : s(x), w(risky(x + 1)) { h += s.v ^ w; } catch (...) { h = 0; } };
NOINLINE static u64 quiet(u64 x) noexcept { return risky(x) + risky(x / 2); }
static u64 whole(u64 x) try { return risky(x); } catch (int e) { return e; } catch (...) { return 5; }
NOINLINE static u64 once(u64 x) { static u64 v = risky(x); static Note n(&v, 5); return v++; }
struct Thrower { u64 a; Thrower(u64 x) : a(risky(x)) {} };
KERNEL void functions(u64 *p) { u64 h = 0; Tried t(p[0] % 5000, h); p[8] = t.s.v + t.w; p[9] = h; p[10] = quiet(p[1] % 900); p[11] = whole(p[2] % 900); p[12] = once(5); p[13] = once(6); Thrower *q = new Thrower(p[3] % 100); p[14] = q->a; delete q; Thrower *a = new Thrower[3]{1, 2, p[4] % 50}; p[15] = a[0].a + a[1].a + a[2].a; delete[] a; auto f = [&](u64 x) noexcept(false) { Note n(&h, x); return risky(x); }; p[16] = f(7) + f(8) + h; u64 (*g)(u64) = p[5] & 1 ? quiet : risky; try { p[17] = g(p[6] % 1000); } catch (...) { p[17] = 1; } }
NOINLINE static u64 chosen(u64 x) { u64 r; try { switch (x % 4) { case 0: r = risky(1); break; case 1: r = risky(x); [[fallthrough]]; case 2: r = risky(r = 2) + 1; break; default: goto out; } r *= 2; } catch (Plain) { r = 3; } return r; out: return x; }
KERNEL void branches(u64 *p) { for (int i = 0; i < 8; i++) p[8 + i] = chosen(p[i] % 1000); }
// Types at run time: bases of every kind.
struct Base { virtual ~Base() {} int b = 1; }; struct Other { virtual ~Other() {} int o = 2; };
struct Left : virtual Base { int l = 3; }; struct Right : virtual Base { int r = 4; };
struct Diamond : Left, Right, Other { int d = 5; }; struct Deep : Diamond { int e = 6; };
struct Hidden : private Base, public Other { Base *base() { return this; } };
struct One : Base { int x = 7; }; struct Two : Base { int y = 8; }; struct Twice : One, Two { int z = 9; }; struct More : Twice, Other {};
NOINLINE static u64 casts(Base *b) { u64 r = 0; auto put = [&](void *to) { r = r * 1000 + (to ? (u64)((char *)to - (char *)b + 300) : 0); }; put(dynamic_cast<Left *>(b)); put(dynamic_cast<Right *>(b)); put(dynamic_cast<Other *>(b)); put(dynamic_cast<Diamond *>(b)); put(dynamic_cast<Deep *>(b)); put(dynamic_cast<void *>(b)); return r; }
NOINLINE static u64 others(Base *b) { u64 r = 0; auto put = [&](void *to) { r = r * 1000 + (to ? (u64)((char *)to - (char *)b + 300) : 0); }; put(dynamic_cast<One *>(b)); put(dynamic_cast<Two *>(b)); put(dynamic_cast<Twice *>(b)); put(dynamic_cast<Other *>(b)); put(dynamic_cast<Hidden *>(b)); put(dynamic_cast<More *>(b)); return r; }
NOINLINE static u64 sides(Other *o) { u64 r = 0; auto put = [&](void *to) { r = r * 1000 + (to ? (u64)((char *)to - (char *)o + 300) : 0); }; put(dynamic_cast<Base *>(o)); put(dynamic_cast<Left *>(o)); put(dynamic_cast<Hidden *>(o)); put(dynamic_cast<Deep *>(o)); put(dynamic_cast<Twice *>(o)); put(dynamic_cast<One *>(o)); return r; }
KERNEL void classes_at_run_time(u64 *p) { Base b; Left l; Diamond d; Deep e; Hidden h; One o; Twice t; More m; Base *bases[] = {&b, &l, &d, &e, h.base(), &o, (One *)&t, (Two *)&t, (One *)&m, (Two *)&m, nullptr}; int n = 8; for (Base *x : bases) { p[n++] = casts(x); p[n++] = others(x); } Other x; Other *more[] = {&x, &d, &e, &h, &m}; for (Other *y : more) p[n++] = sides(y); p[n++] = dynamic_cast<Diamond &>(*(Base *)&e).d; p[n++] = n; }
NOINLINE static u64 hash(const char *s) { u64 h = 5381; while (*s) h = h * 33 + (u8)*s++; return h; }
template <class T> NOINLINE static u64 named() { return hash(typeid(T).name()); }
KERNEL void types(u64 *p) { Left l; Deep e; Base *b[] = {&l, &e}; for (int i = 0; i < 2; i++) { p[8 + i] = hash(typeid(*b[(i + p[0]) & 1]).name()); p[10 + i] = typeid(*b[i]) == typeid(Deep); } p[12] = named<int>(); p[13] = named<double>() ^ named<u64 *>() ^ named<const char *>() ^ named<void>(); p[14] = named<Plain>(); p[15] = typeid(i32) == typeid(int); p[16] = typeid(int) == typeid(u32); p[17] = named<std::logic_error>() + named<std::exception>(); p[18] = typeid(Base *) == typeid(b[0]); p[19] = named<int (*)(char)>(); }
// The library's exceptions as values.
KERNEL void exceptions(u64 *p) { std::exception e; std::bad_alloc a; std::logic_error l("logic"); std::out_of_range r("range"); Own o(5); const std::exception *all[] = {&e, &a, &l, &r, &o}; for (int i = 0; i < 5; i++) { p[8 + i] = hash(all[(i + p[0] % 5) % 5]->what()); p[13 + i] = hash(typeid(*all[i]).name()); p[18 + i] = dynamic_cast<const std::logic_error *>(all[i]) != nullptr; } std::logic_error copy(l); p[23] = hash(copy.what()); p[24] = o.code; std::exception *q = new std::out_of_range("heap"); p[25] = hash(q->what()); delete q; }
#ifdef __NVPTX__
// What would be thrown is printed.
extern "C" __attribute__((nvptx_kernel)) void thrown(u64 *p, int what) { Base b; try { switch (what) { case 0: risky(60000); break; case 1: risky(200000); break; case 2: risky(2000000); break; case 3: throw std::out_of_range("far out"); case 4: throw std::bad_alloc(); case 5: p[0] = dynamic_cast<Deep &>(b).d; break; case 6: throw "text"; case 7: throw; } } catch (...) { p[0] = 1; } }
#endif
