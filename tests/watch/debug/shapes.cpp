namespace geo {
struct Base { int id; static int count; };
enum class Kind : unsigned char { Dot, Line = 7 };
struct Shape : Base {
  struct Size { short w, h; } size;
  union { int bits; float weight; };
  unsigned low : 3, high : 5;
  __attribute__((noinline)) float scaled(float by) const { return by * size.w + weight; }
};
int Base::count = 3;
}

typedef const volatile float real;

static __attribute__((noinline)) float twice(float x) { return x + x; }

extern "C" __attribute__((nvptx_kernel)) void shapes(float *out, int n, geo::Kind kind) {
  geo::Shape shape;
  shape.id = n;
  shape.size.w = 3;
  shape.size.h = -4;
  shape.weight = 2.5f;
  shape.low = 5;
  shape.high = 17;
  const float *first = out;
  float *const last = out + 1;
  int geo::Base::*member = &geo::Base::id;
  const int &again = shape.id;
  real half = 0.5f;
  float (*function)(float) = twice;
  geo::Shape *pointers[2] = {&shape, nullptr};
  out[0] = shape.scaled(2) + twice(half);
  out[1] = function(*first) + *last + shape.*member + again + geo::Base::count;
}
