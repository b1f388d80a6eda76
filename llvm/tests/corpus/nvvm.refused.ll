; What is refused by name.
target triple = "nvptx64-nvidia-cuda"
declare bfloat @llvm.nvvm.fma.rn.ftz.bf16(bfloat, bfloat, bfloat)
declare void @llvm.nvvm.tcgen05.mma.shared(ptr addrspace(6), i64, i64, i32, i1, i32, i32, i32)
declare void @llvm.nvvm.exit()
define bfloat @flushed(bfloat %x) {
  %r = call bfloat @llvm.nvvm.fma.rn.ftz.bf16(bfloat %x, bfloat %x, bfloat %x)
  ret bfloat %r
}
define void @tensor_memory() {
  call void @llvm.nvvm.tcgen05.mma.shared(ptr addrspace(6) null, i64 0, i64 0, i32 0, i1 false, i32 0, i32 1, i32 0)
  ret void
}
define i32 @cluster(ptr addrspace(7) %p) {
  %r = load i32, ptr addrspace(7) %p
  ret i32 %r
}
define void @ended() {
  call void @llvm.nvvm.exit()
  ret void
}
define i32 @tensor_access(ptr addrspace(6) %p) {
  %r = load i32, ptr addrspace(6) %p
  ret i32 %r
}
