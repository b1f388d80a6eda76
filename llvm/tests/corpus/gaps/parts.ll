; What only assembly has: parts of registers, and a carry that one instruction leaves to the next.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @parts(ptr %out) {
  %zero = load i64, ptr %out
  %z = trunc i64 %zero to i32
  %w = add i32 %z, 50594050
  %video = call i32 asm "vadd.s32.u32.s32.sat $0, $1.b1, $2.b2;", "=r,r,r"(i32 %w, i32 %w)
  %video64 = zext i32 %video to i64
  store i64 %video64, ptr %out
  %minus = add i32 %z, -1
  %low = call i32 asm sideeffect "add.cc.u32 $0, $1, $2;", "=r,r,r"(i32 %minus, i32 7)
  %high = call i32 asm sideeffect "addc.u32 $0, $1, $2;", "=r,r,r"(i32 %minus, i32 %minus)
  %low64 = zext i32 %low to i64
  %high64 = zext i32 %high to i64
  %1 = getelementptr i64, ptr %out, i64 1
  store i64 %low64, ptr %1
  %2 = getelementptr i64, ptr %out, i64 2
  store i64 %high64, ptr %2
  ret void
}
