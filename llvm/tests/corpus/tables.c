// Initialisers that hold addresses: of functions, of strings, of variables.
#define KERNEL __attribute__((device_kernel))

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
typedef int (*Binary)(int, int);
static const Binary table[] = {add, sub, mul};
static const char *const words[] = {"zero", "one", "two"};
static int counter = 40;
static int *const pointer = &counter;

KERNEL void tables(int *p) {
  for (int i = 0; i < 3; ++i) p[3 + i] = table[i](p[0], p[1]);
  for (int i = 0; i < 3; ++i) p[6 + i] = words[i][p[2]];
  *pointer += p[0];
  p[9] = counter;
}
