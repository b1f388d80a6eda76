// Recursion, function pointers, virtual calls, structures passed and returned, printf, assert, the heap, alloca.
#include <cassert>
#include <cstdio>
#include <new>
struct Shape {
    __device__ virtual float area(float scale) const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area(float scale) const override { return side * side * scale; }
};
struct Circle : Shape {
    float radius;
    __device__ Circle(float r) : radius(r) {}
    __device__ float area(float scale) const override { return 3.14159f * radius * radius * scale; }
};
struct Big {
    double x[5];
    char tag;
};
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ Big grow(Big b, int n)
{
    b.x[n & 3] += n;
    b.tag ^= 1;
    return b;
}
typedef int (*Unary)(int);
__device__ __noinline__ int increment(int x) { return x + 1; }
__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ Unary table[2] = {increment, twice};

__global__ void recursion(int *out) { out[threadIdx.x] = factorial(threadIdx.x); }
__global__ void indirect(int *out) { out[threadIdx.x] = table[threadIdx.x & 1](threadIdx.x); }
__global__ void structures(Big *b) { b[0] = grow(b[threadIdx.x], threadIdx.x); }
__global__ void dispatch(float *out)
{
    Shape *shape;
    if (out[0] > 1) shape = new Square(out[1]);
    else shape = new Circle(out[1]);
    out[2] = shape->area(2);
    delete shape;
}
__global__ void talk(int n, float f)
{
    printf("n %d f %f %s\n", n, f, "tail");
    assert(n > 0);
    int *p = (int *)malloc(n);
    *p = n;
    free(p);
}
__global__ void stack(int n, int *out)
{
    int *p = (int *)__builtin_alloca(n * 4);
    for (int i = 0; i < n; i++) p[i] = out[i] * i;
    out[0] = p[n / 2];
}
