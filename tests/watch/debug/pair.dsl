// A kernel of a small language: through a struct, an inlined function, a shared tile and a loop.
struct pair { n: int, x: float }
enum mode { slow, fast = 5 }
shared tile: float[64]

inline fn madd(u: float, v: float) -> float {
  let product = u * v
  return product + 1.0
}

kernel saxpy(n: int, a: float, x: *float, y: *float) {
  let i = block * width + thread
  var how: mode = fast
  if i < n {
    var here: pair
    here.n = i
    here.x = x[i]
    var acc: float = madd(a, here.x)
    tile[thread] = acc
    barrier
    let other = tile[thread ^ 1]
    for j in 0 .. 3 {
      acc = acc + other
    }
    y[i] = acc
  }
}
