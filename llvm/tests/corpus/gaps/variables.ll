; What the host may write before a launch, and what is the module's own.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@written = internal addrspace(1) externally_initialized global i32 5, align 4
@merged = linkonce_odr addrspace(1) externally_initialized global i32 6, align 4
@own = internal addrspace(1) global i32 7, align 4

module asm ".weak .global .align 4 .u32 assembled;"

define ptx_kernel void @read(ptr addrspace(1) %out) {
  %a = load i32, ptr addrspace(1) @written
  %b = load i32, ptr addrspace(1) @merged
  %c = load i32, ptr addrspace(1) @own
  %d = call i32 asm "ld.global.u32 $0, [assembled];", "=r"()
  %ab = add i32 %a, %b
  %cd = mul i32 %c, %d
  %all = xor i32 %ab, %cd
  store i32 %all, ptr addrspace(1) %out
  ret void
}
