; The bits of constants of formats that only other machines have.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @constants(ptr %a, ptr %b, ptr %c) {
  store x86_fp80 0xK4000C90FDAA22168C235, ptr %a
  store fp128 0xL8469898CC51701B84000921FB54442D1, ptr %b
  store ppc_fp128 0xM400921FB54442D183CA1A62633145C07, ptr %c
  ret void
}
