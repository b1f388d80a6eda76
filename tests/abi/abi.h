// What crosses the boundary between functions: one of each class of types.
struct Small { signed char a; short b; };
struct Mixed { signed char a; int b; double c; };
struct __attribute__((packed)) Packed { signed char a; int b; short c; };
struct Row { int x[9]; };
struct Big { double d[8]; };
struct alignas(16) Wide { float x; };
union Both { int i; float f; char c[6]; };
struct Nested { Small s[2]; float2 v; };
struct One { signed char c; };
struct Three { signed char c[3]; };
struct Half { unsigned short h; };

extern "C" {
__device__ signed char f_schar(signed char x);
__device__ unsigned char f_uchar(unsigned char x);
__device__ short f_short(short x);
__device__ bool f_bool(bool x);
__device__ long long f_long(int a, long long b, float c, double d);
__device__ Small f_small(Small s);
__device__ Mixed f_mixed(Mixed m, signed char k);
__device__ Packed f_packed(Packed p);
__device__ Row f_row(Row r, int n);
__device__ Big f_big(Big b);
__device__ Wide f_wide(Wide w);
__device__ Both f_both(Both u);
__device__ Nested f_nested(Nested n);
__device__ float4 f_float4(float4 v);
__device__ One f_one(One o);
__device__ Three f_three(Three o);
__device__ Half f_half(Half h);
__device__ int f_apply(int (*f)(int, Small), int x);
}
