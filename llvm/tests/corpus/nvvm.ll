; One call of each family of `llvm.nvvm.*`, and the instruction that it is: what llc-22 writes too, but for defaults that are spelt out.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn.relu(float, float)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn.relu.satfinite(float, float)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn.satfinite(float, float)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rs(float, float, i32)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rs.relu(float, float, i32)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rs.relu.satfinite(float, float, i32)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rs.satfinite(float, float, i32)
declare <2 x bfloat> @llvm.nvvm.ue8m0x2.to.bf16x2(i16)
declare <2 x half> @llvm.nvvm.e2m1x2.to.f16x2.rn(i16)
declare <2 x half> @llvm.nvvm.e2m1x2.to.f16x2.rn.relu(i16)
declare <2 x half> @llvm.nvvm.ff2f16x2.rn(float, float)
declare <2 x half> @llvm.nvvm.ff2f16x2.rn.relu(float, float)
declare <2 x half> @llvm.nvvm.ff2f16x2.rn.relu.satfinite(float, float)
declare <2 x half> @llvm.nvvm.ff2f16x2.rn.satfinite(float, float)
declare <2 x half> @llvm.nvvm.ff2f16x2.rs(float, float, i32)
declare <2 x half> @llvm.nvvm.ff2f16x2.rs.relu(float, float, i32)
declare <2 x half> @llvm.nvvm.ff2f16x2.rs.relu.satfinite(float, float, i32)
declare <2 x half> @llvm.nvvm.ff2f16x2.rs.satfinite(float, float, i32)
declare bfloat @llvm.nvvm.f2bf16.rn(float)
declare bfloat @llvm.nvvm.f2bf16.rn.relu(float)
declare bfloat @llvm.nvvm.f2bf16.rn.relu.satfinite(float)
declare bfloat @llvm.nvvm.f2bf16.rn.satfinite(float)
declare bfloat @llvm.nvvm.fmax.bf16(bfloat, bfloat)
declare bfloat @llvm.nvvm.fmax.nan.bf16(bfloat, bfloat)
declare bfloat @llvm.nvvm.fmax.nan.xorsign.abs.bf16(bfloat, bfloat)
declare bfloat @llvm.nvvm.fmax.xorsign.abs.bf16(bfloat, bfloat)
declare bfloat @llvm.nvvm.fmin.bf16(bfloat, bfloat)
declare bfloat @llvm.nvvm.fmin.nan.bf16(bfloat, bfloat)
declare bfloat @llvm.nvvm.fmin.nan.xorsign.abs.bf16(bfloat, bfloat)
declare bfloat @llvm.nvvm.fmin.xorsign.abs.bf16(bfloat, bfloat)
declare bfloat @llvm.nvvm.neg.bf16(bfloat)
declare double @llvm.nvvm.add.rm.d(double, double)
declare double @llvm.nvvm.ceil.d(double)
declare double @llvm.nvvm.div.rm.d(double, double)
declare double @llvm.nvvm.floor.d(double)
declare double @llvm.nvvm.fma.rm.d(double, double, double)
declare double @llvm.nvvm.i2d.rm(i32)
declare double @llvm.nvvm.ll2d.rm(i64)
declare double @llvm.nvvm.lohi.i2d(i32, i32)
declare double @llvm.nvvm.mul.rm.d(double, double)
declare double @llvm.nvvm.rcp.approx.ftz.d(double)
declare double @llvm.nvvm.rcp.rm.d(double)
declare double @llvm.nvvm.round.d(double)
declare double @llvm.nvvm.rsqrt.approx.d(double)
declare double @llvm.nvvm.rsqrt.approx.ftz.d(double)
declare double @llvm.nvvm.saturate.d(double)
declare double @llvm.nvvm.sqrt.rm.d(double)
declare double @llvm.nvvm.trunc.d(double)
declare double @llvm.nvvm.ui2d.rm(i32)
declare double @llvm.nvvm.ull2d.rm(i64)
declare float @llvm.nvvm.add.rm.ftz.sat.f(float, float)
declare float @llvm.nvvm.ceil.ftz.f(float)
declare float @llvm.nvvm.cos.approx.f(float)
declare float @llvm.nvvm.cos.approx.ftz.f(float)
declare float @llvm.nvvm.d2f.rm(double)
declare float @llvm.nvvm.d2f.rm.ftz(double)
declare float @llvm.nvvm.div.approx.f(float, float)
declare float @llvm.nvvm.div.approx.ftz.f(float, float)
declare float @llvm.nvvm.div.full(float, float)
declare float @llvm.nvvm.div.full.ftz(float, float)
declare float @llvm.nvvm.ex2.approx.f32(float)
declare float @llvm.nvvm.ex2.approx.ftz.f32(float)
declare float @llvm.nvvm.fabs.f32(float)
declare float @llvm.nvvm.fabs.ftz.f32(float)
declare float @llvm.nvvm.floor.ftz.f(float)
declare float @llvm.nvvm.fma.rm.ftz.sat.f(float, float, float)
declare float @llvm.nvvm.i2f.rm(i32)
declare float @llvm.nvvm.ldu.global.f.f32.p0(ptr, i32)
declare <4 x i32> @llvm.nvvm.ldu.global.i.v4i32.p0(ptr, i32)
declare float @llvm.nvvm.lg2.approx.ftz.f(float)
declare float @llvm.nvvm.ll2f.rm(i64)
declare float @llvm.nvvm.redux.sync.fmax(float, i32)
declare float @llvm.nvvm.redux.sync.fmax.NaN(float, i32)
declare float @llvm.nvvm.redux.sync.fmax.abs(float, i32)
declare float @llvm.nvvm.redux.sync.fmax.abs.NaN(float, i32)
declare float @llvm.nvvm.redux.sync.fmin(float, i32)
declare float @llvm.nvvm.redux.sync.fmin.NaN(float, i32)
declare float @llvm.nvvm.redux.sync.fmin.abs(float, i32)
declare float @llvm.nvvm.redux.sync.fmin.abs.NaN(float, i32)
declare float @llvm.nvvm.round.ftz.f(float)
declare float @llvm.nvvm.saturate.ftz.f(float)
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)
declare float @llvm.nvvm.shfl.sync.idx.f32(i32, float, i32, i32)
declare float @llvm.nvvm.shfl.sync.up.f32(i32, float, i32, i32)
declare float @llvm.nvvm.sin.approx.f(float)
declare float @llvm.nvvm.sin.approx.ftz.f(float)
declare float @llvm.nvvm.sqrt.approx.f(float)
declare float @llvm.nvvm.sqrt.approx.ftz.f(float)
declare float @llvm.nvvm.sqrt.f(float)
declare float @llvm.nvvm.trunc.ftz.f(float)
declare float @llvm.nvvm.ui2f.rm(i32)
declare float @llvm.nvvm.ull2f.rm(i64)
declare half @llvm.nvvm.f2f16.rn(float)
declare half @llvm.nvvm.f2f16.rn.relu(float)
declare half @llvm.nvvm.f2f16.rn.relu.satfinite(float)
declare half @llvm.nvvm.f2f16.rn.satfinite(float)
declare i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.and.aligned.count(i32, i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.and.all(i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.and.count(i32, i32, i1)
declare i1 @llvm.nvvm.clusterlaunchcontrol.query_cancel.is_canceled(i128)
declare i1 @llvm.nvvm.isspacep.const(ptr)
declare i1 @llvm.nvvm.isspacep.global(ptr)
declare i1 @llvm.nvvm.isspacep.local(ptr)
declare i1 @llvm.nvvm.isspacep.shared(ptr)
declare i1 @llvm.nvvm.isspacep.shared.cluster(ptr)
declare i1 @llvm.nvvm.istypep.sampler(i64)
declare i1 @llvm.nvvm.istypep.surface(i64)
declare i1 @llvm.nvvm.istypep.texture(i64)
declare i1 @llvm.nvvm.mbarrier.test.wait(ptr, i64)
declare i1 @llvm.nvvm.mbarrier.test.wait.parity.relaxed.scope.cluster.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.test.wait.parity.scope.cluster.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.test.wait.relaxed.scope.cluster.space.cta(ptr addrspace(3), i64)
declare i1 @llvm.nvvm.mbarrier.test.wait.scope.cluster.space.cta(ptr addrspace(3), i64)
declare i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3), i64)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.relaxed.scope.cluster.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cluster.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.tl.relaxed.scope.cluster.space.cta(ptr addrspace(3), i32, i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.tl.scope.cluster.space.cta(ptr addrspace(3), i32, i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.relaxed.scope.cluster.space.cta(ptr addrspace(3), i64)
declare i1 @llvm.nvvm.mbarrier.try.wait.scope.cluster.space.cta(ptr addrspace(3), i64)
declare i1 @llvm.nvvm.mbarrier.try.wait.tl.relaxed.scope.cluster.space.cta(ptr addrspace(3), i64, i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.tl.scope.cluster.space.cta(ptr addrspace(3), i64, i32)
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i1 @llvm.nvvm.vote.uni.sync(i32, i1)
declare i16 @llvm.nvvm.bf16x2.to.ue8m0x2.rp(<2 x bfloat>)
declare i16 @llvm.nvvm.bf16x2.to.ue8m0x2.rp.satfinite(<2 x bfloat>)
declare i16 @llvm.nvvm.bf2h.rn(bfloat)
declare i16 @llvm.nvvm.f2h.rn(float)
declare i16 @llvm.nvvm.f2h.rn.ftz(float)
declare i16 @llvm.nvvm.f32x4.to.e2m1x4.rs.relu.satfinite(<4 x float>, i32)
declare i16 @llvm.nvvm.f32x4.to.e2m1x4.rs.satfinite(<4 x float>, i32)
declare i16 @llvm.nvvm.ff.to.e2m1x2.rn.relu.satfinite(float, float)
declare i16 @llvm.nvvm.ff.to.e2m1x2.rn.satfinite(float, float)
declare i16 @llvm.nvvm.ff.to.e4m3x2.rn(float, float)
declare i16 @llvm.nvvm.ff.to.e4m3x2.rn.relu(float, float)
declare i16 @llvm.nvvm.ff.to.ue8m0x2.rp(float, float)
declare i16 @llvm.nvvm.ff.to.ue8m0x2.rp.satfinite(float, float)
declare i16 @llvm.nvvm.move.i16(i16)
declare i16 @llvm.nvvm.mulhi.s(i16, i16)
declare i16 @llvm.nvvm.mulhi.us(i16, i16)
declare i16 @llvm.nvvm.sad.s(i16, i16, i16)
declare i16 @llvm.nvvm.sad.us(i16, i16, i16)
declare i16 @llvm.nvvm.suld.1d.array.i16.clamp(i64, i32, i32)
declare i16 @llvm.nvvm.suld.1d.i16.clamp(i64, i32)
declare i32 @llvm.nvvm.activemask()
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.count(i32, i32, i1)
declare i32 @llvm.nvvm.barrier.cta.red.popc.all(i32, i1)
declare i32 @llvm.nvvm.barrier.cta.red.popc.count(i32, i32, i1)
declare i32 @llvm.nvvm.bmsk.clamp(i32, i32)
declare i32 @llvm.nvvm.bmsk.wrap(i32, i32)
declare i32 @llvm.nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.x(i128)
declare i32 @llvm.nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.y(i128)
declare i32 @llvm.nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.z(i128)
declare i32 @llvm.nvvm.d2i.hi(double)
declare i32 @llvm.nvvm.d2i.lo(double)
declare i32 @llvm.nvvm.d2i.rm(double)
declare i32 @llvm.nvvm.d2ui.rm(double)
declare i32 @llvm.nvvm.f2i.rm(float)
declare i32 @llvm.nvvm.f2i.rm.ftz(float)
declare i32 @llvm.nvvm.f2tf32.rn(float)
declare i32 @llvm.nvvm.f2tf32.rn.relu(float)
declare i32 @llvm.nvvm.f2tf32.rn.relu.satfinite(float)
declare i32 @llvm.nvvm.f2tf32.rn.satfinite(float)
declare i32 @llvm.nvvm.f2tf32.rna(float)
declare i32 @llvm.nvvm.f2tf32.rna.satfinite(float)
declare i32 @llvm.nvvm.f2ui.rm(float)
declare i32 @llvm.nvvm.f2ui.rm.ftz(float)
declare i32 @llvm.nvvm.flo.s.i32(i32, i1)
declare i32 @llvm.nvvm.flo.u.i32(i32, i1)
declare i32 @llvm.nvvm.fns(i32, i32, i32)
declare i32 @llvm.nvvm.fshl.clamp.i32(i32, i32, i32)
declare i32 @llvm.nvvm.fshr.clamp.i32(i32, i32, i32)
declare i32 @llvm.nvvm.getctarank(ptr)
declare i32 @llvm.nvvm.getctarank.shared.cluster(ptr addrspace(3))
declare i32 @llvm.nvvm.idp2a.s.s(i32, i32, i1, i32)
declare i32 @llvm.nvvm.idp2a.s.u(i32, i32, i1, i32)
declare i32 @llvm.nvvm.idp2a.u.s(i32, i32, i1, i32)
declare i32 @llvm.nvvm.idp2a.u.u(i32, i32, i1, i32)
declare i32 @llvm.nvvm.idp4a.s.s(i32, i32, i32)
declare i32 @llvm.nvvm.idp4a.s.u(i32, i32, i32)
declare i32 @llvm.nvvm.idp4a.u.s(i32, i32, i32)
declare i32 @llvm.nvvm.idp4a.u.u(i32, i32, i32)
declare i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64.p0(ptr)
declare i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32.p0(ptr)
declare i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p0(ptr)
declare i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p0(ptr)
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare i32 @llvm.nvvm.mbarrier.pending.count(i64)
declare i32 @llvm.nvvm.mul24.i(i32, i32)
declare i32 @llvm.nvvm.mulhi.i(i32, i32)
declare i32 @llvm.nvvm.prmt(i32, i32, i32)
declare i32 @llvm.nvvm.prmt.b4e(i32, i32, i32)
declare i32 @llvm.nvvm.prmt.ecl(i32, i32)
declare i32 @llvm.nvvm.prmt.ecr(i32, i32)
declare i32 @llvm.nvvm.prmt.f4e(i32, i32, i32)
declare i32 @llvm.nvvm.prmt.rc16(i32, i32)
declare i32 @llvm.nvvm.prmt.rc8(i32, i32)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.redux.sync.umax(i32, i32)
declare i32 @llvm.nvvm.redux.sync.umin(i32, i32)
declare i32 @llvm.nvvm.sad.i(i32, i32, i32)
declare i32 @llvm.nvvm.sext.clamp(i32, i32)
declare i32 @llvm.nvvm.sext.wrap(i32, i32)
declare i32 @llvm.nvvm.suq.array.size(i64)
declare i32 @llvm.nvvm.suq.channel.data.type(i64)
declare i32 @llvm.nvvm.suq.channel.order(i64)
declare i32 @llvm.nvvm.suq.depth(i64)
declare i32 @llvm.nvvm.suq.height(i64)
declare i32 @llvm.nvvm.suq.width(i64)
declare i32 @llvm.nvvm.txq.array.size(i64)
declare i32 @llvm.nvvm.txq.channel.data.type(i64)
declare i32 @llvm.nvvm.txq.channel.order(i64)
declare i32 @llvm.nvvm.txq.depth(i64)
declare i32 @llvm.nvvm.txq.height(i64)
declare i32 @llvm.nvvm.txq.num.mipmap.levels(i64)
declare i32 @llvm.nvvm.txq.num.samples(i64)
declare i32 @llvm.nvvm.txq.width(i64)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.zext.clamp(i32, i32)
declare i32 @llvm.nvvm.zext.wrap(i32, i32)
declare i64 @llvm.nvvm.d2ll.rm(double)
declare i64 @llvm.nvvm.d2ull.rm(double)
declare i64 @llvm.nvvm.f2ll.rm(float)
declare i64 @llvm.nvvm.f2ll.rm.ftz(float)
declare i64 @llvm.nvvm.f2ull.rm(float)
declare i64 @llvm.nvvm.f2ull.rm.ftz(float)
declare i64 @llvm.nvvm.mbarrier.arrive(ptr)
declare i64 @llvm.nvvm.mbarrier.arrive.drop(ptr)
declare i64 @llvm.nvvm.mbarrier.arrive.drop.noComplete(ptr, i32)
declare i64 @llvm.nvvm.mbarrier.arrive.drop.noComplete.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.drop.shared(ptr addrspace(3))
declare i64 @llvm.nvvm.mbarrier.arrive.noComplete(ptr, i32)
declare i64 @llvm.nvvm.mbarrier.arrive.noComplete.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
declare ptr @llvm.nvvm.ldu.global.p.p0.p0(ptr, i32)
declare ptr @llvm.nvvm.mapa(ptr, i32)
declare ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3), i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.barrier.cluster.arrive()
declare void @llvm.nvvm.barrier.cluster.arrive.aligned()
declare void @llvm.nvvm.barrier.cluster.arrive.relaxed()
declare void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned()
declare void @llvm.nvvm.barrier.cluster.wait()
declare void @llvm.nvvm.barrier.cluster.wait.aligned()
declare void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.arrive.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.count(i32, i32)
declare void @llvm.nvvm.clusterlaunchcontrol.try_cancel.async.multicast.shared(ptr addrspace(3), ptr addrspace(3))
declare void @llvm.nvvm.clusterlaunchcontrol.try_cancel.async.shared(ptr addrspace(3), ptr addrspace(3))
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(ptr addrspace(7), ptr addrspace(3), ptr addrspace(1), i32, i16, i64, i1, i1)
declare void @llvm.nvvm.cp.async.bulk.prefetch.L2(ptr addrspace(1), i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.cluster(ptr addrspace(7), ptr addrspace(3), ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1), ptr addrspace(3), i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.global.bytemask(ptr addrspace(1), ptr addrspace(3), i32, i64, i1, i16)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.im2col.3d(ptr addrspace(3), ptr addrspace(3), ptr, i32, i32, i32, i16, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.im2col.w.128.3d(ptr addrspace(3), ptr addrspace(3), ptr, i32, i32, i32, i16, i16, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.im2col.w.3d(ptr addrspace(3), ptr addrspace(3), ptr, i32, i32, i32, i16, i16, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.1d(ptr addrspace(3), ptr addrspace(3), ptr, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.gather4.2d(ptr addrspace(3), ptr addrspace(3), ptr, i32, i32, i32, i32, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.im2col.3d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i32, i16, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.im2col.w.128.3d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i32, i16, i16, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.im2col.w.3d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i32, i16, i16, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.1d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.gather4.2d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i32, i32, i32, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.prefetch.im2col.3d(ptr, i32, i32, i32, i16, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.prefetch.im2col.w.128.3d(ptr, i32, i32, i32, i16, i16, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.prefetch.im2col.w.3d(ptr, i32, i32, i32, i16, i16, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.prefetch.tile.1d(ptr, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.prefetch.tile.gather4.2d(ptr, i32, i32, i32, i32, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.reduce.add.im2col.3d(ptr addrspace(3), ptr, i32, i32, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.reduce.add.tile.1d(ptr addrspace(3), ptr, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.s2g.im2col.3d(ptr addrspace(3), ptr, i32, i32, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.1d(ptr addrspace(3), ptr, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.scatter4.2d(ptr addrspace(3), ptr, i32, i32, i32, i32, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.wait.group(i32)
declare void @llvm.nvvm.cp.async.bulk.wait.group.read(i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.ca.shared.global.16.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.mbarrier.arrive(ptr)
declare void @llvm.nvvm.cp.async.mbarrier.arrive.noinc(ptr)
declare void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3))
declare void @llvm.nvvm.cp.async.mbarrier.arrive.shared(ptr addrspace(3))
declare void @llvm.nvvm.cp.async.wait.all()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare void @llvm.nvvm.fence.acquire.sync_restrict.space.cluster.scope.cluster()
declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()
declare void @llvm.nvvm.fence.proxy.alias()
declare void @llvm.nvvm.fence.proxy.async()
declare void @llvm.nvvm.fence.proxy.async.global()
declare void @llvm.nvvm.fence.proxy.async.shared_cluster()
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.fence.proxy.async_generic.acquire.sync_restrict.space.cluster.scope.cluster()
declare void @llvm.nvvm.fence.proxy.async_generic.release.sync_restrict.space.cta.scope.cluster()
declare void @llvm.nvvm.fence.proxy.tensormap_generic.acquire.cluster(ptr, i32)
declare void @llvm.nvvm.fence.proxy.tensormap_generic.release.cluster()
declare void @llvm.nvvm.fence.release.sync_restrict.space.cta.scope.cluster()
declare void @llvm.nvvm.fence.sc.cluster()
declare void @llvm.nvvm.griddepcontrol.launch.dependents()
declare void @llvm.nvvm.griddepcontrol.wait()
declare void @llvm.nvvm.mbarrier.arrive.drop.expect.tx.relaxed.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.arrive.drop.expect.tx.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.arrive.drop.relaxed.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.arrive.drop.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.arrive.expect.tx.relaxed.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.arrive.relaxed.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.arrive.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.complete.tx.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.expect.tx.scope.cluster.space.cluster(ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.init(ptr, i32)
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare void @llvm.nvvm.mbarrier.inval(ptr)
declare void @llvm.nvvm.mbarrier.inval.shared(ptr addrspace(3))
declare void @llvm.nvvm.membar.cta()
declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.nanosleep(i32)
declare void @llvm.nvvm.pm.event.mask(i16)
declare void @llvm.nvvm.prefetch.L1(ptr)
declare void @llvm.nvvm.prefetch.L2(ptr)
declare void @llvm.nvvm.prefetch.global.L1(ptr addrspace(1))
declare void @llvm.nvvm.prefetch.global.L2(ptr addrspace(1))
declare void @llvm.nvvm.prefetch.global.L2.evict.last(ptr addrspace(1))
declare void @llvm.nvvm.prefetch.global.L2.evict.normal(ptr addrspace(1))
declare void @llvm.nvvm.prefetch.local.L1(ptr addrspace(5))
declare void @llvm.nvvm.prefetch.local.L2(ptr addrspace(5))
declare void @llvm.nvvm.prefetch.tensormap.p0(ptr)
declare void @llvm.nvvm.prefetchu.L1(ptr)
declare void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32)
declare void @llvm.nvvm.st.bulk(ptr, i64, i64)
declare void @llvm.nvvm.stmatrix.sync.aligned.m16n8.x1.trans.b8.p0(ptr, i32)
declare void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.b16.p0(ptr, i32)
declare void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16.p0(ptr, i32)
declare void @llvm.nvvm.sust.b.1d.array.i16.clamp(i64, i32, i32, i16)
declare void @llvm.nvvm.sust.b.1d.i16.clamp(i64, i32, i16)
declare void @llvm.nvvm.tensormap.replace.box.dim.p0(ptr, i32, i32)
declare void @llvm.nvvm.tensormap.replace.element.stride.p0(ptr, i32, i32)
declare void @llvm.nvvm.tensormap.replace.elemtype.p0(ptr, i32)
declare void @llvm.nvvm.tensormap.replace.fill.mode.p0(ptr, i32)
declare void @llvm.nvvm.tensormap.replace.global.address.p0(ptr, i64)
declare void @llvm.nvvm.tensormap.replace.global.dim.p0(ptr, i32, i32)
declare void @llvm.nvvm.tensormap.replace.global.stride.p0(ptr, i32, i64)
declare void @llvm.nvvm.tensormap.replace.interleave.layout.p0(ptr, i32)
declare void @llvm.nvvm.tensormap.replace.rank.p0(ptr, i32)
declare void @llvm.nvvm.tensormap.replace.swizzle.atomicity.p0(ptr, i32)
declare void @llvm.nvvm.tensormap.replace.swizzle.mode.p0(ptr, i32)
declare void @llvm.nvvm.wmma.m16n16k16.store.d.col.f16.p0(ptr, <2 x half>, <2 x half>, <2 x half>, <2 x half>)
declare void @llvm.nvvm.wmma.m16n16k16.store.d.col.stride.f16.p0(ptr, <2 x half>, <2 x half>, <2 x half>, <2 x half>, i32)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.1d.array.grad.v4f32.f32(i64, i64, i32, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.1d.array.level.v4f32.f32(i64, i64, i32, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.1d.array.v4f32.f32(i64, i64, i32, float)
declare { float, float, float, float } @llvm.nvvm.tex.1d.grad.v4f32.f32(i64, i64, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.1d.level.v4f32.f32(i64, i64, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.1d.v4f32.f32(i64, i64, float)
declare { float, float, float, float } @llvm.nvvm.tex.cube.array.level.v4f32.f32(i64, i64, i32, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.cube.array.v4f32.f32(i64, i64, i32, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.cube.level.v4f32.f32(i64, i64, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.cube.v4f32.f32(i64, i64, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.1d.array.grad.v4f32.f32(i64, i32, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.1d.array.level.v4f32.f32(i64, i32, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.1d.array.v4f32.f32(i64, i32, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.1d.grad.v4f32.f32(i64, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.1d.level.v4f32.f32(i64, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.1d.v4f32.f32(i64, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.cube.array.grad.v4f32.f32(i64, i32, float, float, float, float, float, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.cube.array.level.v4f32.f32(i64, i32, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.cube.array.v4f32.f32(i64, i32, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.cube.grad.v4f32.f32(i64, float, float, float, float, float, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.cube.level.v4f32.f32(i64, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.cube.v4f32.f32(i64, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tld4.a.2d.v4f32.f32(i64, i64, float, float)
declare { float, float, float, float } @llvm.nvvm.tld4.g.2d.v4f32.f32(i64, i64, float, float)
declare { float, float, float, float } @llvm.nvvm.tld4.r.2d.v4f32.f32(i64, i64, float, float)
declare { float, float, float, float } @llvm.nvvm.tld4.unified.a.2d.v4f32.f32(i64, float, float)
declare { float, float, float, float } @llvm.nvvm.tld4.unified.g.2d.v4f32.f32(i64, float, float)
declare { float, float, float, float } @llvm.nvvm.tld4.unified.r.2d.v4f32.f32(i64, float, float)
declare { float, float, float, float, float, float, float, float } @llvm.nvvm.wmma.m16n16k16.mma.col.col.bf16(i32, i32, i32, i32, i32, i32, i32, i32, float, float, float, float, float, float, float, float)
declare { float, i1 } @llvm.nvvm.shfl.sync.bfly.f32p(i32, float, i32, i32)
declare { float, i1 } @llvm.nvvm.shfl.sync.down.f32p(i32, float, i32, i32)
declare { float, i1 } @llvm.nvvm.shfl.sync.idx.f32p(i32, float, i32, i32)
declare { float, i1 } @llvm.nvvm.shfl.sync.up.f32p(i32, float, i32, i32)
declare { i32, i1 } @llvm.nvvm.elect.sync(i32)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32, i32)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32, i64)
declare { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32, i32, i32, i32)
declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8.p0(ptr)
declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8x16.b4x16_p64.p0(ptr)
declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8x16.b6x16_p32.p0(ptr)
declare { i32, i32 } @llvm.nvvm.wmma.m8n8k128.mma.and.popc.row.col.b1(i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.and.popc.m16n8k128.row.col.b1(i32, i32, i32, i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k16.row.col.satfinite.s8(i32, i32, i32, i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k16.row.col.satfinite.s8.u8(i32, i32, i32, i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.m16n8k128.row.col.s4(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.m16n8k128.row.col.satfinite.s4(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.m16n8k128.row.col.satfinite.s4.u4(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k128.row.col.s4(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k128.row.col.satfinite.s4(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k128.row.col.satfinite.s4.u4(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
declare { i32, i32, i32, i32 } @llvm.nvvm.wmma.m16n16k16.load.a.col.bf16.p0(ptr)
declare { i32, i32, i32, i32 } @llvm.nvvm.wmma.m16n16k16.load.a.col.stride.bf16.p0(ptr, i32)

; f_nvvm_activemask: activemask.b32
define i32 @f_nvvm_activemask() {
  %r = call i32 @llvm.nvvm.activemask()
  ret i32 %r
}
; f_nvvm_add_rm_d: add.rm.f64
define double @f_nvvm_add_rm_d(double %a0, double %a1) {
  %r = call double @llvm.nvvm.add.rm.d(double %a0, double %a1)
  ret double %r
}
; f_nvvm_add_rm_ftz_sat_f: add.rm.ftz.sat.f32
define float @f_nvvm_add_rm_ftz_sat_f(float %a0, float %a1) {
  %r = call float @llvm.nvvm.add.rm.ftz.sat.f(float %a0, float %a1)
  ret float %r
}
; f_nvvm_bar_warp_sync: bar.warp.sync
define void @f_nvvm_bar_warp_sync(i32 %a0) {
  call void @llvm.nvvm.bar.warp.sync(i32 %a0)
  ret void
}
; f_nvvm_barrier_cluster_arrive_aligned: barrier.cluster.arrive.aligned
define void @f_nvvm_barrier_cluster_arrive_aligned() {
  call void @llvm.nvvm.barrier.cluster.arrive.aligned()
  ret void
}
; f_nvvm_barrier_cluster_arrive: barrier.cluster.arrive
define void @f_nvvm_barrier_cluster_arrive() {
  call void @llvm.nvvm.barrier.cluster.arrive()
  ret void
}
; f_nvvm_barrier_cluster_arrive_relaxed_aligned: barrier.cluster.arrive.relaxed.aligned
define void @f_nvvm_barrier_cluster_arrive_relaxed_aligned() {
  call void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned()
  ret void
}
; f_nvvm_barrier_cluster_arrive_relaxed: barrier.cluster.arrive.relaxed
define void @f_nvvm_barrier_cluster_arrive_relaxed() {
  call void @llvm.nvvm.barrier.cluster.arrive.relaxed()
  ret void
}
; f_nvvm_barrier_cluster_wait_aligned: barrier.cluster.wait.aligned
define void @f_nvvm_barrier_cluster_wait_aligned() {
  call void @llvm.nvvm.barrier.cluster.wait.aligned()
  ret void
}
; f_nvvm_barrier_cluster_wait: barrier.cluster.wait
define void @f_nvvm_barrier_cluster_wait() {
  call void @llvm.nvvm.barrier.cluster.wait()
  ret void
}
; f_nvvm_barrier_cta_arrive_aligned_count: bar.arrive
define void @f_nvvm_barrier_cta_arrive_aligned_count(i32 %a0, i32 %a1) {
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 %a0, i32 %a1)
  ret void
}
; f_nvvm_barrier_cta_arrive_count: barrier.arrive
define void @f_nvvm_barrier_cta_arrive_count(i32 %a0, i32 %a1) {
  call void @llvm.nvvm.barrier.cta.arrive.count(i32 %a0, i32 %a1)
  ret void
}
; f_nvvm_barrier_cta_red_and_aligned_all: bar.red.and.pred
define i1 @f_nvvm_barrier_cta_red_and_aligned_all(i32 %a0, i1 %a1) {
  %r = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 %a0, i1 %a1)
  ret i1 %r
}
; f_nvvm_barrier_cta_red_and_aligned_count: bar.red.and.pred
define i1 @f_nvvm_barrier_cta_red_and_aligned_count(i32 %a0, i32 %a1, i1 %a2) {
  %r = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.count(i32 %a0, i32 %a1, i1 %a2)
  ret i1 %r
}
; f_nvvm_barrier_cta_red_and_all: barrier.red.and.pred
define i1 @f_nvvm_barrier_cta_red_and_all(i32 %a0, i1 %a1) {
  %r = call i1 @llvm.nvvm.barrier.cta.red.and.all(i32 %a0, i1 %a1)
  ret i1 %r
}
; f_nvvm_barrier_cta_red_and_count: barrier.red.and.pred
define i1 @f_nvvm_barrier_cta_red_and_count(i32 %a0, i32 %a1, i1 %a2) {
  %r = call i1 @llvm.nvvm.barrier.cta.red.and.count(i32 %a0, i32 %a1, i1 %a2)
  ret i1 %r
}
; f_nvvm_barrier_cta_red_popc_aligned_all: bar.red.popc.u32
define i32 @f_nvvm_barrier_cta_red_popc_aligned_all(i32 %a0, i1 %a1) {
  %r = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 %a0, i1 %a1)
  ret i32 %r
}
; f_nvvm_barrier_cta_red_popc_aligned_count: bar.red.popc.u32
define i32 @f_nvvm_barrier_cta_red_popc_aligned_count(i32 %a0, i32 %a1, i1 %a2) {
  %r = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.count(i32 %a0, i32 %a1, i1 %a2)
  ret i32 %r
}
; f_nvvm_barrier_cta_red_popc_all: barrier.red.popc.u32
define i32 @f_nvvm_barrier_cta_red_popc_all(i32 %a0, i1 %a1) {
  %r = call i32 @llvm.nvvm.barrier.cta.red.popc.all(i32 %a0, i1 %a1)
  ret i32 %r
}
; f_nvvm_barrier_cta_red_popc_count: barrier.red.popc.u32
define i32 @f_nvvm_barrier_cta_red_popc_count(i32 %a0, i32 %a1, i1 %a2) {
  %r = call i32 @llvm.nvvm.barrier.cta.red.popc.count(i32 %a0, i32 %a1, i1 %a2)
  ret i32 %r
}
; f_nvvm_barrier_cta_sync_aligned_all: bar.sync
define void @f_nvvm_barrier_cta_sync_aligned_all(i32 %a0) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 %a0)
  ret void
}
; f_nvvm_barrier_cta_sync_aligned_count: bar.sync
define void @f_nvvm_barrier_cta_sync_aligned_count(i32 %a0, i32 %a1) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %a0, i32 %a1)
  ret void
}
; f_nvvm_barrier_cta_sync_all: barrier.sync
define void @f_nvvm_barrier_cta_sync_all(i32 %a0) {
  call void @llvm.nvvm.barrier.cta.sync.all(i32 %a0)
  ret void
}
; f_nvvm_barrier_cta_sync_count: barrier.sync
define void @f_nvvm_barrier_cta_sync_count(i32 %a0, i32 %a1) {
  call void @llvm.nvvm.barrier.cta.sync.count(i32 %a0, i32 %a1)
  ret void
}
; f_nvvm_bf16x2_to_ue8m0x2_rp: cvt.rp.ue8m0x2.bf16x2
define i16 @f_nvvm_bf16x2_to_ue8m0x2_rp(<2 x bfloat> %a0) {
  %r = call i16 @llvm.nvvm.bf16x2.to.ue8m0x2.rp(<2 x bfloat> %a0)
  ret i16 %r
}
; f_nvvm_bf16x2_to_ue8m0x2_rp_satfinite: cvt.rp.satfinite.ue8m0x2.bf16x2
define i16 @f_nvvm_bf16x2_to_ue8m0x2_rp_satfinite(<2 x bfloat> %a0) {
  %r = call i16 @llvm.nvvm.bf16x2.to.ue8m0x2.rp.satfinite(<2 x bfloat> %a0)
  ret i16 %r
}
; f_nvvm_bf2h_rn: cvt.rn.f16.bf16
define i16 @f_nvvm_bf2h_rn(bfloat %a0) {
  %r = call i16 @llvm.nvvm.bf2h.rn(bfloat %a0)
  ret i16 %r
}
; f_nvvm_bmsk_clamp: bmsk.clamp.b32
define i32 @f_nvvm_bmsk_clamp(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.bmsk.clamp(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_bmsk_wrap: bmsk.wrap.b32
define i32 @f_nvvm_bmsk_wrap(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.bmsk.wrap(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_ceil_d: cvt.rpi.f64.f64
define double @f_nvvm_ceil_d(double %a0) {
  %r = call double @llvm.nvvm.ceil.d(double %a0)
  ret double %r
}
; f_nvvm_ceil_ftz_f: cvt.rpi.ftz.f32.f32
define float @f_nvvm_ceil_ftz_f(float %a0) {
  %r = call float @llvm.nvvm.ceil.ftz.f(float %a0)
  ret float %r
}
; f_nvvm_clusterlaunchcontrol_query_cancel_get_first_ctaid_x: clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128
define i32 @f_nvvm_clusterlaunchcontrol_query_cancel_get_first_ctaid_x(i128 %a0) {
  %r = call i32 @llvm.nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.x(i128 %a0)
  ret i32 %r
}
; f_nvvm_clusterlaunchcontrol_query_cancel_get_first_ctaid_y: clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128
define i32 @f_nvvm_clusterlaunchcontrol_query_cancel_get_first_ctaid_y(i128 %a0) {
  %r = call i32 @llvm.nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.y(i128 %a0)
  ret i32 %r
}
; f_nvvm_clusterlaunchcontrol_query_cancel_get_first_ctaid_z: clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128
define i32 @f_nvvm_clusterlaunchcontrol_query_cancel_get_first_ctaid_z(i128 %a0) {
  %r = call i32 @llvm.nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.z(i128 %a0)
  ret i32 %r
}
; f_nvvm_clusterlaunchcontrol_query_cancel_is_canceled: clusterlaunchcontrol.query_cancel.is_canceled.pred.b128
define i1 @f_nvvm_clusterlaunchcontrol_query_cancel_is_canceled(i128 %a0) {
  %r = call i1 @llvm.nvvm.clusterlaunchcontrol.query_cancel.is_canceled(i128 %a0)
  ret i1 %r
}
; f_nvvm_clusterlaunchcontrol_try_cancel_async_multicast_shared: clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128
define void @f_nvvm_clusterlaunchcontrol_try_cancel_async_multicast_shared(ptr addrspace(3) %a0, ptr addrspace(3) %a1) {
  call void @llvm.nvvm.clusterlaunchcontrol.try_cancel.async.multicast.shared(ptr addrspace(3) %a0, ptr addrspace(3) %a1)
  ret void
}
; f_nvvm_clusterlaunchcontrol_try_cancel_async_shared: clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128
define void @f_nvvm_clusterlaunchcontrol_try_cancel_async_shared(ptr addrspace(3) %a0, ptr addrspace(3) %a1) {
  call void @llvm.nvvm.clusterlaunchcontrol.try_cancel.async.shared(ptr addrspace(3) %a0, ptr addrspace(3) %a1)
  ret void
}
; f_nvvm_cos_approx_f: cos.approx.f32
define float @f_nvvm_cos_approx_f(float %a0) {
  %r = call float @llvm.nvvm.cos.approx.f(float %a0)
  ret float %r
}
; f_nvvm_cos_approx_ftz_f: cos.approx.ftz.f32
define float @f_nvvm_cos_approx_ftz_f(float %a0) {
  %r = call float @llvm.nvvm.cos.approx.ftz.f(float %a0)
  ret float %r
}
; f_nvvm_cp_async_bulk_commit_group: cp.async.bulk.commit_group
define void @f_nvvm_cp_async_bulk_commit_group() {
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  ret void
}
; f_nvvm_cp_async_bulk_global_to_shared_cluster: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_global_to_shared_cluster(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr addrspace(1) %a2, i32 %a3, i16 %a4, i64 %a5) {
  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr addrspace(1) %a2, i32 %a3, i16 %a4, i64 %a5, i1 false, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_prefetch_L2: cp.async.bulk.prefetch.L2.global
define void @f_nvvm_cp_async_bulk_prefetch_L2(ptr addrspace(1) %a0, i32 %a1, i64 %a2) {
  call void @llvm.nvvm.cp.async.bulk.prefetch.L2(ptr addrspace(1) %a0, i32 %a1, i64 %a2, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_shared_cta_to_cluster: cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_shared_cta_to_cluster(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr addrspace(3) %a2, i32 %a3) {
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.cluster(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr addrspace(3) %a2, i32 %a3)
  ret void
}
; f_nvvm_cp_async_bulk_shared_cta_to_global_bytemask: cp.async.bulk.global.shared::cta.bulk_group.cp_mask
define void @f_nvvm_cp_async_bulk_shared_cta_to_global_bytemask(ptr addrspace(1) %a0, ptr addrspace(3) %a1, i32 %a2, i64 %a3, i16 %a5) {
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global.bytemask(ptr addrspace(1) %a0, ptr addrspace(3) %a1, i32 %a2, i64 %a3, i1 false, i16 %a5)
  ret void
}
; f_nvvm_cp_async_bulk_shared_cta_to_global: cp.async.bulk.global.shared::cta.bulk_group
define void @f_nvvm_cp_async_bulk_shared_cta_to_global(ptr addrspace(1) %a0, ptr addrspace(3) %a1, i32 %a2, i64 %a3) {
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %a0, ptr addrspace(3) %a1, i32 %a2, i64 %a3, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_cta_im2col_3d: cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_cta_im2col_3d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i64 %a7) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.im2col.3d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i64 %a7, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_cta_im2col_w_128_3d: cp.async.bulk.tensor.3d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_cta_im2col_w_128_3d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i64 %a8) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.im2col.w.128.3d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i64 %a8, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_cta_im2col_w_3d: cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_cta_im2col_w_3d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i64 %a8) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.im2col.w.3d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i64 %a8, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_cta_tile_1d: cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_cta_tile_1d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i64 %a4) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.1d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i64 %a4, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_cta_tile_gather4_2d: cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_cta_tile_gather4_2d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i64 %a8) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.gather4.2d(ptr addrspace(3) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i64 %a8, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_im2col_3d: cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_im2col_3d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i64 %a8) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.im2col.3d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i64 %a8, i1 false, i1 false, i32 0)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_im2col_w_128_3d: cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_im2col_w_128_3d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i16 %a8, i64 %a9) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.im2col.w.128.3d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i16 %a8, i64 %a9, i1 false, i1 false, i32 0)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_im2col_w_3d: cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_im2col_w_3d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i16 %a8, i64 %a9) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.im2col.w.3d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i16 %a6, i16 %a7, i16 %a8, i64 %a9, i1 false, i1 false, i32 0)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_tile_1d: cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_tile_1d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i16 %a4, i64 %a5) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.1d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i16 %a4, i64 %a5, i1 false, i1 false, i32 0)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_g2s_tile_gather4_2d: cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes
define void @f_nvvm_cp_async_bulk_tensor_g2s_tile_gather4_2d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i16 %a8, i64 %a9) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.gather4.2d(ptr addrspace(7) %a0, ptr addrspace(3) %a1, ptr %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i16 %a8, i64 %a9, i1 false, i1 false, i32 0)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_prefetch_im2col_3d: cp.async.bulk.prefetch.tensor.3d.L2.global.im2col
define void @f_nvvm_cp_async_bulk_tensor_prefetch_im2col_3d(ptr %a0, i32 %a1, i32 %a2, i32 %a3, i16 %a4, i64 %a5) {
  call void @llvm.nvvm.cp.async.bulk.tensor.prefetch.im2col.3d(ptr %a0, i32 %a1, i32 %a2, i32 %a3, i16 %a4, i64 %a5, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_prefetch_im2col_w_128_3d: cp.async.bulk.prefetch.tensor.3d.L2.global.im2col::w::128
define void @f_nvvm_cp_async_bulk_tensor_prefetch_im2col_w_128_3d(ptr %a0, i32 %a1, i32 %a2, i32 %a3, i16 %a4, i16 %a5, i64 %a6) {
  call void @llvm.nvvm.cp.async.bulk.tensor.prefetch.im2col.w.128.3d(ptr %a0, i32 %a1, i32 %a2, i32 %a3, i16 %a4, i16 %a5, i64 %a6, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_prefetch_im2col_w_3d: cp.async.bulk.prefetch.tensor.3d.L2.global.im2col::w
define void @f_nvvm_cp_async_bulk_tensor_prefetch_im2col_w_3d(ptr %a0, i32 %a1, i32 %a2, i32 %a3, i16 %a4, i16 %a5, i64 %a6) {
  call void @llvm.nvvm.cp.async.bulk.tensor.prefetch.im2col.w.3d(ptr %a0, i32 %a1, i32 %a2, i32 %a3, i16 %a4, i16 %a5, i64 %a6, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_prefetch_tile_1d: cp.async.bulk.prefetch.tensor.1d.L2.global.tile
define void @f_nvvm_cp_async_bulk_tensor_prefetch_tile_1d(ptr %a0, i32 %a1, i64 %a2) {
  call void @llvm.nvvm.cp.async.bulk.tensor.prefetch.tile.1d(ptr %a0, i32 %a1, i64 %a2, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_prefetch_tile_gather4_2d: cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4
define void @f_nvvm_cp_async_bulk_tensor_prefetch_tile_gather4_2d(ptr %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i64 %a6) {
  call void @llvm.nvvm.cp.async.bulk.tensor.prefetch.tile.gather4.2d(ptr %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i64 %a6, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_reduce_add_im2col_3d: cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col_no_offs.bulk_group
define void @f_nvvm_cp_async_bulk_tensor_reduce_add_im2col_3d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i32 %a3, i32 %a4, i64 %a5) {
  call void @llvm.nvvm.cp.async.bulk.tensor.reduce.add.im2col.3d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i32 %a3, i32 %a4, i64 %a5, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_reduce_add_tile_1d: cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group
define void @f_nvvm_cp_async_bulk_tensor_reduce_add_tile_1d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i64 %a3) {
  call void @llvm.nvvm.cp.async.bulk.tensor.reduce.add.tile.1d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i64 %a3, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_s2g_im2col_3d: cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group
define void @f_nvvm_cp_async_bulk_tensor_s2g_im2col_3d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i32 %a3, i32 %a4, i64 %a5) {
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.im2col.3d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i32 %a3, i32 %a4, i64 %a5, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_s2g_tile_1d: cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group
define void @f_nvvm_cp_async_bulk_tensor_s2g_tile_1d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i64 %a3) {
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.1d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i64 %a3, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_tensor_s2g_tile_scatter4_2d: cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
define void @f_nvvm_cp_async_bulk_tensor_s2g_tile_scatter4_2d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i64 %a7) {
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.scatter4.2d(ptr addrspace(3) %a0, ptr %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i64 %a7, i1 false)
  ret void
}
; f_nvvm_cp_async_bulk_wait_group: cp.async.bulk.wait_group
define void @f_nvvm_cp_async_bulk_wait_group() {
  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)
  ret void
}
; f_nvvm_cp_async_bulk_wait_group_read: cp.async.bulk.wait_group.read
define void @f_nvvm_cp_async_bulk_wait_group_read() {
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)
  ret void
}
; f_nvvm_cp_async_ca_shared_global_16: cp.async.ca.shared.global
define void @f_nvvm_cp_async_ca_shared_global_16(ptr addrspace(3) %a0, ptr addrspace(1) %a1) {
  call void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3) %a0, ptr addrspace(1) %a1)
  ret void
}
; f_nvvm_cp_async_ca_shared_global_16_s: cp.async.ca.shared.global
define void @f_nvvm_cp_async_ca_shared_global_16_s(ptr addrspace(3) %a0, ptr addrspace(1) %a1, i32 %a2) {
  call void @llvm.nvvm.cp.async.ca.shared.global.16.s(ptr addrspace(3) %a0, ptr addrspace(1) %a1, i32 %a2)
  ret void
}
; f_nvvm_cp_async_cg_shared_global_16: cp.async.cg.shared.global
define void @f_nvvm_cp_async_cg_shared_global_16(ptr addrspace(3) %a0, ptr addrspace(1) %a1) {
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %a0, ptr addrspace(1) %a1)
  ret void
}
; f_nvvm_cp_async_cg_shared_global_16_s: cp.async.cg.shared.global
define void @f_nvvm_cp_async_cg_shared_global_16_s(ptr addrspace(3) %a0, ptr addrspace(1) %a1, i32 %a2) {
  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) %a0, ptr addrspace(1) %a1, i32 %a2)
  ret void
}
; f_nvvm_cp_async_commit_group: cp.async.commit_group
define void @f_nvvm_cp_async_commit_group() {
  call void @llvm.nvvm.cp.async.commit.group()
  ret void
}
; f_nvvm_cp_async_mbarrier_arrive: cp.async.mbarrier.arrive.b64
define void @f_nvvm_cp_async_mbarrier_arrive(ptr %a0) {
  call void @llvm.nvvm.cp.async.mbarrier.arrive(ptr %a0)
  ret void
}
; f_nvvm_cp_async_mbarrier_arrive_noinc: cp.async.mbarrier.arrive.noinc.b64
define void @f_nvvm_cp_async_mbarrier_arrive_noinc(ptr %a0) {
  call void @llvm.nvvm.cp.async.mbarrier.arrive.noinc(ptr %a0)
  ret void
}
; f_nvvm_cp_async_mbarrier_arrive_noinc_shared: cp.async.mbarrier.arrive.noinc.shared.b64
define void @f_nvvm_cp_async_mbarrier_arrive_noinc_shared(ptr addrspace(3) %a0) {
  call void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3) %a0)
  ret void
}
; f_nvvm_cp_async_mbarrier_arrive_shared: cp.async.mbarrier.arrive.shared.b64
define void @f_nvvm_cp_async_mbarrier_arrive_shared(ptr addrspace(3) %a0) {
  call void @llvm.nvvm.cp.async.mbarrier.arrive.shared(ptr addrspace(3) %a0)
  ret void
}
; f_nvvm_cp_async_wait_all: cp.async.wait_all
define void @f_nvvm_cp_async_wait_all() {
  call void @llvm.nvvm.cp.async.wait.all()
  ret void
}
; f_nvvm_cp_async_wait_group: cp.async.wait_group
define void @f_nvvm_cp_async_wait_group() {
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  ret void
}
; f_nvvm_d2f_rm_ftz: cvt.rm.ftz.f32.f64
define float @f_nvvm_d2f_rm_ftz(double %a0) {
  %r = call float @llvm.nvvm.d2f.rm.ftz(double %a0)
  ret float %r
}
; f_nvvm_d2f_rm: cvt.rm.f32.f64
define float @f_nvvm_d2f_rm(double %a0) {
  %r = call float @llvm.nvvm.d2f.rm(double %a0)
  ret float %r
}
; The upper half by one move; llc takes a shift and a conversion.
; f_nvvm_d2i_hi: mov.b64
define i32 @f_nvvm_d2i_hi(double %a0) {
  %r = call i32 @llvm.nvvm.d2i.hi(double %a0)
  ret i32 %r
}
; f_nvvm_d2i_lo: cvt.u32.u64
define i32 @f_nvvm_d2i_lo(double %a0) {
  %r = call i32 @llvm.nvvm.d2i.lo(double %a0)
  ret i32 %r
}
; f_nvvm_d2i_rm: cvt.rmi.s32.f64
define i32 @f_nvvm_d2i_rm(double %a0) {
  %r = call i32 @llvm.nvvm.d2i.rm(double %a0)
  ret i32 %r
}
; f_nvvm_d2ll_rm: cvt.rmi.s64.f64
define i64 @f_nvvm_d2ll_rm(double %a0) {
  %r = call i64 @llvm.nvvm.d2ll.rm(double %a0)
  ret i64 %r
}
; f_nvvm_d2ui_rm: cvt.rmi.u32.f64
define i32 @f_nvvm_d2ui_rm(double %a0) {
  %r = call i32 @llvm.nvvm.d2ui.rm(double %a0)
  ret i32 %r
}
; f_nvvm_d2ull_rm: cvt.rmi.u64.f64
define i64 @f_nvvm_d2ull_rm(double %a0) {
  %r = call i64 @llvm.nvvm.d2ull.rm(double %a0)
  ret i64 %r
}
; f_nvvm_div_approx_f: div.approx.f32
define float @f_nvvm_div_approx_f(float %a0, float %a1) {
  %r = call float @llvm.nvvm.div.approx.f(float %a0, float %a1)
  ret float %r
}
; f_nvvm_div_approx_ftz_f: div.approx.ftz.f32
define float @f_nvvm_div_approx_ftz_f(float %a0, float %a1) {
  %r = call float @llvm.nvvm.div.approx.ftz.f(float %a0, float %a1)
  ret float %r
}
; f_nvvm_div_full_ftz: div.full.ftz.f32
define float @f_nvvm_div_full_ftz(float %a0, float %a1) {
  %r = call float @llvm.nvvm.div.full.ftz(float %a0, float %a1)
  ret float %r
}
; f_nvvm_div_full: div.full.f32
define float @f_nvvm_div_full(float %a0, float %a1) {
  %r = call float @llvm.nvvm.div.full(float %a0, float %a1)
  ret float %r
}
; f_nvvm_div_rm_d: div.rm.f64
define double @f_nvvm_div_rm_d(double %a0, double %a1) {
  %r = call double @llvm.nvvm.div.rm.d(double %a0, double %a1)
  ret double %r
}
; f_nvvm_e2m1x2_to_f16x2_rn: cvt.rn.f16x2.e2m1x2
define <2 x half> @f_nvvm_e2m1x2_to_f16x2_rn(i16 %a0) {
  %r = call <2 x half> @llvm.nvvm.e2m1x2.to.f16x2.rn(i16 %a0)
  ret <2 x half> %r
}
; f_nvvm_e2m1x2_to_f16x2_rn_relu: cvt.rn.relu.f16x2.e2m1x2
define <2 x half> @f_nvvm_e2m1x2_to_f16x2_rn_relu(i16 %a0) {
  %r = call <2 x half> @llvm.nvvm.e2m1x2.to.f16x2.rn.relu(i16 %a0)
  ret <2 x half> %r
}
; f_nvvm_elect_sync: elect.sync
define { i32, i1 } @f_nvvm_elect_sync(i32 %a0) {
  %r = call { i32, i1 } @llvm.nvvm.elect.sync(i32 %a0)
  ret { i32, i1 } %r
}
; f_nvvm_ex2_approx_ftz: ex2.approx.ftz.f32
define float @f_nvvm_ex2_approx_ftz(float %a0) {
  %r = call float @llvm.nvvm.ex2.approx.ftz.f32(float %a0)
  ret float %r
}
; f_nvvm_ex2_approx: ex2.approx.f32
define float @f_nvvm_ex2_approx(float %a0) {
  %r = call float @llvm.nvvm.ex2.approx.f32(float %a0)
  ret float %r
}
; f_nvvm_f2bf16_rn: cvt.rn.bf16.f32
define bfloat @f_nvvm_f2bf16_rn(float %a0) {
  %r = call bfloat @llvm.nvvm.f2bf16.rn(float %a0)
  ret bfloat %r
}
; f_nvvm_f2bf16_rn_relu: cvt.rn.relu.bf16.f32
define bfloat @f_nvvm_f2bf16_rn_relu(float %a0) {
  %r = call bfloat @llvm.nvvm.f2bf16.rn.relu(float %a0)
  ret bfloat %r
}
; f_nvvm_f2bf16_rn_relu_satfinite: cvt.rn.relu.satfinite.bf16.f32
define bfloat @f_nvvm_f2bf16_rn_relu_satfinite(float %a0) {
  %r = call bfloat @llvm.nvvm.f2bf16.rn.relu.satfinite(float %a0)
  ret bfloat %r
}
; f_nvvm_f2bf16_rn_satfinite: cvt.rn.satfinite.bf16.f32
define bfloat @f_nvvm_f2bf16_rn_satfinite(float %a0) {
  %r = call bfloat @llvm.nvvm.f2bf16.rn.satfinite(float %a0)
  ret bfloat %r
}
; f_nvvm_f2f16_rn: cvt.rn.f16.f32
define half @f_nvvm_f2f16_rn(float %a0) {
  %r = call half @llvm.nvvm.f2f16.rn(float %a0)
  ret half %r
}
; f_nvvm_f2f16_rn_relu: cvt.rn.relu.f16.f32
define half @f_nvvm_f2f16_rn_relu(float %a0) {
  %r = call half @llvm.nvvm.f2f16.rn.relu(float %a0)
  ret half %r
}
; f_nvvm_f2f16_rn_relu_satfinite: cvt.rn.relu.satfinite.f16.f32
define half @f_nvvm_f2f16_rn_relu_satfinite(float %a0) {
  %r = call half @llvm.nvvm.f2f16.rn.relu.satfinite(float %a0)
  ret half %r
}
; f_nvvm_f2f16_rn_satfinite: cvt.rn.satfinite.f16.f32
define half @f_nvvm_f2f16_rn_satfinite(float %a0) {
  %r = call half @llvm.nvvm.f2f16.rn.satfinite(float %a0)
  ret half %r
}
; f_nvvm_f2h_rn_ftz: cvt.rn.ftz.f16.f32
define i16 @f_nvvm_f2h_rn_ftz(float %a0) {
  %r = call i16 @llvm.nvvm.f2h.rn.ftz(float %a0)
  ret i16 %r
}
; f_nvvm_f2h_rn: cvt.rn.f16.f32
define i16 @f_nvvm_f2h_rn(float %a0) {
  %r = call i16 @llvm.nvvm.f2h.rn(float %a0)
  ret i16 %r
}
; f_nvvm_f2i_rm_ftz: cvt.rmi.ftz.s32.f32
define i32 @f_nvvm_f2i_rm_ftz(float %a0) {
  %r = call i32 @llvm.nvvm.f2i.rm.ftz(float %a0)
  ret i32 %r
}
; f_nvvm_f2i_rm: cvt.rmi.s32.f32
define i32 @f_nvvm_f2i_rm(float %a0) {
  %r = call i32 @llvm.nvvm.f2i.rm(float %a0)
  ret i32 %r
}
; f_nvvm_f2ll_rm_ftz: cvt.rmi.ftz.s64.f32
define i64 @f_nvvm_f2ll_rm_ftz(float %a0) {
  %r = call i64 @llvm.nvvm.f2ll.rm.ftz(float %a0)
  ret i64 %r
}
; f_nvvm_f2ll_rm: cvt.rmi.s64.f32
define i64 @f_nvvm_f2ll_rm(float %a0) {
  %r = call i64 @llvm.nvvm.f2ll.rm(float %a0)
  ret i64 %r
}
; f_nvvm_f2tf32_rn: cvt.rn.tf32.f32
define i32 @f_nvvm_f2tf32_rn(float %a0) {
  %r = call i32 @llvm.nvvm.f2tf32.rn(float %a0)
  ret i32 %r
}
; f_nvvm_f2tf32_rn_relu: cvt.rn.relu.tf32.f32
define i32 @f_nvvm_f2tf32_rn_relu(float %a0) {
  %r = call i32 @llvm.nvvm.f2tf32.rn.relu(float %a0)
  ret i32 %r
}
; f_nvvm_f2tf32_rn_relu_satfinite: cvt.rn.relu.satfinite.tf32.f32
define i32 @f_nvvm_f2tf32_rn_relu_satfinite(float %a0) {
  %r = call i32 @llvm.nvvm.f2tf32.rn.relu.satfinite(float %a0)
  ret i32 %r
}
; f_nvvm_f2tf32_rn_satfinite: cvt.rn.satfinite.tf32.f32
define i32 @f_nvvm_f2tf32_rn_satfinite(float %a0) {
  %r = call i32 @llvm.nvvm.f2tf32.rn.satfinite(float %a0)
  ret i32 %r
}
; f_nvvm_f2tf32_rna: cvt.rna.tf32.f32
define i32 @f_nvvm_f2tf32_rna(float %a0) {
  %r = call i32 @llvm.nvvm.f2tf32.rna(float %a0)
  ret i32 %r
}
; f_nvvm_f2tf32_rna_satfinite: cvt.rna.satfinite.tf32.f32
define i32 @f_nvvm_f2tf32_rna_satfinite(float %a0) {
  %r = call i32 @llvm.nvvm.f2tf32.rna.satfinite(float %a0)
  ret i32 %r
}
; f_nvvm_f2ui_rm_ftz: cvt.rmi.ftz.u32.f32
define i32 @f_nvvm_f2ui_rm_ftz(float %a0) {
  %r = call i32 @llvm.nvvm.f2ui.rm.ftz(float %a0)
  ret i32 %r
}
; f_nvvm_f2ui_rm: cvt.rmi.u32.f32
define i32 @f_nvvm_f2ui_rm(float %a0) {
  %r = call i32 @llvm.nvvm.f2ui.rm(float %a0)
  ret i32 %r
}
; f_nvvm_f2ull_rm_ftz: cvt.rmi.ftz.u64.f32
define i64 @f_nvvm_f2ull_rm_ftz(float %a0) {
  %r = call i64 @llvm.nvvm.f2ull.rm.ftz(float %a0)
  ret i64 %r
}
; f_nvvm_f2ull_rm: cvt.rmi.u64.f32
define i64 @f_nvvm_f2ull_rm(float %a0) {
  %r = call i64 @llvm.nvvm.f2ull.rm(float %a0)
  ret i64 %r
}
; f_nvvm_f32x4_to_e2m1x4_rs_relu_satfinite: cvt.rs.relu.satfinite.e2m1x4.f32
define i16 @f_nvvm_f32x4_to_e2m1x4_rs_relu_satfinite(<4 x float> %a0, i32 %a1) {
  %r = call i16 @llvm.nvvm.f32x4.to.e2m1x4.rs.relu.satfinite(<4 x float> %a0, i32 %a1)
  ret i16 %r
}
; f_nvvm_f32x4_to_e2m1x4_rs_satfinite: cvt.rs.satfinite.e2m1x4.f32
define i16 @f_nvvm_f32x4_to_e2m1x4_rs_satfinite(<4 x float> %a0, i32 %a1) {
  %r = call i16 @llvm.nvvm.f32x4.to.e2m1x4.rs.satfinite(<4 x float> %a0, i32 %a1)
  ret i16 %r
}
; f_nvvm_fabs_ftz: abs.ftz.f32
define float @f_nvvm_fabs_ftz(float %a0) {
  %r = call float @llvm.nvvm.fabs.ftz.f32(float %a0)
  ret float %r
}
; f_nvvm_fabs: abs.f32
define float @f_nvvm_fabs(float %a0) {
  %r = call float @llvm.nvvm.fabs.f32(float %a0)
  ret float %r
}
; f_nvvm_fence_acquire_sync_restrict_space_cluster_scope_cluster: fence.acquire.sync_restrict::shared::cluster.cluster
define void @f_nvvm_fence_acquire_sync_restrict_space_cluster_scope_cluster() {
  call void @llvm.nvvm.fence.acquire.sync_restrict.space.cluster.scope.cluster()
  ret void
}
; f_nvvm_fence_mbarrier_init_release_cluster: fence.mbarrier_init.release.cluster
define void @f_nvvm_fence_mbarrier_init_release_cluster() {
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  ret void
}
; f_nvvm_fence_proxy_alias: fence.proxy.alias
define void @f_nvvm_fence_proxy_alias() {
  call void @llvm.nvvm.fence.proxy.alias()
  ret void
}
; f_nvvm_fence_proxy_async_global: fence.proxy.async.global
define void @f_nvvm_fence_proxy_async_global() {
  call void @llvm.nvvm.fence.proxy.async.global()
  ret void
}
; f_nvvm_fence_proxy_async: fence.proxy.async
define void @f_nvvm_fence_proxy_async() {
  call void @llvm.nvvm.fence.proxy.async()
  ret void
}
; f_nvvm_fence_proxy_async_shared_cluster: fence.proxy.async.shared::cluster
define void @f_nvvm_fence_proxy_async_shared_cluster() {
  call void @llvm.nvvm.fence.proxy.async.shared_cluster()
  ret void
}
; f_nvvm_fence_proxy_async_shared_cta: fence.proxy.async.shared::cta
define void @f_nvvm_fence_proxy_async_shared_cta() {
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  ret void
}
; f_nvvm_fence_proxy_async_generic_acquire_sync_restrict_space_cluster_scope_cluster: fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster
define void @f_nvvm_fence_proxy_async_generic_acquire_sync_restrict_space_cluster_scope_cluster() {
  call void @llvm.nvvm.fence.proxy.async_generic.acquire.sync_restrict.space.cluster.scope.cluster()
  ret void
}
; f_nvvm_fence_proxy_async_generic_release_sync_restrict_space_cta_scope_cluster: fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster
define void @f_nvvm_fence_proxy_async_generic_release_sync_restrict_space_cta_scope_cluster() {
  call void @llvm.nvvm.fence.proxy.async_generic.release.sync_restrict.space.cta.scope.cluster()
  ret void
}
; f_nvvm_fence_proxy_tensormap_generic_acquire_cluster: fence.proxy.tensormap::generic.acquire.cluster
define void @f_nvvm_fence_proxy_tensormap_generic_acquire_cluster(ptr %a0) {
  call void @llvm.nvvm.fence.proxy.tensormap_generic.acquire.cluster(ptr %a0, i32 128)
  ret void
}
; f_nvvm_fence_proxy_tensormap_generic_release_cluster: fence.proxy.tensormap::generic.release.cluster
define void @f_nvvm_fence_proxy_tensormap_generic_release_cluster() {
  call void @llvm.nvvm.fence.proxy.tensormap_generic.release.cluster()
  ret void
}
; f_nvvm_fence_release_sync_restrict_space_cta_scope_cluster: fence.release.sync_restrict::shared::cta.cluster
define void @f_nvvm_fence_release_sync_restrict_space_cta_scope_cluster() {
  call void @llvm.nvvm.fence.release.sync_restrict.space.cta.scope.cluster()
  ret void
}
; f_nvvm_fence_sc_cluster: fence.sc.cluster
define void @f_nvvm_fence_sc_cluster() {
  call void @llvm.nvvm.fence.sc.cluster()
  ret void
}
; f_nvvm_ff_to_e2m1x2_rn_relu_satfinite: cvt.rn.satfinite.relu.e2m1x2.f32
define i16 @f_nvvm_ff_to_e2m1x2_rn_relu_satfinite(float %a0, float %a1) {
  %r = call i16 @llvm.nvvm.ff.to.e2m1x2.rn.relu.satfinite(float %a0, float %a1)
  ret i16 %r
}
; f_nvvm_ff_to_e2m1x2_rn_satfinite: cvt.rn.satfinite.e2m1x2.f32
define i16 @f_nvvm_ff_to_e2m1x2_rn_satfinite(float %a0, float %a1) {
  %r = call i16 @llvm.nvvm.ff.to.e2m1x2.rn.satfinite(float %a0, float %a1)
  ret i16 %r
}
; f_nvvm_ff_to_e4m3x2_rn: cvt.rn.satfinite.e4m3x2.f32
define i16 @f_nvvm_ff_to_e4m3x2_rn(float %a0, float %a1) {
  %r = call i16 @llvm.nvvm.ff.to.e4m3x2.rn(float %a0, float %a1)
  ret i16 %r
}
; f_nvvm_ff_to_e4m3x2_rn_relu: cvt.rn.satfinite.relu.e4m3x2.f32
define i16 @f_nvvm_ff_to_e4m3x2_rn_relu(float %a0, float %a1) {
  %r = call i16 @llvm.nvvm.ff.to.e4m3x2.rn.relu(float %a0, float %a1)
  ret i16 %r
}
; f_nvvm_ff_to_ue8m0x2_rp: cvt.rp.ue8m0x2.f32
define i16 @f_nvvm_ff_to_ue8m0x2_rp(float %a0, float %a1) {
  %r = call i16 @llvm.nvvm.ff.to.ue8m0x2.rp(float %a0, float %a1)
  ret i16 %r
}
; f_nvvm_ff_to_ue8m0x2_rp_satfinite: cvt.rp.satfinite.ue8m0x2.f32
define i16 @f_nvvm_ff_to_ue8m0x2_rp_satfinite(float %a0, float %a1) {
  %r = call i16 @llvm.nvvm.ff.to.ue8m0x2.rp.satfinite(float %a0, float %a1)
  ret i16 %r
}
; f_nvvm_ff2bf16x2_rn: cvt.rn.bf16x2.f32
define <2 x bfloat> @f_nvvm_ff2bf16x2_rn(float %a0, float %a1) {
  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %a0, float %a1)
  ret <2 x bfloat> %r
}
; f_nvvm_ff2bf16x2_rn_relu: cvt.rn.relu.bf16x2.f32
define <2 x bfloat> @f_nvvm_ff2bf16x2_rn_relu(float %a0, float %a1) {
  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn.relu(float %a0, float %a1)
  ret <2 x bfloat> %r
}
; f_nvvm_ff2bf16x2_rn_relu_satfinite: cvt.rn.relu.satfinite.bf16x2.f32
define <2 x bfloat> @f_nvvm_ff2bf16x2_rn_relu_satfinite(float %a0, float %a1) {
  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn.relu.satfinite(float %a0, float %a1)
  ret <2 x bfloat> %r
}
; f_nvvm_ff2bf16x2_rn_satfinite: cvt.rn.satfinite.bf16x2.f32
define <2 x bfloat> @f_nvvm_ff2bf16x2_rn_satfinite(float %a0, float %a1) {
  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn.satfinite(float %a0, float %a1)
  ret <2 x bfloat> %r
}
; f_nvvm_ff2bf16x2_rs: cvt.rs.bf16x2.f32
define <2 x bfloat> @f_nvvm_ff2bf16x2_rs(float %a0, float %a1, i32 %a2) {
  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rs(float %a0, float %a1, i32 %a2)
  ret <2 x bfloat> %r
}
; f_nvvm_ff2bf16x2_rs_relu: cvt.rs.relu.bf16x2.f32
define <2 x bfloat> @f_nvvm_ff2bf16x2_rs_relu(float %a0, float %a1, i32 %a2) {
  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rs.relu(float %a0, float %a1, i32 %a2)
  ret <2 x bfloat> %r
}
; f_nvvm_ff2bf16x2_rs_relu_satfinite: cvt.rs.relu.satfinite.bf16x2.f32
define <2 x bfloat> @f_nvvm_ff2bf16x2_rs_relu_satfinite(float %a0, float %a1, i32 %a2) {
  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rs.relu.satfinite(float %a0, float %a1, i32 %a2)
  ret <2 x bfloat> %r
}
; f_nvvm_ff2bf16x2_rs_satfinite: cvt.rs.satfinite.bf16x2.f32
define <2 x bfloat> @f_nvvm_ff2bf16x2_rs_satfinite(float %a0, float %a1, i32 %a2) {
  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rs.satfinite(float %a0, float %a1, i32 %a2)
  ret <2 x bfloat> %r
}
; f_nvvm_ff2f16x2_rn: cvt.rn.f16x2.f32
define <2 x half> @f_nvvm_ff2f16x2_rn(float %a0, float %a1) {
  %r = call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %a0, float %a1)
  ret <2 x half> %r
}
; f_nvvm_ff2f16x2_rn_relu: cvt.rn.relu.f16x2.f32
define <2 x half> @f_nvvm_ff2f16x2_rn_relu(float %a0, float %a1) {
  %r = call <2 x half> @llvm.nvvm.ff2f16x2.rn.relu(float %a0, float %a1)
  ret <2 x half> %r
}
; f_nvvm_ff2f16x2_rn_relu_satfinite: cvt.rn.relu.satfinite.f16x2.f32
define <2 x half> @f_nvvm_ff2f16x2_rn_relu_satfinite(float %a0, float %a1) {
  %r = call <2 x half> @llvm.nvvm.ff2f16x2.rn.relu.satfinite(float %a0, float %a1)
  ret <2 x half> %r
}
; f_nvvm_ff2f16x2_rn_satfinite: cvt.rn.satfinite.f16x2.f32
define <2 x half> @f_nvvm_ff2f16x2_rn_satfinite(float %a0, float %a1) {
  %r = call <2 x half> @llvm.nvvm.ff2f16x2.rn.satfinite(float %a0, float %a1)
  ret <2 x half> %r
}
; f_nvvm_ff2f16x2_rs: cvt.rs.f16x2.f32
define <2 x half> @f_nvvm_ff2f16x2_rs(float %a0, float %a1, i32 %a2) {
  %r = call <2 x half> @llvm.nvvm.ff2f16x2.rs(float %a0, float %a1, i32 %a2)
  ret <2 x half> %r
}
; f_nvvm_ff2f16x2_rs_relu: cvt.rs.relu.f16x2.f32
define <2 x half> @f_nvvm_ff2f16x2_rs_relu(float %a0, float %a1, i32 %a2) {
  %r = call <2 x half> @llvm.nvvm.ff2f16x2.rs.relu(float %a0, float %a1, i32 %a2)
  ret <2 x half> %r
}
; f_nvvm_ff2f16x2_rs_relu_satfinite: cvt.rs.relu.satfinite.f16x2.f32
define <2 x half> @f_nvvm_ff2f16x2_rs_relu_satfinite(float %a0, float %a1, i32 %a2) {
  %r = call <2 x half> @llvm.nvvm.ff2f16x2.rs.relu.satfinite(float %a0, float %a1, i32 %a2)
  ret <2 x half> %r
}
; f_nvvm_ff2f16x2_rs_satfinite: cvt.rs.satfinite.f16x2.f32
define <2 x half> @f_nvvm_ff2f16x2_rs_satfinite(float %a0, float %a1, i32 %a2) {
  %r = call <2 x half> @llvm.nvvm.ff2f16x2.rs.satfinite(float %a0, float %a1, i32 %a2)
  ret <2 x half> %r
}
; f_nvvm_flo_s: bfind.s32
define i32 @f_nvvm_flo_s(i32 %a0) {
  %r = call i32 @llvm.nvvm.flo.s.i32(i32 %a0, i1 false)
  ret i32 %r
}
; f_nvvm_flo_u: bfind.u32
define i32 @f_nvvm_flo_u(i32 %a0) {
  %r = call i32 @llvm.nvvm.flo.u.i32(i32 %a0, i1 false)
  ret i32 %r
}
; f_nvvm_floor_d: cvt.rmi.f64.f64
define double @f_nvvm_floor_d(double %a0) {
  %r = call double @llvm.nvvm.floor.d(double %a0)
  ret double %r
}
; f_nvvm_floor_ftz_f: cvt.rmi.ftz.f32.f32
define float @f_nvvm_floor_ftz_f(float %a0) {
  %r = call float @llvm.nvvm.floor.ftz.f(float %a0)
  ret float %r
}
; f_nvvm_fma_rm_d: fma.rm.f64
define double @f_nvvm_fma_rm_d(double %a0, double %a1, double %a2) {
  %r = call double @llvm.nvvm.fma.rm.d(double %a0, double %a1, double %a2)
  ret double %r
}
; f_nvvm_fma_rm_ftz_sat_f: fma.rm.ftz.sat.f32
define float @f_nvvm_fma_rm_ftz_sat_f(float %a0, float %a1, float %a2) {
  %r = call float @llvm.nvvm.fma.rm.ftz.sat.f(float %a0, float %a1, float %a2)
  ret float %r
}
; f_nvvm_fmax_bf16: max.bf16
define bfloat @f_nvvm_fmax_bf16(bfloat %a0, bfloat %a1) {
  %r = call bfloat @llvm.nvvm.fmax.bf16(bfloat %a0, bfloat %a1)
  ret bfloat %r
}
; f_nvvm_fmax_nan_bf16: max.NaN.bf16
define bfloat @f_nvvm_fmax_nan_bf16(bfloat %a0, bfloat %a1) {
  %r = call bfloat @llvm.nvvm.fmax.nan.bf16(bfloat %a0, bfloat %a1)
  ret bfloat %r
}
; f_nvvm_fmax_nan_xorsign_abs_bf16: max.NaN.xorsign.abs.bf16
define bfloat @f_nvvm_fmax_nan_xorsign_abs_bf16(bfloat %a0, bfloat %a1) {
  %r = call bfloat @llvm.nvvm.fmax.nan.xorsign.abs.bf16(bfloat %a0, bfloat %a1)
  ret bfloat %r
}
; f_nvvm_fmax_xorsign_abs_bf16: max.xorsign.abs.bf16
define bfloat @f_nvvm_fmax_xorsign_abs_bf16(bfloat %a0, bfloat %a1) {
  %r = call bfloat @llvm.nvvm.fmax.xorsign.abs.bf16(bfloat %a0, bfloat %a1)
  ret bfloat %r
}
; f_nvvm_fmin_bf16: min.bf16
define bfloat @f_nvvm_fmin_bf16(bfloat %a0, bfloat %a1) {
  %r = call bfloat @llvm.nvvm.fmin.bf16(bfloat %a0, bfloat %a1)
  ret bfloat %r
}
; f_nvvm_fmin_nan_bf16: min.NaN.bf16
define bfloat @f_nvvm_fmin_nan_bf16(bfloat %a0, bfloat %a1) {
  %r = call bfloat @llvm.nvvm.fmin.nan.bf16(bfloat %a0, bfloat %a1)
  ret bfloat %r
}
; f_nvvm_fmin_nan_xorsign_abs_bf16: min.NaN.xorsign.abs.bf16
define bfloat @f_nvvm_fmin_nan_xorsign_abs_bf16(bfloat %a0, bfloat %a1) {
  %r = call bfloat @llvm.nvvm.fmin.nan.xorsign.abs.bf16(bfloat %a0, bfloat %a1)
  ret bfloat %r
}
; f_nvvm_fmin_xorsign_abs_bf16: min.xorsign.abs.bf16
define bfloat @f_nvvm_fmin_xorsign_abs_bf16(bfloat %a0, bfloat %a1) {
  %r = call bfloat @llvm.nvvm.fmin.xorsign.abs.bf16(bfloat %a0, bfloat %a1)
  ret bfloat %r
}
; f_nvvm_fns: fns.b32
define i32 @f_nvvm_fns(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.fns(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_fshl_clamp: shf.l.clamp.b32
define i32 @f_nvvm_fshl_clamp(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.fshl.clamp.i32(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_fshr_clamp: shf.r.clamp.b32
define i32 @f_nvvm_fshr_clamp(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.fshr.clamp.i32(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_getctarank: getctarank.u64
define i32 @f_nvvm_getctarank(ptr %a0) {
  %r = call i32 @llvm.nvvm.getctarank(ptr %a0)
  ret i32 %r
}
; f_nvvm_getctarank_shared_cluster: getctarank.shared::cluster.u64
define i32 @f_nvvm_getctarank_shared_cluster(ptr addrspace(3) %a0) {
  %r = call i32 @llvm.nvvm.getctarank.shared.cluster(ptr addrspace(3) %a0)
  ret i32 %r
}
; f_nvvm_griddepcontrol_launch_dependents: griddepcontrol.launch_dependents
define void @f_nvvm_griddepcontrol_launch_dependents() {
  call void @llvm.nvvm.griddepcontrol.launch.dependents()
  ret void
}
; f_nvvm_griddepcontrol_wait: griddepcontrol.wait
define void @f_nvvm_griddepcontrol_wait() {
  call void @llvm.nvvm.griddepcontrol.wait()
  ret void
}
; f_nvvm_i2d_rm: cvt.rm.f64.s32
define double @f_nvvm_i2d_rm(i32 %a0) {
  %r = call double @llvm.nvvm.i2d.rm(i32 %a0)
  ret double %r
}
; f_nvvm_i2f_rm: cvt.rm.f32.s32
define float @f_nvvm_i2f_rm(i32 %a0) {
  %r = call float @llvm.nvvm.i2f.rm(i32 %a0)
  ret float %r
}
; f_nvvm_idp2a_s_s: dp2a.lo.s32.s32
define i32 @f_nvvm_idp2a_s_s(i32 %a0, i32 %a1, i32 %a3) {
  %r = call i32 @llvm.nvvm.idp2a.s.s(i32 %a0, i32 %a1, i1 false, i32 %a3)
  ret i32 %r
}
; f_nvvm_idp2a_s_u: dp2a.lo.s32.u32
define i32 @f_nvvm_idp2a_s_u(i32 %a0, i32 %a1, i32 %a3) {
  %r = call i32 @llvm.nvvm.idp2a.s.u(i32 %a0, i32 %a1, i1 false, i32 %a3)
  ret i32 %r
}
; f_nvvm_idp2a_u_s: dp2a.lo.u32.s32
define i32 @f_nvvm_idp2a_u_s(i32 %a0, i32 %a1, i32 %a3) {
  %r = call i32 @llvm.nvvm.idp2a.u.s(i32 %a0, i32 %a1, i1 false, i32 %a3)
  ret i32 %r
}
; f_nvvm_idp2a_u_u: dp2a.lo.u32.u32
define i32 @f_nvvm_idp2a_u_u(i32 %a0, i32 %a1, i32 %a3) {
  %r = call i32 @llvm.nvvm.idp2a.u.u(i32 %a0, i32 %a1, i1 false, i32 %a3)
  ret i32 %r
}
; f_nvvm_idp4a_s_s: dp4a.s32.s32
define i32 @f_nvvm_idp4a_s_s(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.idp4a.s.s(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_idp4a_s_u: dp4a.s32.u32
define i32 @f_nvvm_idp4a_s_u(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.idp4a.s.u(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_idp4a_u_s: dp4a.u32.s32
define i32 @f_nvvm_idp4a_u_s(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.idp4a.u.s(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_idp4a_u_u: dp4a.u32.u32
define i32 @f_nvvm_idp4a_u_u(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.idp4a.u.u(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_isspacep_const: isspacep.const
define i1 @f_nvvm_isspacep_const(ptr %a0) {
  %r = call i1 @llvm.nvvm.isspacep.const(ptr %a0)
  ret i1 %r
}
; f_nvvm_isspacep_global: isspacep.global
define i1 @f_nvvm_isspacep_global(ptr %a0) {
  %r = call i1 @llvm.nvvm.isspacep.global(ptr %a0)
  ret i1 %r
}
; f_nvvm_isspacep_local: isspacep.local
define i1 @f_nvvm_isspacep_local(ptr %a0) {
  %r = call i1 @llvm.nvvm.isspacep.local(ptr %a0)
  ret i1 %r
}
; f_nvvm_isspacep_shared_cluster: isspacep.shared::cluster
define i1 @f_nvvm_isspacep_shared_cluster(ptr %a0) {
  %r = call i1 @llvm.nvvm.isspacep.shared.cluster(ptr %a0)
  ret i1 %r
}
; f_nvvm_isspacep_shared: isspacep.shared
define i1 @f_nvvm_isspacep_shared(ptr %a0) {
  %r = call i1 @llvm.nvvm.isspacep.shared(ptr %a0)
  ret i1 %r
}
; f_nvvm_istypep_sampler: istypep.samplerref
define i1 @f_nvvm_istypep_sampler(i64 %a0) {
  %r = call i1 @llvm.nvvm.istypep.sampler(i64 %a0)
  ret i1 %r
}
; f_nvvm_istypep_surface: istypep.surfref
define i1 @f_nvvm_istypep_surface(i64 %a0) {
  %r = call i1 @llvm.nvvm.istypep.surface(i64 %a0)
  ret i1 %r
}
; f_nvvm_istypep_texture: istypep.texref
define i1 @f_nvvm_istypep_texture(i64 %a0) {
  %r = call i1 @llvm.nvvm.istypep.texture(i64 %a0)
  ret i1 %r
}
; f_nvvm_ldmatrix_sync_aligned_m16n16_x1_trans_b8: ldmatrix.sync.aligned.m16n16.x1.trans.b8
define { i32, i32 } @f_nvvm_ldmatrix_sync_aligned_m16n16_x1_trans_b8(ptr %a0) {
  %r = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8.p0(ptr %a0)
  ret { i32, i32 } %r
}
; f_nvvm_ldmatrix_sync_aligned_m16n16_x1_trans_b8x16_b4x16_p64: ldmatrix.sync.aligned.m16n16.x1.trans.b8x16.b4x16_p64
define { i32, i32 } @f_nvvm_ldmatrix_sync_aligned_m16n16_x1_trans_b8x16_b4x16_p64(ptr %a0) {
  %r = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8x16.b4x16_p64.p0(ptr %a0)
  ret { i32, i32 } %r
}
; f_nvvm_ldmatrix_sync_aligned_m16n16_x1_trans_b8x16_b6x16_p32: ldmatrix.sync.aligned.m16n16.x1.trans.b8x16.b6x16_p32
define { i32, i32 } @f_nvvm_ldmatrix_sync_aligned_m16n16_x1_trans_b8x16_b6x16_p32(ptr %a0) {
  %r = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8x16.b6x16_p32.p0(ptr %a0)
  ret { i32, i32 } %r
}
; f_nvvm_ldmatrix_sync_aligned_m8n16_x1_b8x16_b4x16_p64: ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64
define i32 @f_nvvm_ldmatrix_sync_aligned_m8n16_x1_b8x16_b4x16_p64(ptr %a0) {
  %r = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64.p0(ptr %a0)
  ret i32 %r
}
; f_nvvm_ldmatrix_sync_aligned_m8n16_x1_b8x16_b6x16_p32: ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32
define i32 @f_nvvm_ldmatrix_sync_aligned_m8n16_x1_b8x16_b6x16_p32(ptr %a0) {
  %r = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32.p0(ptr %a0)
  ret i32 %r
}
; f_nvvm_ldmatrix_sync_aligned_m8n8_x1_b16: ldmatrix.sync.aligned.m8n8.x1.b16
define i32 @f_nvvm_ldmatrix_sync_aligned_m8n8_x1_b16(ptr %a0) {
  %r = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p0(ptr %a0)
  ret i32 %r
}
; f_nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16: ldmatrix.sync.aligned.m8n8.x1.trans.b16
define i32 @f_nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16(ptr %a0) {
  %r = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p0(ptr %a0)
  ret i32 %r
}
; f_nvvm_ldu_global_f: ld.global.nc.f32
define float @f_nvvm_ldu_global_f(ptr %a0, i32 %a1) {
  %r = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %a0, i32 %a1)
  ret float %r
}
; f_nvvm_ldu_global_i: ld.global.nc.v4.b32
define <4 x i32> @f_nvvm_ldu_global_i(ptr %a0) {
  %r = call <4 x i32> @llvm.nvvm.ldu.global.i.v4i32.p0(ptr %a0, i32 16)
  ret <4 x i32> %r
}
; f_nvvm_ldu_global_p: ld.global.nc.b64
define ptr @f_nvvm_ldu_global_p(ptr %a0, i32 %a1) {
  %r = call ptr @llvm.nvvm.ldu.global.p.p0.p0(ptr %a0, i32 %a1)
  ret ptr %r
}
; f_nvvm_lg2_approx_ftz_f: lg2.approx.ftz.f32
define float @f_nvvm_lg2_approx_ftz_f(float %a0) {
  %r = call float @llvm.nvvm.lg2.approx.ftz.f(float %a0)
  ret float %r
}
; f_nvvm_ll2d_rm: cvt.rm.f64.s64
define double @f_nvvm_ll2d_rm(i64 %a0) {
  %r = call double @llvm.nvvm.ll2d.rm(i64 %a0)
  ret double %r
}
; f_nvvm_ll2f_rm: cvt.rm.f32.s64
define float @f_nvvm_ll2f_rm(i64 %a0) {
  %r = call float @llvm.nvvm.ll2f.rm(i64 %a0)
  ret float %r
}
; f_nvvm_lohi_i2d: cvt.u64.u32
define double @f_nvvm_lohi_i2d(i32 %a0, i32 %a1) {
  %r = call double @llvm.nvvm.lohi.i2d(i32 %a0, i32 %a1)
  ret double %r
}
; f_nvvm_mapa: mapa.u64
define ptr @f_nvvm_mapa(ptr %a0, i32 %a1) {
  %r = call ptr @llvm.nvvm.mapa(ptr %a0, i32 %a1)
  ret ptr %r
}
; f_nvvm_mapa_shared_cluster: mapa.shared::cluster.u64
define ptr addrspace(7) @f_nvvm_mapa_shared_cluster(ptr addrspace(3) %a0, i32 %a1) {
  %r = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %a0, i32 %a1)
  ret ptr addrspace(7) %r
}
; f_nvvm_match_all_sync_i32p: match.all.sync.b32
define { i32, i1 } @f_nvvm_match_all_sync_i32p(i32 %a0, i32 %a1) {
  %r = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 %a0, i32 %a1)
  ret { i32, i1 } %r
}
; f_nvvm_match_all_sync_i64p: match.all.sync.b64
define { i32, i1 } @f_nvvm_match_all_sync_i64p(i32 %a0, i64 %a1) {
  %r = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 %a0, i64 %a1)
  ret { i32, i1 } %r
}
; f_nvvm_match_any_sync_i32: match.any.sync.b32
define i32 @f_nvvm_match_any_sync_i32(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.match.any.sync.i32(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_mbarrier_arrive_drop_expect_tx_relaxed_scope_cluster_space_cluster: mbarrier.arrive_drop.expect_tx.relaxed.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_arrive_drop_expect_tx_relaxed_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.arrive.drop.expect.tx.relaxed.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_arrive_drop_expect_tx_scope_cluster_space_cluster: mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_arrive_drop_expect_tx_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.arrive.drop.expect.tx.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_arrive_drop: mbarrier.arrive_drop.b64
define i64 @f_nvvm_mbarrier_arrive_drop(ptr %a0) {
  %r = call i64 @llvm.nvvm.mbarrier.arrive.drop(ptr %a0)
  ret i64 %r
}
; f_nvvm_mbarrier_arrive_drop_noComplete: mbarrier.arrive_drop.noComplete.b64
define i64 @f_nvvm_mbarrier_arrive_drop_noComplete(ptr %a0, i32 %a1) {
  %r = call i64 @llvm.nvvm.mbarrier.arrive.drop.noComplete(ptr %a0, i32 %a1)
  ret i64 %r
}
; f_nvvm_mbarrier_arrive_drop_noComplete_shared: mbarrier.arrive_drop.noComplete.shared.b64
define i64 @f_nvvm_mbarrier_arrive_drop_noComplete_shared(ptr addrspace(3) %a0, i32 %a1) {
  %r = call i64 @llvm.nvvm.mbarrier.arrive.drop.noComplete.shared(ptr addrspace(3) %a0, i32 %a1)
  ret i64 %r
}
; f_nvvm_mbarrier_arrive_drop_relaxed_scope_cluster_space_cluster: mbarrier.arrive_drop.relaxed.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_arrive_drop_relaxed_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.arrive.drop.relaxed.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_arrive_drop_scope_cluster_space_cluster: mbarrier.arrive_drop.release.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_arrive_drop_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.arrive.drop.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_arrive_drop_shared: mbarrier.arrive_drop.shared.b64
define i64 @f_nvvm_mbarrier_arrive_drop_shared(ptr addrspace(3) %a0) {
  %r = call i64 @llvm.nvvm.mbarrier.arrive.drop.shared(ptr addrspace(3) %a0)
  ret i64 %r
}
; f_nvvm_mbarrier_arrive_expect_tx_relaxed_scope_cluster_space_cluster: mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_arrive_expect_tx_relaxed_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.arrive.expect.tx.relaxed.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_arrive_expect_tx_scope_cluster_space_cluster: mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_arrive_expect_tx_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_arrive: mbarrier.arrive.b64
define i64 @f_nvvm_mbarrier_arrive(ptr %a0) {
  %r = call i64 @llvm.nvvm.mbarrier.arrive(ptr %a0)
  ret i64 %r
}
; f_nvvm_mbarrier_arrive_noComplete: mbarrier.arrive.noComplete.b64
define i64 @f_nvvm_mbarrier_arrive_noComplete(ptr %a0, i32 %a1) {
  %r = call i64 @llvm.nvvm.mbarrier.arrive.noComplete(ptr %a0, i32 %a1)
  ret i64 %r
}
; f_nvvm_mbarrier_arrive_noComplete_shared: mbarrier.arrive.noComplete.shared.b64
define i64 @f_nvvm_mbarrier_arrive_noComplete_shared(ptr addrspace(3) %a0, i32 %a1) {
  %r = call i64 @llvm.nvvm.mbarrier.arrive.noComplete.shared(ptr addrspace(3) %a0, i32 %a1)
  ret i64 %r
}
; f_nvvm_mbarrier_arrive_relaxed_scope_cluster_space_cluster: mbarrier.arrive.relaxed.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_arrive_relaxed_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.arrive.relaxed.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_arrive_scope_cluster_space_cluster: mbarrier.arrive.release.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_arrive_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.arrive.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_arrive_shared: mbarrier.arrive.shared.b64
define i64 @f_nvvm_mbarrier_arrive_shared(ptr addrspace(3) %a0) {
  %r = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %a0)
  ret i64 %r
}
; f_nvvm_mbarrier_complete_tx_scope_cluster_space_cluster: mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_complete_tx_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.complete.tx.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_expect_tx_scope_cluster_space_cluster: mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64
define void @f_nvvm_mbarrier_expect_tx_scope_cluster_space_cluster(ptr addrspace(7) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.expect.tx.scope.cluster.space.cluster(ptr addrspace(7) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_init: mbarrier.init.b64
define void @f_nvvm_mbarrier_init(ptr %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.init(ptr %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_init_shared: mbarrier.init.shared.b64
define void @f_nvvm_mbarrier_init_shared(ptr addrspace(3) %a0, i32 %a1) {
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) %a0, i32 %a1)
  ret void
}
; f_nvvm_mbarrier_inval: mbarrier.inval.b64
define void @f_nvvm_mbarrier_inval(ptr %a0) {
  call void @llvm.nvvm.mbarrier.inval(ptr %a0)
  ret void
}
; f_nvvm_mbarrier_inval_shared: mbarrier.inval.shared.b64
define void @f_nvvm_mbarrier_inval_shared(ptr addrspace(3) %a0) {
  call void @llvm.nvvm.mbarrier.inval.shared(ptr addrspace(3) %a0)
  ret void
}
; f_nvvm_mbarrier_pending_count: mbarrier.pending_count.b64
define i32 @f_nvvm_mbarrier_pending_count(i64 %a0) {
  %r = call i32 @llvm.nvvm.mbarrier.pending.count(i64 %a0)
  ret i32 %r
}
; f_nvvm_mbarrier_test_wait: mbarrier.test_wait.b64
define i1 @f_nvvm_mbarrier_test_wait(ptr %a0, i64 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.test.wait(ptr %a0, i64 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_test_wait_parity_relaxed_scope_cluster_space_cta: mbarrier.test_wait.parity.relaxed.cluster.shared.b64
define i1 @f_nvvm_mbarrier_test_wait_parity_relaxed_scope_cluster_space_cta(ptr addrspace(3) %a0, i32 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.test.wait.parity.relaxed.scope.cluster.space.cta(ptr addrspace(3) %a0, i32 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_test_wait_parity_scope_cluster_space_cta: mbarrier.test_wait.parity.acquire.cluster.shared.b64
define i1 @f_nvvm_mbarrier_test_wait_parity_scope_cluster_space_cta(ptr addrspace(3) %a0, i32 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.test.wait.parity.scope.cluster.space.cta(ptr addrspace(3) %a0, i32 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_test_wait_relaxed_scope_cluster_space_cta: mbarrier.test_wait.relaxed.cluster.shared.b64
define i1 @f_nvvm_mbarrier_test_wait_relaxed_scope_cluster_space_cta(ptr addrspace(3) %a0, i64 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.test.wait.relaxed.scope.cluster.space.cta(ptr addrspace(3) %a0, i64 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_test_wait_scope_cluster_space_cta: mbarrier.test_wait.acquire.cluster.shared.b64
define i1 @f_nvvm_mbarrier_test_wait_scope_cluster_space_cta(ptr addrspace(3) %a0, i64 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.test.wait.scope.cluster.space.cta(ptr addrspace(3) %a0, i64 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_test_wait_shared: mbarrier.test_wait.shared.b64
define i1 @f_nvvm_mbarrier_test_wait_shared(ptr addrspace(3) %a0, i64 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) %a0, i64 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_try_wait_parity_relaxed_scope_cluster_space_cta: mbarrier.try_wait.parity.relaxed.cluster.shared.b64
define i1 @f_nvvm_mbarrier_try_wait_parity_relaxed_scope_cluster_space_cta(ptr addrspace(3) %a0, i32 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.try.wait.parity.relaxed.scope.cluster.space.cta(ptr addrspace(3) %a0, i32 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_try_wait_parity_scope_cluster_space_cta: mbarrier.try_wait.parity.acquire.cluster.shared.b64
define i1 @f_nvvm_mbarrier_try_wait_parity_scope_cluster_space_cta(ptr addrspace(3) %a0, i32 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cluster.space.cta(ptr addrspace(3) %a0, i32 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_try_wait_parity_tl_relaxed_scope_cluster_space_cta: mbarrier.try_wait.parity.relaxed.cluster.shared.b64
define i1 @f_nvvm_mbarrier_try_wait_parity_tl_relaxed_scope_cluster_space_cta(ptr addrspace(3) %a0, i32 %a1, i32 %a2) {
  %r = call i1 @llvm.nvvm.mbarrier.try.wait.parity.tl.relaxed.scope.cluster.space.cta(ptr addrspace(3) %a0, i32 %a1, i32 %a2)
  ret i1 %r
}
; f_nvvm_mbarrier_try_wait_parity_tl_scope_cluster_space_cta: mbarrier.try_wait.parity.acquire.cluster.shared.b64
define i1 @f_nvvm_mbarrier_try_wait_parity_tl_scope_cluster_space_cta(ptr addrspace(3) %a0, i32 %a1, i32 %a2) {
  %r = call i1 @llvm.nvvm.mbarrier.try.wait.parity.tl.scope.cluster.space.cta(ptr addrspace(3) %a0, i32 %a1, i32 %a2)
  ret i1 %r
}
; f_nvvm_mbarrier_try_wait_relaxed_scope_cluster_space_cta: mbarrier.try_wait.relaxed.cluster.shared.b64
define i1 @f_nvvm_mbarrier_try_wait_relaxed_scope_cluster_space_cta(ptr addrspace(3) %a0, i64 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.try.wait.relaxed.scope.cluster.space.cta(ptr addrspace(3) %a0, i64 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_try_wait_scope_cluster_space_cta: mbarrier.try_wait.acquire.cluster.shared.b64
define i1 @f_nvvm_mbarrier_try_wait_scope_cluster_space_cta(ptr addrspace(3) %a0, i64 %a1) {
  %r = call i1 @llvm.nvvm.mbarrier.try.wait.scope.cluster.space.cta(ptr addrspace(3) %a0, i64 %a1)
  ret i1 %r
}
; f_nvvm_mbarrier_try_wait_tl_relaxed_scope_cluster_space_cta: mbarrier.try_wait.relaxed.cluster.shared.b64
define i1 @f_nvvm_mbarrier_try_wait_tl_relaxed_scope_cluster_space_cta(ptr addrspace(3) %a0, i64 %a1, i32 %a2) {
  %r = call i1 @llvm.nvvm.mbarrier.try.wait.tl.relaxed.scope.cluster.space.cta(ptr addrspace(3) %a0, i64 %a1, i32 %a2)
  ret i1 %r
}
; f_nvvm_mbarrier_try_wait_tl_scope_cluster_space_cta: mbarrier.try_wait.acquire.cluster.shared.b64
define i1 @f_nvvm_mbarrier_try_wait_tl_scope_cluster_space_cta(ptr addrspace(3) %a0, i64 %a1, i32 %a2) {
  %r = call i1 @llvm.nvvm.mbarrier.try.wait.tl.scope.cluster.space.cta(ptr addrspace(3) %a0, i64 %a1, i32 %a2)
  ret i1 %r
}
; f_nvvm_membar_cta: membar.cta
define void @f_nvvm_membar_cta() {
  call void @llvm.nvvm.membar.cta()
  ret void
}
; f_nvvm_membar_gl: membar.gl
define void @f_nvvm_membar_gl() {
  call void @llvm.nvvm.membar.gl()
  ret void
}
; f_nvvm_mma_and_popc_m16n8k128_row_col_b1: mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc
define { i32, i32, i32, i32 } @f_nvvm_mma_and_popc_m16n8k128_row_col_b1(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.and.popc.m16n8k128.row.col.b1(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_mma_m16n8k16_row_col_bf16: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
define { float, float, float, float } @f_nvvm_mma_m16n8k16_row_col_bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, float %a6, float %a7, float %a8, float %a9) {
  %r = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, float %a6, float %a7, float %a8, float %a9)
  ret { float, float, float, float } %r
}
; f_nvvm_mma_m16n8k16_row_col_satfinite_s8: mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32
define { i32, i32, i32, i32 } @f_nvvm_mma_m16n8k16_row_col_satfinite_s8(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k16.row.col.satfinite.s8(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_mma_m16n8k16_row_col_satfinite_s8_u8: mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32
define { i32, i32, i32, i32 } @f_nvvm_mma_m16n8k16_row_col_satfinite_s8_u8(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k16.row.col.satfinite.s8.u8(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_mma_sp_m16n8k128_row_col_s4: mma.sp.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32
define { i32, i32, i32, i32 } @f_nvvm_mma_sp_m16n8k128_row_col_s4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.m16n8k128.row.col.s4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12, i32 0)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_mma_sp_m16n8k128_row_col_satfinite_s4: mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.s4.s32
define { i32, i32, i32, i32 } @f_nvvm_mma_sp_m16n8k128_row_col_satfinite_s4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.m16n8k128.row.col.satfinite.s4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12, i32 0)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_mma_sp_m16n8k128_row_col_satfinite_s4_u4: mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.u4.s32
define { i32, i32, i32, i32 } @f_nvvm_mma_sp_m16n8k128_row_col_satfinite_s4_u4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.m16n8k128.row.col.satfinite.s4.u4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12, i32 0)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_mma_sp_ordered_metadata_m16n8k128_row_col_s4: mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32
define { i32, i32, i32, i32 } @f_nvvm_mma_sp_ordered_metadata_m16n8k128_row_col_s4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k128.row.col.s4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12, i32 0)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_mma_sp_ordered_metadata_m16n8k128_row_col_satfinite_s4: mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.s4.s32
define { i32, i32, i32, i32 } @f_nvvm_mma_sp_ordered_metadata_m16n8k128_row_col_satfinite_s4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k128.row.col.satfinite.s4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12, i32 0)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_mma_sp_ordered_metadata_m16n8k128_row_col_satfinite_s4_u4: mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.u4.s32
define { i32, i32, i32, i32 } @f_nvvm_mma_sp_ordered_metadata_m16n8k128_row_col_satfinite_s4_u4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k128.row.col.satfinite.s4.u4(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, i32 %a8, i32 %a9, i32 %a10, i32 %a11, i32 %a12, i32 0)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_move_i16: cvt.u16.u32
define i16 @f_nvvm_move_i16(i16 %a0) {
  %r = call i16 @llvm.nvvm.move.i16(i16 %a0)
  ret i16 %r
}
; f_nvvm_mul_rm_d: mul.rm.f64
define double @f_nvvm_mul_rm_d(double %a0, double %a1) {
  %r = call double @llvm.nvvm.mul.rm.d(double %a0, double %a1)
  ret double %r
}
; f_nvvm_mul24_i: mul24.lo.s32
define i32 @f_nvvm_mul24_i(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.mul24.i(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_mulhi_i: mul.hi.s32
define i32 @f_nvvm_mulhi_i(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.mulhi.i(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_mulhi_s: mul.hi.s16
define i16 @f_nvvm_mulhi_s(i16 %a0, i16 %a1) {
  %r = call i16 @llvm.nvvm.mulhi.s(i16 %a0, i16 %a1)
  ret i16 %r
}
; f_nvvm_mulhi_us: mul.hi.u16
define i16 @f_nvvm_mulhi_us(i16 %a0, i16 %a1) {
  %r = call i16 @llvm.nvvm.mulhi.us(i16 %a0, i16 %a1)
  ret i16 %r
}
; f_nvvm_nanosleep: nanosleep.u32
define void @f_nvvm_nanosleep(i32 %a0) {
  call void @llvm.nvvm.nanosleep(i32 %a0)
  ret void
}
; f_nvvm_neg_bf16: neg.bf16
define bfloat @f_nvvm_neg_bf16(bfloat %a0) {
  %r = call bfloat @llvm.nvvm.neg.bf16(bfloat %a0)
  ret bfloat %r
}
; f_nvvm_pm_event_mask: pmevent.mask
define void @f_nvvm_pm_event_mask() {
  call void @llvm.nvvm.pm.event.mask(i16 0)
  ret void
}
; f_nvvm_prefetch_L1: prefetch.L1
define void @f_nvvm_prefetch_L1(ptr %a0) {
  call void @llvm.nvvm.prefetch.L1(ptr %a0)
  ret void
}
; f_nvvm_prefetch_L2: prefetch.L2
define void @f_nvvm_prefetch_L2(ptr %a0) {
  call void @llvm.nvvm.prefetch.L2(ptr %a0)
  ret void
}
; f_nvvm_prefetch_global_L1: prefetch.global.L1
define void @f_nvvm_prefetch_global_L1(ptr addrspace(1) %a0) {
  call void @llvm.nvvm.prefetch.global.L1(ptr addrspace(1) %a0)
  ret void
}
; f_nvvm_prefetch_global_L2_evict_last: prefetch.global.L2::evict_last
define void @f_nvvm_prefetch_global_L2_evict_last(ptr addrspace(1) %a0) {
  call void @llvm.nvvm.prefetch.global.L2.evict.last(ptr addrspace(1) %a0)
  ret void
}
; f_nvvm_prefetch_global_L2_evict_normal: prefetch.global.L2::evict_normal
define void @f_nvvm_prefetch_global_L2_evict_normal(ptr addrspace(1) %a0) {
  call void @llvm.nvvm.prefetch.global.L2.evict.normal(ptr addrspace(1) %a0)
  ret void
}
; f_nvvm_prefetch_global_L2: prefetch.global.L2
define void @f_nvvm_prefetch_global_L2(ptr addrspace(1) %a0) {
  call void @llvm.nvvm.prefetch.global.L2(ptr addrspace(1) %a0)
  ret void
}
; f_nvvm_prefetch_local_L1: prefetch.local.L1
define void @f_nvvm_prefetch_local_L1(ptr addrspace(5) %a0) {
  call void @llvm.nvvm.prefetch.local.L1(ptr addrspace(5) %a0)
  ret void
}
; f_nvvm_prefetch_local_L2: prefetch.local.L2
define void @f_nvvm_prefetch_local_L2(ptr addrspace(5) %a0) {
  call void @llvm.nvvm.prefetch.local.L2(ptr addrspace(5) %a0)
  ret void
}
; f_nvvm_prefetch_tensormap: prefetch.tensormap
define void @f_nvvm_prefetch_tensormap(ptr %a0) {
  call void @llvm.nvvm.prefetch.tensormap.p0(ptr %a0)
  ret void
}
; f_nvvm_prefetchu_L1: prefetchu.L1
define void @f_nvvm_prefetchu_L1(ptr %a0) {
  call void @llvm.nvvm.prefetchu.L1(ptr %a0)
  ret void
}
; f_nvvm_prmt_b4e: prmt.b32.b4e
define i32 @f_nvvm_prmt_b4e(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.prmt.b4e(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_prmt_ecl: prmt.b32.ecl
define i32 @f_nvvm_prmt_ecl(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.prmt.ecl(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_prmt_ecr: prmt.b32.ecr
define i32 @f_nvvm_prmt_ecr(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.prmt.ecr(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_prmt_f4e: prmt.b32.f4e
define i32 @f_nvvm_prmt_f4e(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.prmt.f4e(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_prmt: prmt.b32
define i32 @f_nvvm_prmt(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.prmt(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_prmt_rc16: prmt.b32.rc16
define i32 @f_nvvm_prmt_rc16(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.prmt.rc16(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_prmt_rc8: prmt.b32.rc8
define i32 @f_nvvm_prmt_rc8(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.prmt.rc8(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_rcp_approx_ftz_d: rcp.approx.ftz.f64
define double @f_nvvm_rcp_approx_ftz_d(double %a0) {
  %r = call double @llvm.nvvm.rcp.approx.ftz.d(double %a0)
  ret double %r
}
; f_nvvm_rcp_rm_d: rcp.rm.f64
define double @f_nvvm_rcp_rm_d(double %a0) {
  %r = call double @llvm.nvvm.rcp.rm.d(double %a0)
  ret double %r
}
; f_nvvm_redux_sync_add: redux.sync.add.s32
define i32 @f_nvvm_redux_sync_add(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.redux.sync.add(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_redux_sync_fmax_NaN: redux.sync.max.NaN.f32
define float @f_nvvm_redux_sync_fmax_NaN(float %a0, i32 %a1) {
  %r = call float @llvm.nvvm.redux.sync.fmax.NaN(float %a0, i32 %a1)
  ret float %r
}
; f_nvvm_redux_sync_fmax_abs_NaN: redux.sync.max.abs.NaN.f32
define float @f_nvvm_redux_sync_fmax_abs_NaN(float %a0, i32 %a1) {
  %r = call float @llvm.nvvm.redux.sync.fmax.abs.NaN(float %a0, i32 %a1)
  ret float %r
}
; f_nvvm_redux_sync_fmax_abs: redux.sync.max.abs.f32
define float @f_nvvm_redux_sync_fmax_abs(float %a0, i32 %a1) {
  %r = call float @llvm.nvvm.redux.sync.fmax.abs(float %a0, i32 %a1)
  ret float %r
}
; f_nvvm_redux_sync_fmax: redux.sync.max.f32
define float @f_nvvm_redux_sync_fmax(float %a0, i32 %a1) {
  %r = call float @llvm.nvvm.redux.sync.fmax(float %a0, i32 %a1)
  ret float %r
}
; f_nvvm_redux_sync_fmin_NaN: redux.sync.min.NaN.f32
define float @f_nvvm_redux_sync_fmin_NaN(float %a0, i32 %a1) {
  %r = call float @llvm.nvvm.redux.sync.fmin.NaN(float %a0, i32 %a1)
  ret float %r
}
; f_nvvm_redux_sync_fmin_abs_NaN: redux.sync.min.abs.NaN.f32
define float @f_nvvm_redux_sync_fmin_abs_NaN(float %a0, i32 %a1) {
  %r = call float @llvm.nvvm.redux.sync.fmin.abs.NaN(float %a0, i32 %a1)
  ret float %r
}
; f_nvvm_redux_sync_fmin_abs: redux.sync.min.abs.f32
define float @f_nvvm_redux_sync_fmin_abs(float %a0, i32 %a1) {
  %r = call float @llvm.nvvm.redux.sync.fmin.abs(float %a0, i32 %a1)
  ret float %r
}
; f_nvvm_redux_sync_fmin: redux.sync.min.f32
define float @f_nvvm_redux_sync_fmin(float %a0, i32 %a1) {
  %r = call float @llvm.nvvm.redux.sync.fmin(float %a0, i32 %a1)
  ret float %r
}
; f_nvvm_redux_sync_umax: redux.sync.max.u32
define i32 @f_nvvm_redux_sync_umax(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.redux.sync.umax(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_redux_sync_umin: redux.sync.min.u32
define i32 @f_nvvm_redux_sync_umin(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.redux.sync.umin(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_round_d: cvt.rni.f64.f64
define double @f_nvvm_round_d(double %a0) {
  %r = call double @llvm.nvvm.round.d(double %a0)
  ret double %r
}
; f_nvvm_round_ftz_f: cvt.rni.ftz.f32.f32
define float @f_nvvm_round_ftz_f(float %a0) {
  %r = call float @llvm.nvvm.round.ftz.f(float %a0)
  ret float %r
}
; f_nvvm_rsqrt_approx_d: rsqrt.approx.f64
define double @f_nvvm_rsqrt_approx_d(double %a0) {
  %r = call double @llvm.nvvm.rsqrt.approx.d(double %a0)
  ret double %r
}
; f_nvvm_rsqrt_approx_ftz_d: rsqrt.approx.ftz.f64
define double @f_nvvm_rsqrt_approx_ftz_d(double %a0) {
  %r = call double @llvm.nvvm.rsqrt.approx.ftz.d(double %a0)
  ret double %r
}
; f_nvvm_sad_i: sad.s32
define i32 @f_nvvm_sad_i(i32 %a0, i32 %a1, i32 %a2) {
  %r = call i32 @llvm.nvvm.sad.i(i32 %a0, i32 %a1, i32 %a2)
  ret i32 %r
}
; f_nvvm_sad_s: sad.s16
define i16 @f_nvvm_sad_s(i16 %a0, i16 %a1, i16 %a2) {
  %r = call i16 @llvm.nvvm.sad.s(i16 %a0, i16 %a1, i16 %a2)
  ret i16 %r
}
; f_nvvm_sad_us: sad.u16
define i16 @f_nvvm_sad_us(i16 %a0, i16 %a1, i16 %a2) {
  %r = call i16 @llvm.nvvm.sad.us(i16 %a0, i16 %a1, i16 %a2)
  ret i16 %r
}
; f_nvvm_saturate_d: cvt.sat.f64.f64
define double @f_nvvm_saturate_d(double %a0) {
  %r = call double @llvm.nvvm.saturate.d(double %a0)
  ret double %r
}
; f_nvvm_saturate_ftz_f: cvt.sat.ftz.f32.f32
define float @f_nvvm_saturate_ftz_f(float %a0) {
  %r = call float @llvm.nvvm.saturate.ftz.f(float %a0)
  ret float %r
}
; f_nvvm_setmaxnreg_dec_sync_aligned_u32: setmaxnreg.dec.sync.aligned.u32
define void @f_nvvm_setmaxnreg_dec_sync_aligned_u32() {
  call void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32 24)
  ret void
}
; f_nvvm_sext_clamp: szext.clamp.s32
define i32 @f_nvvm_sext_clamp(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.sext.clamp(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_sext_wrap: szext.wrap.s32
define i32 @f_nvvm_sext_wrap(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.sext.wrap(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_shfl_sync_bfly_f32: shfl.sync.bfly.b32
define float @f_nvvm_shfl_sync_bfly_f32(i32 %a0, float %a1, i32 %a2, i32 %a3) {
  %r = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 %a0, float %a1, i32 %a2, i32 %a3)
  ret float %r
}
; f_nvvm_shfl_sync_bfly_f32p: shfl.sync.bfly.b32
define { float, i1 } @f_nvvm_shfl_sync_bfly_f32p(i32 %a0, float %a1, i32 %a2, i32 %a3) {
  %r = call { float, i1 } @llvm.nvvm.shfl.sync.bfly.f32p(i32 %a0, float %a1, i32 %a2, i32 %a3)
  ret { float, i1 } %r
}
; f_nvvm_shfl_sync_bfly_i32p: shfl.sync.bfly.b32
define { i32, i1 } @f_nvvm_shfl_sync_bfly_i32p(i32 %a0, i32 %a1, i32 %a2, i32 %a3) {
  %r = call { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32 %a0, i32 %a1, i32 %a2, i32 %a3)
  ret { i32, i1 } %r
}
; f_nvvm_shfl_sync_down_f32: shfl.sync.down.b32
define float @f_nvvm_shfl_sync_down_f32(i32 %a0, float %a1, i32 %a2, i32 %a3) {
  %r = call float @llvm.nvvm.shfl.sync.down.f32(i32 %a0, float %a1, i32 %a2, i32 %a3)
  ret float %r
}
; f_nvvm_shfl_sync_down_f32p: shfl.sync.down.b32
define { float, i1 } @f_nvvm_shfl_sync_down_f32p(i32 %a0, float %a1, i32 %a2, i32 %a3) {
  %r = call { float, i1 } @llvm.nvvm.shfl.sync.down.f32p(i32 %a0, float %a1, i32 %a2, i32 %a3)
  ret { float, i1 } %r
}
; f_nvvm_shfl_sync_down_i32p: shfl.sync.down.b32
define { i32, i1 } @f_nvvm_shfl_sync_down_i32p(i32 %a0, i32 %a1, i32 %a2, i32 %a3) {
  %r = call { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32 %a0, i32 %a1, i32 %a2, i32 %a3)
  ret { i32, i1 } %r
}
; f_nvvm_shfl_sync_idx_f32: shfl.sync.idx.b32
define float @f_nvvm_shfl_sync_idx_f32(i32 %a0, float %a1, i32 %a2, i32 %a3) {
  %r = call float @llvm.nvvm.shfl.sync.idx.f32(i32 %a0, float %a1, i32 %a2, i32 %a3)
  ret float %r
}
; f_nvvm_shfl_sync_idx_f32p: shfl.sync.idx.b32
define { float, i1 } @f_nvvm_shfl_sync_idx_f32p(i32 %a0, float %a1, i32 %a2, i32 %a3) {
  %r = call { float, i1 } @llvm.nvvm.shfl.sync.idx.f32p(i32 %a0, float %a1, i32 %a2, i32 %a3)
  ret { float, i1 } %r
}
; f_nvvm_shfl_sync_idx_i32p: shfl.sync.idx.b32
define { i32, i1 } @f_nvvm_shfl_sync_idx_i32p(i32 %a0, i32 %a1, i32 %a2, i32 %a3) {
  %r = call { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32 %a0, i32 %a1, i32 %a2, i32 %a3)
  ret { i32, i1 } %r
}
; f_nvvm_shfl_sync_up_f32: shfl.sync.up.b32
define float @f_nvvm_shfl_sync_up_f32(i32 %a0, float %a1, i32 %a2, i32 %a3) {
  %r = call float @llvm.nvvm.shfl.sync.up.f32(i32 %a0, float %a1, i32 %a2, i32 %a3)
  ret float %r
}
; f_nvvm_shfl_sync_up_f32p: shfl.sync.up.b32
define { float, i1 } @f_nvvm_shfl_sync_up_f32p(i32 %a0, float %a1, i32 %a2, i32 %a3) {
  %r = call { float, i1 } @llvm.nvvm.shfl.sync.up.f32p(i32 %a0, float %a1, i32 %a2, i32 %a3)
  ret { float, i1 } %r
}
; f_nvvm_shfl_sync_up_i32p: shfl.sync.up.b32
define { i32, i1 } @f_nvvm_shfl_sync_up_i32p(i32 %a0, i32 %a1, i32 %a2, i32 %a3) {
  %r = call { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32 %a0, i32 %a1, i32 %a2, i32 %a3)
  ret { i32, i1 } %r
}
; f_nvvm_sin_approx_f: sin.approx.f32
define float @f_nvvm_sin_approx_f(float %a0) {
  %r = call float @llvm.nvvm.sin.approx.f(float %a0)
  ret float %r
}
; f_nvvm_sin_approx_ftz_f: sin.approx.ftz.f32
define float @f_nvvm_sin_approx_ftz_f(float %a0) {
  %r = call float @llvm.nvvm.sin.approx.ftz.f(float %a0)
  ret float %r
}
; f_nvvm_sqrt_approx_f: sqrt.approx.f32
define float @f_nvvm_sqrt_approx_f(float %a0) {
  %r = call float @llvm.nvvm.sqrt.approx.f(float %a0)
  ret float %r
}
; f_nvvm_sqrt_approx_ftz_f: sqrt.approx.ftz.f32
define float @f_nvvm_sqrt_approx_ftz_f(float %a0) {
  %r = call float @llvm.nvvm.sqrt.approx.ftz.f(float %a0)
  ret float %r
}
; f_nvvm_sqrt_f: sqrt.rn.f32
define float @f_nvvm_sqrt_f(float %a0) {
  %r = call float @llvm.nvvm.sqrt.f(float %a0)
  ret float %r
}
; f_nvvm_sqrt_rm_d: sqrt.rm.f64
define double @f_nvvm_sqrt_rm_d(double %a0) {
  %r = call double @llvm.nvvm.sqrt.rm.d(double %a0)
  ret double %r
}
; f_nvvm_st_bulk: st.bulk.weak
define void @f_nvvm_st_bulk(ptr %a0, i64 %a1) {
  call void @llvm.nvvm.st.bulk(ptr %a0, i64 %a1, i64 0)
  ret void
}
; f_nvvm_stmatrix_sync_aligned_m16n8_x1_trans_b8: stmatrix.sync.aligned.m16n8.x1.trans.b8
define void @f_nvvm_stmatrix_sync_aligned_m16n8_x1_trans_b8(ptr %a0, i32 %a1) {
  call void @llvm.nvvm.stmatrix.sync.aligned.m16n8.x1.trans.b8.p0(ptr %a0, i32 %a1)
  ret void
}
; f_nvvm_stmatrix_sync_aligned_m8n8_x1_b16: stmatrix.sync.aligned.m8n8.x1.b16
define void @f_nvvm_stmatrix_sync_aligned_m8n8_x1_b16(ptr %a0, i32 %a1) {
  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.b16.p0(ptr %a0, i32 %a1)
  ret void
}
; f_nvvm_stmatrix_sync_aligned_m8n8_x1_trans_b16: stmatrix.sync.aligned.m8n8.x1.trans.b16
define void @f_nvvm_stmatrix_sync_aligned_m8n8_x1_trans_b16(ptr %a0, i32 %a1) {
  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16.p0(ptr %a0, i32 %a1)
  ret void
}
; f_nvvm_suld_1d_array_i16_clamp: suld.b.a1d.b16.clamp
define i16 @f_nvvm_suld_1d_array_i16_clamp(i64 %a0, i32 %a1, i32 %a2) {
  %r = call i16 @llvm.nvvm.suld.1d.array.i16.clamp(i64 %a0, i32 %a1, i32 %a2)
  ret i16 %r
}
; f_nvvm_suld_1d_i16_clamp: suld.b.1d.b16.clamp
define i16 @f_nvvm_suld_1d_i16_clamp(i64 %a0, i32 %a1) {
  %r = call i16 @llvm.nvvm.suld.1d.i16.clamp(i64 %a0, i32 %a1)
  ret i16 %r
}
; f_nvvm_suq_array_size: suq.array_size.b32
define i32 @f_nvvm_suq_array_size(i64 %a0) {
  %r = call i32 @llvm.nvvm.suq.array.size(i64 %a0)
  ret i32 %r
}
; f_nvvm_suq_channel_data_type: suq.channel_data_type.b32
define i32 @f_nvvm_suq_channel_data_type(i64 %a0) {
  %r = call i32 @llvm.nvvm.suq.channel.data.type(i64 %a0)
  ret i32 %r
}
; f_nvvm_suq_channel_order: suq.channel_order.b32
define i32 @f_nvvm_suq_channel_order(i64 %a0) {
  %r = call i32 @llvm.nvvm.suq.channel.order(i64 %a0)
  ret i32 %r
}
; f_nvvm_suq_depth: suq.depth.b32
define i32 @f_nvvm_suq_depth(i64 %a0) {
  %r = call i32 @llvm.nvvm.suq.depth(i64 %a0)
  ret i32 %r
}
; f_nvvm_suq_height: suq.height.b32
define i32 @f_nvvm_suq_height(i64 %a0) {
  %r = call i32 @llvm.nvvm.suq.height(i64 %a0)
  ret i32 %r
}
; f_nvvm_suq_width: suq.width.b32
define i32 @f_nvvm_suq_width(i64 %a0) {
  %r = call i32 @llvm.nvvm.suq.width(i64 %a0)
  ret i32 %r
}
; f_nvvm_sust_b_1d_array_i16_clamp: sust.b.a1d.b16.clamp
define void @f_nvvm_sust_b_1d_array_i16_clamp(i64 %a0, i32 %a1, i32 %a2, i16 %a3) {
  call void @llvm.nvvm.sust.b.1d.array.i16.clamp(i64 %a0, i32 %a1, i32 %a2, i16 %a3)
  ret void
}
; f_nvvm_sust_b_1d_i16_clamp: sust.b.1d.b16.clamp
define void @f_nvvm_sust_b_1d_i16_clamp(i64 %a0, i32 %a1, i16 %a2) {
  call void @llvm.nvvm.sust.b.1d.i16.clamp(i64 %a0, i32 %a1, i16 %a2)
  ret void
}
; f_nvvm_tensormap_replace_box_dim: tensormap.replace.tile.box_dim.b1024.b32
define void @f_nvvm_tensormap_replace_box_dim(ptr %a0, i32 %a2) {
  call void @llvm.nvvm.tensormap.replace.box.dim.p0(ptr %a0, i32 0, i32 %a2)
  ret void
}
; f_nvvm_tensormap_replace_element_stride: tensormap.replace.tile.element_stride.b1024.b32
define void @f_nvvm_tensormap_replace_element_stride(ptr %a0, i32 %a2) {
  call void @llvm.nvvm.tensormap.replace.element.stride.p0(ptr %a0, i32 0, i32 %a2)
  ret void
}
; f_nvvm_tensormap_replace_elemtype: tensormap.replace.tile.elemtype.b1024.b32
define void @f_nvvm_tensormap_replace_elemtype(ptr %a0) {
  call void @llvm.nvvm.tensormap.replace.elemtype.p0(ptr %a0, i32 0)
  ret void
}
; f_nvvm_tensormap_replace_fill_mode: tensormap.replace.tile.fill_mode.b1024.b32
define void @f_nvvm_tensormap_replace_fill_mode(ptr %a0) {
  call void @llvm.nvvm.tensormap.replace.fill.mode.p0(ptr %a0, i32 0)
  ret void
}
; f_nvvm_tensormap_replace_global_address: tensormap.replace.tile.global_address.b1024.b64
define void @f_nvvm_tensormap_replace_global_address(ptr %a0, i64 %a1) {
  call void @llvm.nvvm.tensormap.replace.global.address.p0(ptr %a0, i64 %a1)
  ret void
}
; f_nvvm_tensormap_replace_global_dim: tensormap.replace.tile.global_dim.b1024.b32
define void @f_nvvm_tensormap_replace_global_dim(ptr %a0, i32 %a2) {
  call void @llvm.nvvm.tensormap.replace.global.dim.p0(ptr %a0, i32 0, i32 %a2)
  ret void
}
; f_nvvm_tensormap_replace_global_stride: tensormap.replace.tile.global_stride.b1024.b64
define void @f_nvvm_tensormap_replace_global_stride(ptr %a0, i64 %a2) {
  call void @llvm.nvvm.tensormap.replace.global.stride.p0(ptr %a0, i32 0, i64 %a2)
  ret void
}
; f_nvvm_tensormap_replace_interleave_layout: tensormap.replace.tile.interleave_layout.b1024.b32
define void @f_nvvm_tensormap_replace_interleave_layout(ptr %a0) {
  call void @llvm.nvvm.tensormap.replace.interleave.layout.p0(ptr %a0, i32 0)
  ret void
}
; f_nvvm_tensormap_replace_rank: tensormap.replace.tile.rank.b1024.b32
define void @f_nvvm_tensormap_replace_rank(ptr %a0, i32 %a1) {
  call void @llvm.nvvm.tensormap.replace.rank.p0(ptr %a0, i32 %a1)
  ret void
}
; f_nvvm_tensormap_replace_swizzle_atomicity: tensormap.replace.tile.swizzle_atomicity.b1024.b32
define void @f_nvvm_tensormap_replace_swizzle_atomicity(ptr %a0) {
  call void @llvm.nvvm.tensormap.replace.swizzle.atomicity.p0(ptr %a0, i32 0)
  ret void
}
; f_nvvm_tensormap_replace_swizzle_mode: tensormap.replace.tile.swizzle_mode.b1024.b32
define void @f_nvvm_tensormap_replace_swizzle_mode(ptr %a0) {
  call void @llvm.nvvm.tensormap.replace.swizzle.mode.p0(ptr %a0, i32 0)
  ret void
}
; f_nvvm_tex_1d_array_grad_v4f32_f32: tex.grad.a1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_1d_array_grad_v4f32_f32(i64 %a0, i64 %a1, i32 %a2, float %a3, float %a4, float %a5) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.1d.array.grad.v4f32.f32(i64 %a0, i64 %a1, i32 %a2, float %a3, float %a4, float %a5)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_1d_array_level_v4f32_f32: tex.level.a1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_1d_array_level_v4f32_f32(i64 %a0, i64 %a1, i32 %a2, float %a3, float %a4) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.1d.array.level.v4f32.f32(i64 %a0, i64 %a1, i32 %a2, float %a3, float %a4)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_1d_array_v4f32_f32: tex.a1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_1d_array_v4f32_f32(i64 %a0, i64 %a1, i32 %a2, float %a3) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.1d.array.v4f32.f32(i64 %a0, i64 %a1, i32 %a2, float %a3)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_1d_grad_v4f32_f32: tex.grad.1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_1d_grad_v4f32_f32(i64 %a0, i64 %a1, float %a2, float %a3, float %a4) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.1d.grad.v4f32.f32(i64 %a0, i64 %a1, float %a2, float %a3, float %a4)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_1d_level_v4f32_f32: tex.level.1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_1d_level_v4f32_f32(i64 %a0, i64 %a1, float %a2, float %a3) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.1d.level.v4f32.f32(i64 %a0, i64 %a1, float %a2, float %a3)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_1d_v4f32_f32: tex.1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_1d_v4f32_f32(i64 %a0, i64 %a1, float %a2) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.1d.v4f32.f32(i64 %a0, i64 %a1, float %a2)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_cube_array_level_v4f32_f32: tex.level.acube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_cube_array_level_v4f32_f32(i64 %a0, i64 %a1, i32 %a2, float %a3, float %a4, float %a5, float %a6) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.cube.array.level.v4f32.f32(i64 %a0, i64 %a1, i32 %a2, float %a3, float %a4, float %a5, float %a6)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_cube_array_v4f32_f32: tex.acube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_cube_array_v4f32_f32(i64 %a0, i64 %a1, i32 %a2, float %a3, float %a4, float %a5) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.cube.array.v4f32.f32(i64 %a0, i64 %a1, i32 %a2, float %a3, float %a4, float %a5)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_cube_level_v4f32_f32: tex.level.cube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_cube_level_v4f32_f32(i64 %a0, i64 %a1, float %a2, float %a3, float %a4, float %a5) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.cube.level.v4f32.f32(i64 %a0, i64 %a1, float %a2, float %a3, float %a4, float %a5)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_cube_v4f32_f32: tex.cube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_cube_v4f32_f32(i64 %a0, i64 %a1, float %a2, float %a3, float %a4) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.cube.v4f32.f32(i64 %a0, i64 %a1, float %a2, float %a3, float %a4)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_1d_array_grad_v4f32_f32: tex.grad.a1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_1d_array_grad_v4f32_f32(i64 %a0, i32 %a1, float %a2, float %a3, float %a4) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.array.grad.v4f32.f32(i64 %a0, i32 %a1, float %a2, float %a3, float %a4)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_1d_array_level_v4f32_f32: tex.level.a1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_1d_array_level_v4f32_f32(i64 %a0, i32 %a1, float %a2, float %a3) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.array.level.v4f32.f32(i64 %a0, i32 %a1, float %a2, float %a3)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_1d_array_v4f32_f32: tex.a1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_1d_array_v4f32_f32(i64 %a0, i32 %a1, float %a2) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.array.v4f32.f32(i64 %a0, i32 %a1, float %a2)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_1d_grad_v4f32_f32: tex.grad.1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_1d_grad_v4f32_f32(i64 %a0, float %a1, float %a2, float %a3) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.grad.v4f32.f32(i64 %a0, float %a1, float %a2, float %a3)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_1d_level_v4f32_f32: tex.level.1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_1d_level_v4f32_f32(i64 %a0, float %a1, float %a2) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.level.v4f32.f32(i64 %a0, float %a1, float %a2)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_1d_v4f32_f32: tex.1d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_1d_v4f32_f32(i64 %a0, float %a1) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.v4f32.f32(i64 %a0, float %a1)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_cube_array_grad_v4f32_f32: tex.grad.acube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_cube_array_grad_v4f32_f32(i64 %a0, i32 %a1, float %a2, float %a3, float %a4, float %a5, float %a6, float %a7, float %a8, float %a9, float %a10) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.cube.array.grad.v4f32.f32(i64 %a0, i32 %a1, float %a2, float %a3, float %a4, float %a5, float %a6, float %a7, float %a8, float %a9, float %a10)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_cube_array_level_v4f32_f32: tex.level.acube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_cube_array_level_v4f32_f32(i64 %a0, i32 %a1, float %a2, float %a3, float %a4, float %a5) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.cube.array.level.v4f32.f32(i64 %a0, i32 %a1, float %a2, float %a3, float %a4, float %a5)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_cube_array_v4f32_f32: tex.acube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_cube_array_v4f32_f32(i64 %a0, i32 %a1, float %a2, float %a3, float %a4) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.cube.array.v4f32.f32(i64 %a0, i32 %a1, float %a2, float %a3, float %a4)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_cube_grad_v4f32_f32: tex.grad.cube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_cube_grad_v4f32_f32(i64 %a0, float %a1, float %a2, float %a3, float %a4, float %a5, float %a6, float %a7, float %a8, float %a9) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.cube.grad.v4f32.f32(i64 %a0, float %a1, float %a2, float %a3, float %a4, float %a5, float %a6, float %a7, float %a8, float %a9)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_cube_level_v4f32_f32: tex.level.cube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_cube_level_v4f32_f32(i64 %a0, float %a1, float %a2, float %a3, float %a4) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.cube.level.v4f32.f32(i64 %a0, float %a1, float %a2, float %a3, float %a4)
  ret { float, float, float, float } %r
}
; f_nvvm_tex_unified_cube_v4f32_f32: tex.cube.v4.f32.f32
define { float, float, float, float } @f_nvvm_tex_unified_cube_v4f32_f32(i64 %a0, float %a1, float %a2, float %a3) {
  %r = call { float, float, float, float } @llvm.nvvm.tex.unified.cube.v4f32.f32(i64 %a0, float %a1, float %a2, float %a3)
  ret { float, float, float, float } %r
}
; f_nvvm_tld4_a_2d_v4f32_f32: tld4.a.2d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tld4_a_2d_v4f32_f32(i64 %a0, i64 %a1, float %a2, float %a3) {
  %r = call { float, float, float, float } @llvm.nvvm.tld4.a.2d.v4f32.f32(i64 %a0, i64 %a1, float %a2, float %a3)
  ret { float, float, float, float } %r
}
; f_nvvm_tld4_g_2d_v4f32_f32: tld4.g.2d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tld4_g_2d_v4f32_f32(i64 %a0, i64 %a1, float %a2, float %a3) {
  %r = call { float, float, float, float } @llvm.nvvm.tld4.g.2d.v4f32.f32(i64 %a0, i64 %a1, float %a2, float %a3)
  ret { float, float, float, float } %r
}
; f_nvvm_tld4_r_2d_v4f32_f32: tld4.r.2d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tld4_r_2d_v4f32_f32(i64 %a0, i64 %a1, float %a2, float %a3) {
  %r = call { float, float, float, float } @llvm.nvvm.tld4.r.2d.v4f32.f32(i64 %a0, i64 %a1, float %a2, float %a3)
  ret { float, float, float, float } %r
}
; f_nvvm_tld4_unified_a_2d_v4f32_f32: tld4.a.2d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tld4_unified_a_2d_v4f32_f32(i64 %a0, float %a1, float %a2) {
  %r = call { float, float, float, float } @llvm.nvvm.tld4.unified.a.2d.v4f32.f32(i64 %a0, float %a1, float %a2)
  ret { float, float, float, float } %r
}
; f_nvvm_tld4_unified_g_2d_v4f32_f32: tld4.g.2d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tld4_unified_g_2d_v4f32_f32(i64 %a0, float %a1, float %a2) {
  %r = call { float, float, float, float } @llvm.nvvm.tld4.unified.g.2d.v4f32.f32(i64 %a0, float %a1, float %a2)
  ret { float, float, float, float } %r
}
; f_nvvm_tld4_unified_r_2d_v4f32_f32: tld4.r.2d.v4.f32.f32
define { float, float, float, float } @f_nvvm_tld4_unified_r_2d_v4f32_f32(i64 %a0, float %a1, float %a2) {
  %r = call { float, float, float, float } @llvm.nvvm.tld4.unified.r.2d.v4f32.f32(i64 %a0, float %a1, float %a2)
  ret { float, float, float, float } %r
}
; f_nvvm_trunc_d: cvt.rzi.f64.f64
define double @f_nvvm_trunc_d(double %a0) {
  %r = call double @llvm.nvvm.trunc.d(double %a0)
  ret double %r
}
; f_nvvm_trunc_ftz_f: cvt.rzi.ftz.f32.f32
define float @f_nvvm_trunc_ftz_f(float %a0) {
  %r = call float @llvm.nvvm.trunc.ftz.f(float %a0)
  ret float %r
}
; f_nvvm_txq_array_size: txq.array_size.b32
define i32 @f_nvvm_txq_array_size(i64 %a0) {
  %r = call i32 @llvm.nvvm.txq.array.size(i64 %a0)
  ret i32 %r
}
; f_nvvm_txq_channel_data_type: txq.channel_data_type.b32
define i32 @f_nvvm_txq_channel_data_type(i64 %a0) {
  %r = call i32 @llvm.nvvm.txq.channel.data.type(i64 %a0)
  ret i32 %r
}
; f_nvvm_txq_channel_order: txq.channel_order.b32
define i32 @f_nvvm_txq_channel_order(i64 %a0) {
  %r = call i32 @llvm.nvvm.txq.channel.order(i64 %a0)
  ret i32 %r
}
; f_nvvm_txq_depth: txq.depth.b32
define i32 @f_nvvm_txq_depth(i64 %a0) {
  %r = call i32 @llvm.nvvm.txq.depth(i64 %a0)
  ret i32 %r
}
; f_nvvm_txq_height: txq.height.b32
define i32 @f_nvvm_txq_height(i64 %a0) {
  %r = call i32 @llvm.nvvm.txq.height(i64 %a0)
  ret i32 %r
}
; f_nvvm_txq_num_mipmap_levels: txq.num_mipmap_levels.b32
define i32 @f_nvvm_txq_num_mipmap_levels(i64 %a0) {
  %r = call i32 @llvm.nvvm.txq.num.mipmap.levels(i64 %a0)
  ret i32 %r
}
; f_nvvm_txq_num_samples: txq.num_samples.b32
define i32 @f_nvvm_txq_num_samples(i64 %a0) {
  %r = call i32 @llvm.nvvm.txq.num.samples(i64 %a0)
  ret i32 %r
}
; f_nvvm_txq_width: txq.width.b32
define i32 @f_nvvm_txq_width(i64 %a0) {
  %r = call i32 @llvm.nvvm.txq.width(i64 %a0)
  ret i32 %r
}
; f_nvvm_ue8m0x2_to_bf16x2: cvt.rn.bf16x2.ue8m0x2
define <2 x bfloat> @f_nvvm_ue8m0x2_to_bf16x2(i16 %a0) {
  %r = call <2 x bfloat> @llvm.nvvm.ue8m0x2.to.bf16x2(i16 %a0)
  ret <2 x bfloat> %r
}
; f_nvvm_ui2d_rm: cvt.rm.f64.u32
define double @f_nvvm_ui2d_rm(i32 %a0) {
  %r = call double @llvm.nvvm.ui2d.rm(i32 %a0)
  ret double %r
}
; f_nvvm_ui2f_rm: cvt.rm.f32.u32
define float @f_nvvm_ui2f_rm(i32 %a0) {
  %r = call float @llvm.nvvm.ui2f.rm(i32 %a0)
  ret float %r
}
; f_nvvm_ull2d_rm: cvt.rm.f64.u64
define double @f_nvvm_ull2d_rm(i64 %a0) {
  %r = call double @llvm.nvvm.ull2d.rm(i64 %a0)
  ret double %r
}
; f_nvvm_ull2f_rm: cvt.rm.f32.u64
define float @f_nvvm_ull2f_rm(i64 %a0) {
  %r = call float @llvm.nvvm.ull2f.rm(i64 %a0)
  ret float %r
}
; f_nvvm_vote_all_sync: vote.sync.all.pred
define i1 @f_nvvm_vote_all_sync(i32 %a0, i1 %a1) {
  %r = call i1 @llvm.nvvm.vote.all.sync(i32 %a0, i1 %a1)
  ret i1 %r
}
; f_nvvm_vote_any_sync: vote.sync.any.pred
define i1 @f_nvvm_vote_any_sync(i32 %a0, i1 %a1) {
  %r = call i1 @llvm.nvvm.vote.any.sync(i32 %a0, i1 %a1)
  ret i1 %r
}
; f_nvvm_vote_ballot_sync: vote.sync.ballot.b32
define i32 @f_nvvm_vote_ballot_sync(i32 %a0, i1 %a1) {
  %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 %a0, i1 %a1)
  ret i32 %r
}
; f_nvvm_vote_uni_sync: vote.sync.uni.pred
define i1 @f_nvvm_vote_uni_sync(i32 %a0, i1 %a1) {
  %r = call i1 @llvm.nvvm.vote.uni.sync(i32 %a0, i1 %a1)
  ret i1 %r
}
; f_nvvm_wmma_m16n16k16_load_a_col_bf16: wmma.load.a.sync.aligned.col.m16n16k16.bf16
define { i32, i32, i32, i32 } @f_nvvm_wmma_m16n16k16_load_a_col_bf16(ptr %a0) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.wmma.m16n16k16.load.a.col.bf16.p0(ptr %a0)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_wmma_m16n16k16_load_a_col_stride_bf16: wmma.load.a.sync.aligned.col.m16n16k16.bf16
define { i32, i32, i32, i32 } @f_nvvm_wmma_m16n16k16_load_a_col_stride_bf16(ptr %a0, i32 %a1) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.wmma.m16n16k16.load.a.col.stride.bf16.p0(ptr %a0, i32 %a1)
  ret { i32, i32, i32, i32 } %r
}
; f_nvvm_wmma_m16n16k16_mma_col_col_bf16: wmma.mma.sync.aligned.col.col.m16n16k16.f32.bf16.bf16.f32
define { float, float, float, float, float, float, float, float } @f_nvvm_wmma_m16n16k16_mma_col_col_bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, float %a8, float %a9, float %a10, float %a11, float %a12, float %a13, float %a14, float %a15) {
  %r = call { float, float, float, float, float, float, float, float } @llvm.nvvm.wmma.m16n16k16.mma.col.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %a6, i32 %a7, float %a8, float %a9, float %a10, float %a11, float %a12, float %a13, float %a14, float %a15)
  ret { float, float, float, float, float, float, float, float } %r
}
; f_nvvm_wmma_m16n16k16_store_d_col_f16: wmma.store.d.sync.aligned.col.m16n16k16.f16
define void @f_nvvm_wmma_m16n16k16_store_d_col_f16(ptr %a0, <2 x half> %a1, <2 x half> %a2, <2 x half> %a3, <2 x half> %a4) {
  call void @llvm.nvvm.wmma.m16n16k16.store.d.col.f16.p0(ptr %a0, <2 x half> %a1, <2 x half> %a2, <2 x half> %a3, <2 x half> %a4)
  ret void
}
; f_nvvm_wmma_m16n16k16_store_d_col_stride_f16: wmma.store.d.sync.aligned.col.m16n16k16.f16
define void @f_nvvm_wmma_m16n16k16_store_d_col_stride_f16(ptr %a0, <2 x half> %a1, <2 x half> %a2, <2 x half> %a3, <2 x half> %a4, i32 %a5) {
  call void @llvm.nvvm.wmma.m16n16k16.store.d.col.stride.f16.p0(ptr %a0, <2 x half> %a1, <2 x half> %a2, <2 x half> %a3, <2 x half> %a4, i32 %a5)
  ret void
}
; f_nvvm_wmma_m8n8k128_mma_and_popc_row_col_b1: wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32
define { i32, i32 } @f_nvvm_wmma_m8n8k128_mma_and_popc_row_col_b1(i32 %a0, i32 %a1, i32 %a2, i32 %a3) {
  %r = call { i32, i32 } @llvm.nvvm.wmma.m8n8k128.mma.and.popc.row.col.b1(i32 %a0, i32 %a1, i32 %a2, i32 %a3)
  ret { i32, i32 } %r
}
; f_nvvm_zext_clamp: szext.clamp.u32
define i32 @f_nvvm_zext_clamp(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.zext.clamp(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_zext_wrap: szext.wrap.u32
define i32 @f_nvvm_zext_wrap(i32 %a0, i32 %a1) {
  %r = call i32 @llvm.nvvm.zext.wrap(i32 %a0, i32 %a1)
  ret i32 %r
}
; f_nvvm_tcgen05_alloc_cg1: tcgen05.alloc.cta_group::1.sync.aligned.b32
declare void @llvm.nvvm.tcgen05.alloc.cg1(ptr, i32)
define void @f_nvvm_tcgen05_alloc_cg1(ptr %a0, i32 %a1) {
  call void @llvm.nvvm.tcgen05.alloc.cg1(ptr %a0, i32 %a1)
  ret void
}
; f_nvvm_tcgen05_alloc_shared_cg2: tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32
declare void @llvm.nvvm.tcgen05.alloc.shared.cg2(ptr addrspace(3), i32)
define void @f_nvvm_tcgen05_alloc_shared_cg2(ptr addrspace(3) %a0, i32 %a1) {
  call void @llvm.nvvm.tcgen05.alloc.shared.cg2(ptr addrspace(3) %a0, i32 %a1)
  ret void
}
; f_nvvm_tcgen05_relinq: tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned
declare void @llvm.nvvm.tcgen05.relinq.alloc.permit.cg1()
define void @f_nvvm_tcgen05_relinq() {
  call void @llvm.nvvm.tcgen05.relinq.alloc.permit.cg1()
  ret void
}
; f_nvvm_tcgen05_fence_before: tcgen05.fence::before_thread_sync
declare void @llvm.nvvm.tcgen05.fence.before.thread.sync()
define void @f_nvvm_tcgen05_fence_before() {
  call void @llvm.nvvm.tcgen05.fence.before.thread.sync()
  ret void
}
; f_nvvm_tcgen05_fence_after: tcgen05.fence::after_thread_sync
declare void @llvm.nvvm.tcgen05.fence.after.thread.sync()
define void @f_nvvm_tcgen05_fence_after() {
  call void @llvm.nvvm.tcgen05.fence.after.thread.sync()
  ret void
}
; f_nvvm_tcgen05_wait_ld: tcgen05.wait::ld.sync.aligned
declare void @llvm.nvvm.tcgen05.wait.ld()
define void @f_nvvm_tcgen05_wait_ld() {
  call void @llvm.nvvm.tcgen05.wait.ld()
  ret void
}
; f_nvvm_tcgen05_wait_st: tcgen05.wait::st.sync.aligned
declare void @llvm.nvvm.tcgen05.wait.st()
define void @f_nvvm_tcgen05_wait_st() {
  call void @llvm.nvvm.tcgen05.wait.st()
  ret void
}
; f_nvvm_tcgen05_commit: tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64
declare void @llvm.nvvm.tcgen05.commit.cg1(ptr)
define void @f_nvvm_tcgen05_commit(ptr %a0) {
  call void @llvm.nvvm.tcgen05.commit.cg1(ptr %a0)
  ret void
}
; f_nvvm_tcgen05_commit_shared: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64
declare void @llvm.nvvm.tcgen05.commit.shared.cg2(ptr addrspace(3))
define void @f_nvvm_tcgen05_commit_shared(ptr addrspace(3) %a0) {
  call void @llvm.nvvm.tcgen05.commit.shared.cg2(ptr addrspace(3) %a0)
  ret void
}
; f_nvvm_tcgen05_commit_mc: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64
declare void @llvm.nvvm.tcgen05.commit.mc.shared.cg2(ptr addrspace(3), i16)
define void @f_nvvm_tcgen05_commit_mc(ptr addrspace(3) %a0, i16 %a1) {
  call void @llvm.nvvm.tcgen05.commit.mc.shared.cg2(ptr addrspace(3) %a0, i16 %a1)
  ret void
}
; f_nvvm_tcgen05_dealloc: tcgen05.dealloc.cta_group::1.sync.aligned.b32
declare void @llvm.nvvm.tcgen05.dealloc.cg1(ptr addrspace(6), i32)
define void @f_nvvm_tcgen05_dealloc(ptr addrspace(6) %a0, i32 %a1) {
  call void @llvm.nvvm.tcgen05.dealloc.cg1(ptr addrspace(6) %a0, i32 %a1)
  ret void
}
; f_nvvm_tcgen05_shift: tcgen05.shift.cta_group::2.down
declare void @llvm.nvvm.tcgen05.shift.down.cg2(ptr addrspace(6))
define void @f_nvvm_tcgen05_shift(ptr addrspace(6) %a0) {
  call void @llvm.nvvm.tcgen05.shift.down.cg2(ptr addrspace(6) %a0)
  ret void
}
; f_nvvm_tcgen05_cp: tcgen05.cp.cta_group::1.128x256b.b8x16.b4x16_p64
declare void @llvm.nvvm.tcgen05.cp.128x256b.b4x16_p64.cg1(ptr addrspace(6), i64)
define void @f_nvvm_tcgen05_cp(ptr addrspace(6) %a0, i64 %a1) {
  call void @llvm.nvvm.tcgen05.cp.128x256b.b4x16_p64.cg1(ptr addrspace(6) %a0, i64 %a1)
  ret void
}
; f_nvvm_tcgen05_cp_warpx2: tcgen05.cp.cta_group::2.64x128b.warpx2::01_23
declare void @llvm.nvvm.tcgen05.cp.64x128b_warpx2_01_23.cg2(ptr addrspace(6), i64)
define void @f_nvvm_tcgen05_cp_warpx2(ptr addrspace(6) %a0, i64 %a1) {
  call void @llvm.nvvm.tcgen05.cp.64x128b_warpx2_01_23.cg2(ptr addrspace(6) %a0, i64 %a1)
  ret void
}
; f_nvvm_tcgen05_cp_warpx4: tcgen05.cp.cta_group::2.32x128b.warpx4.b8x16.b6x16_p32
declare void @llvm.nvvm.tcgen05.cp.32x128b_warpx4.b6x16_p32.cg2(ptr addrspace(6), i64)
define void @f_nvvm_tcgen05_cp_warpx4(ptr addrspace(6) %a0, i64 %a1) {
  call void @llvm.nvvm.tcgen05.cp.32x128b_warpx4.b6x16_p32.cg2(ptr addrspace(6) %a0, i64 %a1)
  ret void
}
; f_nvvm_tcgen05_ld: tcgen05.ld.sync.aligned.16x64b.x4.b32
declare <4 x i32> @llvm.nvvm.tcgen05.ld.16x64b.x4(ptr addrspace(6), i1)
define <4 x i32> @f_nvvm_tcgen05_ld(ptr addrspace(6) %a0) {
  %r = call <4 x i32> @llvm.nvvm.tcgen05.ld.16x64b.x4(ptr addrspace(6) %a0, i1 false)
  ret <4 x i32> %r
}
; f_nvvm_tcgen05_ld_one: tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32
declare i32 @llvm.nvvm.tcgen05.ld.32x32b.x1(ptr addrspace(6), i1)
define i32 @f_nvvm_tcgen05_ld_one(ptr addrspace(6) %a0) {
  %r = call i32 @llvm.nvvm.tcgen05.ld.32x32b.x1(ptr addrspace(6) %a0, i1 true)
  ret i32 %r
}
; f_nvvm_tcgen05_ld_halves: tcgen05.ld.sync.aligned.16x32bx2.x2.pack::16b.b32
declare <2 x i32> @llvm.nvvm.tcgen05.ld.16x32bx2.x2(ptr addrspace(6), i64, i1)
define <2 x i32> @f_nvvm_tcgen05_ld_halves(ptr addrspace(6) %a0) {
  %r = call <2 x i32> @llvm.nvvm.tcgen05.ld.16x32bx2.x2(ptr addrspace(6) %a0, i64 16, i1 true)
  ret <2 x i32> %r
}
; f_nvvm_tcgen05_st: tcgen05.st.sync.aligned.16x128b.x2.unpack::16b.b32
declare void @llvm.nvvm.tcgen05.st.16x128b.x2(ptr addrspace(6), <4 x i32>, i1)
define void @f_nvvm_tcgen05_st(ptr addrspace(6) %a0, <4 x i32> %a1) {
  call void @llvm.nvvm.tcgen05.st.16x128b.x2(ptr addrspace(6) %a0, <4 x i32> %a1, i1 true)
  ret void
}
; f_nvvm_tcgen05_st_halves: tcgen05.st.sync.aligned.16x32bx2.x1.b32
declare void @llvm.nvvm.tcgen05.st.16x32bx2.x1(ptr addrspace(6), i64, i32, i1)
define void @f_nvvm_tcgen05_st_halves(ptr addrspace(6) %a0, i32 %a1) {
  call void @llvm.nvvm.tcgen05.st.16x32bx2.x1(ptr addrspace(6) %a0, i64 16, i32 %a1, i1 false)
  ret void
}
