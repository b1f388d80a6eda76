struct Label { const char *text; int length; };
struct Point { int x; float y[3]; };

static __attribute__((noinline)) int sum(Point point, int &total, void *raw) {
  total += point.x;
  return point.x * 2 + *(int *)raw;
}

extern "C" __attribute__((nvptx_kernel)) void pointers(int *out, Point point, int n) {
  Point local = point;
  local.x += n;
  int total = 1;
  void *raw = &total;
  int &&moved = 7;
  const char *name = "warp\tsmith";
  unsigned char *nothing = 0;
  Label labels[2] = {{"one", 3}, {"", 0}};
  for (int i = 0; i < n; i++)
    total = sum(local, total, raw);
  out[0] = total + moved + name[0] + labels[0].length + (nothing != 0);
}
