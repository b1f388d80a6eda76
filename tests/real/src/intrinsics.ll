; Intrinsics of the NVPTX backend, address spaces, attributes and metadata of kernels.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [64 x float] poison, align 16
@dynamic = external addrspace(3) global [0 x i8], align 16
@lut = internal unnamed_addr addrspace(4) constant [4 x i16] [i16 1, i16 -2, i16 3, i16 4]
@pointers = addrspace(1) global [2 x ptr addrspace(1)] [ptr addrspace(1) @values, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @values, i64 8)]
@values = addrspace(1) global <{ float, double, [3 x i8] }> <{ float 1.5, double -0.25, [3 x i8] c"ab\00" }>
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare float @llvm.nvvm.ex2.approx.ftz.f(float)
declare float @llvm.nvvm.rcp.rz.f(float)
declare i32 @llvm.nvvm.prmt(i32, i32, i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3))
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, float, float, float, float)
declare <2 x half> @llvm.fma.v2f16(<2 x half>, <2 x half>, <2 x half>)

define ptx_kernel void @warp(ptr addrspace(1) %out) "nvvm.maxntid"="128,2" "nvvm.minctasm"="2" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %l = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %s = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 1, i32 31)
  %c = icmp slt i32 %s, 7
  %v = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %c)
  %b = call i32 @llvm.nvvm.vote.ballot.sync(i32 %l, i1 %v)
  %r = call i32 @llvm.nvvm.redux.sync.add(i32 %b, i32 -1)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %p = call i32 @llvm.nvvm.prmt(i32 %r, i32 %s, i32 21520)
  %f = call i32 @llvm.fshl.i32(i32 %p, i32 %r, i32 %l)
  %k = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %k32 = trunc i64 %k to i32
  %x = xor i32 %k32, %f
  store volatile i32 %x, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @matrix(ptr addrspace(1) %in, ptr addrspace(1) %out, <2 x half> %h) "nvvm.reqntid"="32" {
  call void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3) @tile, ptr addrspace(1) %in)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %m = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) @tile)
  %a = extractvalue {i32, i32} %m, 0
  %b = extractvalue {i32, i32} %m, 1
  %a16 = bitcast i32 %a to <2 x half>
  %b16 = bitcast i32 %b to <2 x half>
  %h2 = call <2 x half> @llvm.fma.v2f16(<2 x half> %a16, <2 x half> %b16, <2 x half> %h)
  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half> %a16, <2 x half> %b16, <2 x half> %h2, float 0.0, float 1.0, float 2.0, float -0.0)
  %d0 = extractvalue {float, float, float, float} %d, 0
  %d3 = extractvalue {float, float, float, float} %d, 3
  %e = call float @llvm.nvvm.ex2.approx.ftz.f(float %d0)
  %q = call float @llvm.nvvm.rcp.rz.f(float %d3)
  %v0 = insertelement <4 x float> poison, float %e, i32 0
  %v1 = insertelement <4 x float> %v0, float %q, i32 1
  %v2 = insertelement <4 x float> %v1, float %d0, i32 2
  %v3 = insertelement <4 x float> %v2, float 0x7FF0000000000000, i32 3
  store <4 x float> %v3, ptr addrspace(1) %out, align 16
  ret void
}

define ptx_kernel void @spaces(ptr %g, ptr byval({i32, [4 x double]}) align 8 %s, i1 %flag, i8 %c, i32 %i) {
  %l = alloca [16 x i32], align 4
  %w = getelementptr [4 x i16], ptr addrspace(4) @lut, i32 0, i32 %i
  %k = load i16, ptr addrspace(4) %w
  %e = getelementptr {i32, [4 x double]}, ptr %s, i32 0, i32 1, i32 %i
  %d = load double, ptr %e
  %n = fptosi double %d to i16
  %sum = add i16 %k, %n
  %x = sext i16 %sum to i32
  %y = select i1 %flag, i32 %x, i32 7
  %a = getelementptr [16 x i32], ptr %l, i32 0, i32 %i
  store i32 %y, ptr %a
  %z = load volatile i32, ptr %l
  %dyn = addrspacecast ptr addrspace(3) @dynamic to ptr
  store i8 %c, ptr %dyn
  %old = atomicrmw add ptr %g, i32 %z syncscope("device") acq_rel
  %old2 = atomicrmw fadd ptr addrspace(1) @values, float 1.0 monotonic
  %pp = load ptr addrspace(1), ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @pointers, i64 8)
  store i32 %old, ptr addrspace(1) %pp
  fence seq_cst
  ret void
}

define i128 @multiply(i128 %a, i128 %b) noinline {
  %p = mul i128 %a, %b
  ret i128 %p
}
