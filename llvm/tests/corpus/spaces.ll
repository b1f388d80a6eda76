; Assembly that converts the pointers that it is given, as CUDA's libraries do.
target triple = "nvptx64-nvidia-cuda"

@line = internal addrspace(3) global [32 x i32] undef

define ptx_kernel void @converted(ptr %p) {
  call void asm sideeffect "{ .reg .b64 %a; cvta.to.global.u64 %a, $0; st.global.u32 [%a], 7; }", "l"(ptr %p)
  %line = addrspacecast ptr addrspace(3) @line to ptr
  call void asm sideeffect "{ .reg .b64 %a; cvta.to.shared.u64 %a, $0; st.shared.u32 [%a+4], 9; }", "l"(ptr %line)
  %four = getelementptr i32, ptr addrspace(3) @line, i64 1
  %read = load volatile i32, ptr addrspace(3) %four
  %next = getelementptr i32, ptr %p, i64 1
  store i32 %read, ptr %next
  ret void
}
