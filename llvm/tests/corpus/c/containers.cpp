// What programs that include libstdc++'s headers need of its compiled part: trees, lists, hashes.
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include "kernel.h"
#undef KERNEL
#ifdef __NVPTX__
#define KERNEL extern "C" __attribute__((nvptx_kernel))
#else
#define KERNEL extern "C"
#endif
// A tree's black nodes on each path, or -1 where it is no red-black tree or a node is not below its parent.
struct Node { int colour; Node *parent, *left, *right; };
NOINLINE static int height(const Node *n, const Node *parent) { if (!n) return 0; if (n->parent != parent) return -1; if (n->colour == 0 && ((n->left && n->left->colour == 0) || (n->right && n->right->colour == 0))) return -1; int l = height(n->left, n), r = height(n->right, n); return l < 0 || l != r ? -1 : l + (n->colour == 1); }
template <class T> static int check(const T &t) { const Node *h = (const Node *)t.end()._M_node; if (h->parent && h->parent->colour != 1) return -1; return height(h->parent, h); }
template <class T> static u64 sum(const T &t) { u64 h = 0; for (auto &[k, v] : t) h = h * 31 + k * 7 + v; return h; }
KERNEL void trees(u64 *p) { std::map<u32, u64> m; u64 h = 0; int bad = 0; u32 x = p[0]; for (int i = 0; i < 300; i++) { x = x * 1664525 + 1013904223; u32 k = (x >> 16) % 97; if (x >> 13 & 1) m[k] += i; else m.erase(k); if (i % 10 == 0) { bad += check(m) < 0; h ^= sum(m); } } p[8] = h; p[9] = bad; p[10] = m.size(); u64 back = 0; for (auto it = m.rbegin(); it != m.rend(); ++it) back = back * 3 + it->first; p[11] = back; auto it = m.lower_bound(40); p[12] = it->first; p[13] = std::prev(it)->first + std::next(it)->second; while (!m.empty()) { m.erase(std::next(m.begin(), m.size() / 2)); bad += check(m) < 0; } p[14] = bad; std::multiset<u64> s(p, p + 8); for (int i = 0; i < 8; i++) s.insert(p[i] % 10); p[15] = s.count(p[0] % 10); p[16] = *s.begin() ^ *s.rbegin(); std::multiset<u64> t = s; s.clear(); p[17] = check(t) > 0; p[18] = t.size(); for (int i = 0; i < 200; i++) s.insert(i); p[19] = check(s); for (int i = 0; i < 200; i += 2) s.erase(199 - i); p[20] = check(s) > 0; p[21] = *s.rbegin(); }
KERNEL void lists(u64 *p) { std::list<u64> l(p, p + 8), o{5, 3, 4}; l.sort(); l.reverse(); o.sort(); p[8] = l.front(); p[9] = o.front() * 10 + o.back(); l.splice(std::next(l.begin(), 3), o); p[10] = l.size() * 10 + o.size(); l.remove_if([](u64 x) { return x & 1; }); u64 h = 0; for (u64 x : l) h = h * 31 + x; p[11] = h; o.assign(3, 9); o.merge(l); std::swap(l, o); p[12] = l.size(); p[13] = *std::next(l.begin()); o.unique(); l.erase(l.begin()); l.push_front(1); l.pop_back(); h = 0; for (auto i = l.rbegin(); i != l.rend(); ++i) h = h * 17 + *i; p[14] = h; std::list<u64> e, f{1, 2}; std::swap(e, f); p[15] = e.size() * 10 + f.empty(); std::swap(e, f); p[16] = f.back(); }
KERNEL void buckets(u64 *p) { std::unordered_map<u64, int> m; for (int i = 0; i < 200; i++) m[p[i % 8] % (17 + i)]++; u64 s = 0, x = 0; for (auto &[k, v] : m) { s += k * v * v; x ^= k + v; } p[8] = s; p[9] = x; p[10] = m.size(); p[11] = m.count(3) + m.contains(5) * 2; for (int i = 0; i < 100; i += 3) m.erase(i); p[12] = m.size(); p[13] = m.load_factor() <= m.max_load_factor(); std::unordered_set<std::string_view> t{"a", "bc", "def", "a"}; t.reserve(100); t.insert("zz"); p[14] = t.size() * 10 + t.contains("bc"); auto c = m; c.rehash(500); p[15] = c == m; p[16] = c.bucket_count() >= 500; m.clear(); p[17] = m.empty(); }
KERNEL void hashes(u64 *p) { const char *s = (const char *)p; u64 h = 0; for (int n = 0; n < 40; n++) h = h * 31 + std::hash<std::string_view>{}(std::string_view(s + n % 5, n)); p[8] = h; p[9] = std::hash<std::string_view>{}(""); using namespace std::placeholders; auto b = std::bind(std::minus<i64>{}, _2, _1); p[10] = b(p[0], p[1]); }
