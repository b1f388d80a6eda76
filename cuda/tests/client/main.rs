//! A client of the library as any other: it opens the built `libcuda`, looks up functions by name, and calls them through pointers.

#[macro_use]
mod library;
mod answers;
mod concurrency;
mod errors;
mod graphs;
mod launches;
mod links;
mod memory;
mod processes;
mod textures;
mod virtual_memory;

/// `y[i] = a * x[i] + y[i]`
const SAXPY: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    .reg .f32 %f<5>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    ld.param.u32 %r5, [n];
    setp.ge.u32 %p, %r4, %r5;
    @%p ret;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.f32 %f1, [a];
    mad.wide.u32 %rd3, %r4, 4, %rd1;
    mad.wide.u32 %rd4, %r4, 4, %rd2;
    ld.global.f32 %f2, [%rd3];
    ld.global.f32 %f3, [%rd4];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd4], %f4;
    ret;
}
";

/// Adds a constant to a counter; the host can set both.
const COUNTER: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .const .align 4 .u32 step = 1;
.visible .entry count(.param .u32 times)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r0, [times];
    ld.const.u32 %r1, [step];
    mul.lo.u32 %r2, %r0, %r1;
    atom.global.add.u32 %r3, [counter], %r2;
    ret;
}
";
