; What ranges say: the four functions need no instruction that their ranges make superfluous.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; A 32-bit index below 2^20 is extended by nothing in the address.
define ptx_kernel void @loaded(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %i = load i32, ptr addrspace(1) %p, align 4, !range !0
  %masked = and i32 %i, 1048575
  store i32 %masked, ptr addrspace(1) %q, align 4
  ret void
}

declare range(i32 0, 16) i32 @given(i32)

define i32 @called(i32 %x) {
  %v = call range(i32 0, 16) i32 @given(i32 %x)
  %r = and i32 %v, 15
  ret i32 %r
}

define i32 @parameter(i32 range(i32 0, 256) %x) {
  %r = and i32 %x, 255
  ret i32 %r
}

; Numbers below zero say nothing of the upper bits.
define i32 @negative(i32 range(i32 -4, 4) %x) {
  %r = and i32 %x, 7
  ret i32 %r
}

!0 = !{i32 0, i32 1048576}
