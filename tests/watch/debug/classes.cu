enum Color { RED, GREEN = 5, BLUE = -3 };
enum class Mode : unsigned char { Off, On = 200 };
struct Vec { float x, y, z; };
struct Node { int value; Node *next; Vec pos; Color color; };

__device__ __noinline__ int fact(int n)
{
  if (n <= 1)
    return 1;
  return n * fact(n - 1);
}

__device__ __noinline__ float norm(const Vec &v, bool squared)
{
  float r = v.x * v.x + v.y * v.y + v.z * v.z;
  return squared ? r : sqrtf(r);
}

__global__ void classes(int n, float *data)
{
  Node node = {n, nullptr, {1, 2, 2}, BLUE};
  node.next = &node;
  Vec &pos = node.pos;
  Mode mode = Mode::On;
  char letter = 'A' + n;
  int matrix[2][3] = {{1, 2, 3}, {4, 5, n}};
  float all = norm(pos, n > 2);
  data[0] = all + fact(n) + matrix[1][2] + letter + (int)mode + node.color;
}
