target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@partial = internal unnamed_addr addrspace(3) global [32 x i32] zeroinitializer, align 4
@a_tile = internal unnamed_addr addrspace(3) global [256 x float] zeroinitializer, align 4
@b_tile = internal unnamed_addr addrspace(3) global [256 x float] zeroinitializer, align 4
@bins = internal addrspace(3) global [64 x i32] zeroinitializer, align 4
@tile = internal unnamed_addr addrspace(3) global [1056 x i32] zeroinitializer, align 4
@totals = internal unnamed_addr addrspace(3) global [4 x i32] zeroinitializer, align 4
@round_constants = dso_local local_unnamed_addr addrspace(4) constant [64 x i32] [i32 1116352408, i32 1899447441, i32 -1245643825, i32 -373957723, i32 961987163, i32 1508970993, i32 -1841331548, i32 -1424204075, i32 -670586216, i32 310598401, i32 607225278, i32 1426881987, i32 1925078388, i32 -2132889090, i32 -1680079193, i32 -1046744716, i32 -459576895, i32 -272742522, i32 264347078, i32 604807628, i32 770255983, i32 1249150122, i32 1555081692, i32 1996064986, i32 -1740746414, i32 -1473132947, i32 -1341970488, i32 -1084653625, i32 -958395405, i32 -710438585, i32 113926993, i32 338241895, i32 666307205, i32 773529912, i32 1294757372, i32 1396182291, i32 1695183700, i32 1986661051, i32 -2117940946, i32 -1838011259, i32 -1564481375, i32 -1474664885, i32 -1035236496, i32 -949202525, i32 -778901479, i32 -694614492, i32 -200395387, i32 275423344, i32 430227734, i32 506948616, i32 659060556, i32 883997877, i32 958139571, i32 1322822218, i32 1537002063, i32 1747873779, i32 1955562222, i32 2024104815, i32 -2067236844, i32 -1933114872, i32 -1866530822, i32 -1538233109, i32 -1090935817, i32 -965641998], align 4
@keys = internal unnamed_addr addrspace(3) global [512 x i32] zeroinitializer, align 4

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local ptx_kernel void @saxpy(i32 noundef %0, float noundef %1, ptr addrspace(1) noundef readonly captures(none) %2, ptr addrspace(1) noundef captures(none) %3) local_unnamed_addr #0 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = mul nuw nsw i32 %5, %6
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nuw nsw i32 %7, %8
  %10 = icmp ult i32 %9, %0
  br i1 %10, label %11, label %18

11:                                               ; preds = %4
  %12 = zext nneg i32 %9 to i64
  %13 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %12
  %14 = load float, ptr addrspace(1) %13, align 4, !tbaa !7
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %3, i64 %12
  %16 = load float, ptr addrspace(1) %15, align 4, !tbaa !7
  %17 = tail call float @llvm.fma.f32(float %1, float %14, float %16)
  store float %17, ptr addrspace(1) %15, align 4, !tbaa !7
  br label %18

18:                                               ; preds = %11, %4
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: convergent noinline norecurse nounwind
define dso_local ptx_kernel void @block_sum(i32 noundef %0, ptr addrspace(1) noundef readonly captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2) local_unnamed_addr #4 {
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = mul nuw nsw i32 %5, %6
  %8 = add nuw i32 %7, %4
  %9 = and i32 %4, 31
  %10 = lshr i32 %4, 5
  %11 = icmp ult i32 %8, %0
  br i1 %11, label %12, label %16

12:                                               ; preds = %3
  %13 = zext i32 %8 to i64
  %14 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %13
  %15 = load i32, ptr addrspace(1) %14, align 4, !tbaa !3
  br label %16

16:                                               ; preds = %3, %12
  %17 = phi i32 [ %15, %12 ], [ 0, %3 ]
  %18 = tail call fastcc i32 @warp_sum(i32 noundef %17) #15
  %19 = icmp eq i32 %9, 0
  br i1 %19, label %20, label %23

20:                                               ; preds = %16
  %21 = zext nneg i32 %10 to i64
  %22 = getelementptr inbounds nuw i32, ptr addrspace(3) @partial, i64 %21
  store i32 %18, ptr addrspace(3) %22, align 4, !tbaa !3
  br label %23

23:                                               ; preds = %20, %16
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %24 = icmp eq i32 %10, 0
  br i1 %24, label %25, label %37

25:                                               ; preds = %23
  %26 = icmp samesign ult i32 %9, 8
  br i1 %26, label %27, label %31

27:                                               ; preds = %25
  %28 = zext nneg i32 %9 to i64
  %29 = getelementptr inbounds nuw i32, ptr addrspace(3) @partial, i64 %28
  %30 = load i32, ptr addrspace(3) %29, align 4, !tbaa !3
  br label %31

31:                                               ; preds = %25, %27
  %32 = phi i32 [ %30, %27 ], [ 0, %25 ]
  %33 = tail call fastcc i32 @warp_sum(i32 noundef %32) #15
  br i1 %19, label %34, label %37

34:                                               ; preds = %31
  %35 = zext nneg i32 %5 to i64
  %36 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %35
  store i32 %33, ptr addrspace(1) %36, align 4, !tbaa !3
  br label %37

37:                                               ; preds = %31, %34, %23
  ret void
}

; Function Attrs: convergent noinline norecurse nounwind memory(inaccessiblemem: readwrite)
define internal fastcc i32 @warp_sum(i32 noundef %0) unnamed_addr #5 {
  br label %3

2:                                                ; preds = %3
  ret i32 %7

3:                                                ; preds = %1, %3
  %4 = phi i32 [ 16, %1 ], [ %8, %3 ]
  %5 = phi i32 [ %0, %1 ], [ %7, %3 ]
  %6 = tail call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %5, i32 %4, i32 31)
  %7 = add i32 %6, %5
  %8 = lshr i32 %4, 1
  %9 = icmp eq i32 %8, 0
  br i1 %9, label %2, label %3, !llvm.loop !9
}

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #6

; Function Attrs: convergent noinline norecurse nounwind
define dso_local ptx_kernel void @matmul(i32 noundef %0, ptr addrspace(1) noundef readonly captures(none) %1, ptr addrspace(1) noundef readonly captures(none) %2, ptr addrspace(1) noundef writeonly captures(none) %3) local_unnamed_addr #4 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %8 = shl nuw nsw i32 %7, 4
  %9 = add nuw nsw i32 %8, %6
  %10 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = shl nsw i32 %10, 4
  %12 = add nuw i32 %11, %5
  %13 = icmp eq i32 %0, 0
  br i1 %13, label %22, label %14

14:                                               ; preds = %4
  %15 = mul i32 %9, %0
  %16 = add i32 %15, %5
  %17 = shl nuw nsw i32 %6, 4
  %18 = add nuw nsw i32 %17, %5
  %19 = zext nneg i32 %18 to i64
  %20 = getelementptr inbounds nuw float, ptr addrspace(3) @a_tile, i64 %19
  %21 = getelementptr inbounds nuw float, ptr addrspace(3) @b_tile, i64 %19
  br label %28

22:                                               ; preds = %41, %4
  %23 = phi float [ 0.000000e+00, %4 ], [ %56, %41 ]
  %24 = mul i32 %9, %0
  %25 = add i32 %24, %12
  %26 = zext i32 %25 to i64
  %27 = getelementptr inbounds nuw float, ptr addrspace(1) %3, i64 %26
  store float %23, ptr addrspace(1) %27, align 4, !tbaa !7
  ret void

28:                                               ; preds = %14, %41
  %29 = phi i32 [ 0, %14 ], [ %42, %41 ]
  %30 = phi float [ 0.000000e+00, %14 ], [ %56, %41 ]
  %31 = add i32 %16, %29
  %32 = zext i32 %31 to i64
  %33 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %32
  %34 = load float, ptr addrspace(1) %33, align 4, !tbaa !7
  store float %34, ptr addrspace(3) %20, align 4, !tbaa !7
  %35 = add i32 %29, %6
  %36 = mul i32 %35, %0
  %37 = add i32 %36, %12
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %38
  %40 = load float, ptr addrspace(1) %39, align 4, !tbaa !7
  store float %40, ptr addrspace(3) %21, align 4, !tbaa !7
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %44

41:                                               ; preds = %44
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %42 = add i32 %29, 16
  %43 = icmp ult i32 %42, %0
  br i1 %43, label %28, label %22, !llvm.loop !12

44:                                               ; preds = %28, %44
  %45 = phi i32 [ 0, %28 ], [ %57, %44 ]
  %46 = phi float [ %30, %28 ], [ %56, %44 ]
  %47 = or disjoint i32 %45, %17
  %48 = zext nneg i32 %47 to i64
  %49 = getelementptr inbounds nuw float, ptr addrspace(3) @a_tile, i64 %48
  %50 = load float, ptr addrspace(3) %49, align 4, !tbaa !7
  %51 = shl nuw nsw i32 %45, 4
  %52 = add nuw nsw i32 %51, %5
  %53 = zext nneg i32 %52 to i64
  %54 = getelementptr inbounds nuw float, ptr addrspace(3) @b_tile, i64 %53
  %55 = load float, ptr addrspace(3) %54, align 4, !tbaa !7
  %56 = tail call float @llvm.fma.f32(float %50, float %55, float %46)
  %57 = add nuw nsw i32 %45, 1
  %58 = icmp eq i32 %57, 16
  br i1 %58, label %41, label %44, !llvm.loop !13
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #2

; Function Attrs: convergent noinline norecurse nounwind
define dso_local ptx_kernel void @histogram(i32 noundef %0, ptr addrspace(1) noundef readonly captures(none) %1, ptr addrspace(1) noundef captures(none) %2) local_unnamed_addr #4 {
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %7 = mul nuw nsw i32 %5, %6
  %8 = icmp samesign ult i32 %4, 64
  br i1 %8, label %9, label %12

9:                                                ; preds = %3
  %10 = zext nneg i32 %4 to i64
  %11 = getelementptr inbounds nuw i32, ptr addrspace(3) @bins, i64 %10
  store i32 0, ptr addrspace(3) %11, align 4, !tbaa !3
  br label %12

12:                                               ; preds = %9, %3
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %13 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %14 = mul nuw nsw i32 %13, %5
  %15 = add nuw i32 %14, %4
  %16 = icmp ult i32 %15, %0
  br i1 %16, label %18, label %17

17:                                               ; preds = %18, %12
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %8, label %29, label %35

18:                                               ; preds = %12, %18
  %19 = phi i32 [ %27, %18 ], [ %15, %12 ]
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 %20
  %22 = load i8, ptr addrspace(1) %21, align 1, !tbaa !14
  %23 = lshr i8 %22, 2
  %24 = zext nneg i8 %23 to i64
  %25 = getelementptr inbounds nuw i32, ptr addrspace(3) @bins, i64 %24
  %26 = atomicrmw add ptr addrspace(3) %25, i32 1 monotonic, align 4
  %27 = add i32 %19, %7
  %28 = icmp ult i32 %27, %0
  br i1 %28, label %18, label %17, !llvm.loop !15

29:                                               ; preds = %17
  %30 = zext nneg i32 %4 to i64
  %31 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %30
  %32 = getelementptr inbounds nuw i32, ptr addrspace(3) @bins, i64 %30
  %33 = load i32, ptr addrspace(3) %32, align 4, !tbaa !3
  %34 = atomicrmw add ptr addrspace(1) %31, i32 %33 monotonic, align 4
  br label %35

35:                                               ; preds = %29, %17
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, -2147483648) i32 @llvm.nvvm.read.ptx.sreg.nctaid.x() #2

; Function Attrs: convergent noinline norecurse nounwind
define dso_local ptx_kernel void @transpose(i32 noundef %0, i32 noundef %1, ptr addrspace(1) noundef readonly captures(none) %2, ptr addrspace(1) noundef writeonly captures(none) %3) local_unnamed_addr #4 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = shl nsw i32 %7, 5
  %9 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %10 = shl nuw nsw i32 %9, 5
  %11 = icmp samesign ult i32 %6, 32
  br i1 %11, label %12, label %16

12:                                               ; preds = %4
  %13 = add nuw i32 %8, %5
  %14 = icmp ult i32 %13, %1
  %15 = add nuw i32 %8, %5
  br label %23

16:                                               ; preds = %38, %4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %17 = icmp samesign ult i32 %6, 32
  br i1 %17, label %18, label %41

18:                                               ; preds = %16
  %19 = add nuw nsw i32 %10, %5
  %20 = icmp ult i32 %19, %0
  %21 = mul nuw nsw i32 %5, 33
  %22 = add nuw nsw i32 %10, %5
  br label %42

23:                                               ; preds = %12, %38
  %24 = phi i32 [ %6, %12 ], [ %39, %38 ]
  %25 = or disjoint i32 %24, %10
  %26 = icmp ult i32 %25, %0
  %27 = select i1 %26, i1 %14, i1 false
  br i1 %27, label %28, label %38

28:                                               ; preds = %23
  %29 = mul i32 %25, %1
  %30 = add i32 %15, %29
  %31 = zext i32 %30 to i64
  %32 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %31
  %33 = load i32, ptr addrspace(1) %32, align 4, !tbaa !3
  %34 = mul nuw nsw i32 %24, 33
  %35 = add nuw nsw i32 %34, %5
  %36 = zext nneg i32 %35 to i64
  %37 = getelementptr inbounds nuw i32, ptr addrspace(3) @tile, i64 %36
  store i32 %33, ptr addrspace(3) %37, align 4, !tbaa !3
  br label %38

38:                                               ; preds = %23, %28
  %39 = add nuw nsw i32 %24, 8
  %40 = icmp samesign ult i32 %24, 24
  br i1 %40, label %23, label %16, !llvm.loop !16

41:                                               ; preds = %56, %16
  ret void

42:                                               ; preds = %18, %56
  %43 = phi i32 [ %6, %18 ], [ %57, %56 ]
  %44 = or disjoint i32 %43, %8
  %45 = icmp ult i32 %44, %1
  %46 = select i1 %45, i1 %20, i1 false
  br i1 %46, label %47, label %56

47:                                               ; preds = %42
  %48 = add nuw nsw i32 %43, %21
  %49 = zext nneg i32 %48 to i64
  %50 = getelementptr inbounds nuw i32, ptr addrspace(3) @tile, i64 %49
  %51 = load i32, ptr addrspace(3) %50, align 4, !tbaa !3
  %52 = mul i32 %44, %0
  %53 = add i32 %22, %52
  %54 = zext i32 %53 to i64
  %55 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %54
  store i32 %51, ptr addrspace(1) %55, align 4, !tbaa !3
  br label %56

56:                                               ; preds = %42, %47
  %57 = add nuw nsw i32 %43, 8
  %58 = icmp samesign ult i32 %43, 24
  br i1 %58, label %42, label %41, !llvm.loop !17
}

; Function Attrs: convergent noinline norecurse nounwind
define dso_local ptx_kernel void @exclusive_scan(i32 noundef %0, ptr addrspace(1) noundef readonly captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2) local_unnamed_addr #4 {
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = and i32 %4, 31
  %6 = icmp eq i32 %0, 0
  br i1 %6, label %15, label %7

7:                                                ; preds = %3
  %8 = lshr i32 %4, 5
  %9 = icmp eq i32 %5, 31
  %10 = zext nneg i32 %8 to i64
  %11 = getelementptr inbounds nuw i32, ptr addrspace(3) @totals, i64 %10
  %12 = icmp eq i32 %8, 0
  %13 = icmp samesign ugt i32 %4, 63
  %14 = icmp samesign ugt i32 %4, 95
  br label %16

15:                                               ; preds = %45, %3
  ret void

16:                                               ; preds = %7, %45
  %17 = phi i32 [ 0, %7 ], [ %49, %45 ]
  %18 = phi i32 [ 0, %7 ], [ %50, %45 ]
  %19 = add i32 %18, %4
  %20 = icmp ult i32 %19, %0
  br i1 %20, label %21, label %25

21:                                               ; preds = %16
  %22 = zext i32 %19 to i64
  %23 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %22
  %24 = load i32, ptr addrspace(1) %23, align 4, !tbaa !3
  br label %25

25:                                               ; preds = %16, %21
  %26 = phi i32 [ %24, %21 ], [ 0, %16 ]
  %27 = tail call fastcc i32 @warp_scan(i32 noundef %26, i32 noundef %5) #15
  br i1 %9, label %28, label %29

28:                                               ; preds = %25
  store i32 %27, ptr addrspace(3) %11, align 4, !tbaa !3
  br label %29

29:                                               ; preds = %28, %25
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %30 = load i32, ptr addrspace(3) @totals, align 4, !tbaa !3
  %31 = load i32, ptr addrspace(3) getelementptr inbounds nuw (i8, ptr addrspace(3) @totals, i64 4), align 4, !tbaa !3
  %32 = load i32, ptr addrspace(3) getelementptr inbounds nuw (i8, ptr addrspace(3) @totals, i64 8), align 4, !tbaa !3
  %33 = load i32, ptr addrspace(3) getelementptr inbounds nuw (i8, ptr addrspace(3) @totals, i64 12), align 4, !tbaa !3
  br i1 %20, label %34, label %45

34:                                               ; preds = %29
  %35 = select i1 %12, i32 0, i32 %30
  %36 = select i1 %13, i32 %31, i32 0
  %37 = select i1 %14, i32 %32, i32 0
  %38 = sub i32 %17, %26
  %39 = add i32 %38, %27
  %40 = add i32 %39, %35
  %41 = add i32 %40, %36
  %42 = add i32 %41, %37
  %43 = zext i32 %19 to i64
  %44 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %43
  store i32 %42, ptr addrspace(1) %44, align 4, !tbaa !3
  br label %45

45:                                               ; preds = %34, %29
  %46 = add i32 %30, %17
  %47 = add i32 %46, %31
  %48 = add i32 %47, %32
  %49 = add i32 %48, %33
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %50 = add i32 %18, 128
  %51 = icmp ult i32 %50, %0
  br i1 %51, label %16, label %15, !llvm.loop !18
}

; Function Attrs: convergent noinline norecurse nounwind memory(inaccessiblemem: readwrite)
define internal fastcc i32 @warp_scan(i32 noundef %0, i32 noundef range(i32 0, 32) %1) unnamed_addr #5 {
  br label %4

3:                                                ; preds = %4
  ret i32 %10

4:                                                ; preds = %2, %4
  %5 = phi i32 [ %0, %2 ], [ %10, %4 ]
  %6 = phi i32 [ 1, %2 ], [ %11, %4 ]
  %7 = tail call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %5, i32 %6, i32 0)
  %8 = icmp samesign ult i32 %1, %6
  %9 = select i1 %8, i32 0, i32 %7
  %10 = add i32 %9, %5
  %11 = shl nuw nsw i32 %6, 1
  %12 = icmp samesign ult i32 %6, 16
  br i1 %12, label %4, label %3, !llvm.loop !19
}

; Function Attrs: nofree noinline norecurse nosync nounwind memory(argmem: write)
define dso_local ptx_kernel void @mandelbrot(i32 noundef %0, i32 noundef %1, i32 noundef %2, float noundef %3, float noundef %4, float noundef %5, ptr addrspace(1) noundef writeonly captures(none) %6) local_unnamed_addr #7 {
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %10 = mul nuw nsw i32 %8, %9
  %11 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %12 = add nuw nsw i32 %10, %11
  %13 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %14 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %15 = mul nuw nsw i32 %13, %14
  %16 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %17 = add nuw nsw i32 %15, %16
  %18 = icmp ult i32 %12, %0
  %19 = icmp ult i32 %17, %1
  %20 = select i1 %18, i1 %19, i1 false
  br i1 %20, label %21, label %52

21:                                               ; preds = %7
  %22 = uitofp nneg i32 %12 to float
  %23 = tail call float @llvm.fma.f32(float %22, float %5, float %3)
  %24 = uitofp nneg i32 %17 to float
  %25 = tail call float @llvm.fma.f32(float %24, float %5, float %4)
  br label %26

26:                                               ; preds = %42, %21
  %27 = phi float [ 0.000000e+00, %21 ], [ %43, %42 ]
  %28 = phi i32 [ 0, %21 ], [ %44, %42 ]
  %29 = phi float [ 0.000000e+00, %21 ], [ %45, %42 ]
  %30 = fmul float %29, %29
  %31 = fmul float %27, %27
  %32 = fadd float %31, %30
  %33 = fcmp ole float %32, 4.000000e+00
  %34 = icmp ult i32 %28, %2
  %35 = select i1 %33, i1 %34, i1 false
  br i1 %35, label %36, label %42

36:                                               ; preds = %26
  %37 = fadd float %29, %29
  %38 = tail call float @llvm.fma.f32(float %37, float %27, float %25)
  %39 = fsub float %30, %31
  %40 = fadd float %23, %39
  %41 = add nuw i32 %28, 1
  br label %42

42:                                               ; preds = %26, %36
  %43 = phi float [ %38, %36 ], [ %27, %26 ]
  %44 = phi i32 [ %41, %36 ], [ %28, %26 ]
  %45 = phi float [ %40, %36 ], [ %29, %26 ]
  br i1 %35, label %26, label %46

46:                                               ; preds = %42
  %47 = trunc i32 %44 to i8
  %48 = mul i32 %17, %0
  %49 = add i32 %48, %12
  %50 = zext i32 %49 to i64
  %51 = getelementptr inbounds nuw i8, ptr addrspace(1) %6, i64 %50
  store i8 %47, ptr addrspace(1) %51, align 1, !tbaa !14
  br label %52

52:                                               ; preds = %7, %46
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.y() #2

; Function Attrs: nofree noinline norecurse nosync nounwind memory(argmem: readwrite)
define dso_local ptx_kernel void @sha256(i32 noundef %0, ptr addrspace(1) noundef readonly captures(none) %1, ptr addrspace(1) noundef readonly captures(none) %2, ptr addrspace(1) noundef readonly captures(none) %3, ptr addrspace(1) noundef writeonly captures(none) %4) local_unnamed_addr #8 {
  %6 = alloca [16 x i32], align 4
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %9 = mul nuw nsw i32 %7, %8
  %10 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nuw nsw i32 %9, %10
  %12 = icmp ult i32 %11, %0
  br i1 %12, label %13, label %180

13:                                               ; preds = %5
  %14 = zext nneg i32 %11 to i64
  %15 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %14
  %16 = load i32, ptr addrspace(1) %15, align 4, !tbaa !3
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 %17
  %19 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %14
  %20 = load i32, ptr addrspace(1) %19, align 4, !tbaa !3
  %21 = add i32 %20, 72
  %22 = lshr i32 %21, 6
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #16
  %23 = icmp eq i32 %22, 0
  br i1 %23, label %49, label %24

24:                                               ; preds = %13
  %25 = lshr i32 %20, 29
  %26 = getelementptr inbounds nuw i8, ptr %6, i64 56
  %27 = shl i32 %20, 3
  %28 = getelementptr inbounds nuw i8, ptr %6, i64 60
  br label %29

29:                                               ; preds = %24, %94
  %30 = phi i32 [ 1779033703, %24 ], [ %95, %94 ]
  %31 = phi i32 [ -1150833019, %24 ], [ %96, %94 ]
  %32 = phi i32 [ 1013904242, %24 ], [ %97, %94 ]
  %33 = phi i32 [ -1521486534, %24 ], [ %98, %94 ]
  %34 = phi i32 [ 1359893119, %24 ], [ %99, %94 ]
  %35 = phi i32 [ 0, %24 ], [ %69, %94 ]
  %36 = phi i32 [ 1541459225, %24 ], [ %102, %94 ]
  %37 = phi i32 [ 528734635, %24 ], [ %101, %94 ]
  %38 = phi i32 [ -1694144372, %24 ], [ %100, %94 ]
  %39 = shl nuw i32 %35, 6
  br label %72

40:                                               ; preds = %94
  %41 = tail call i32 @llvm.bswap.i32(i32 %95)
  %42 = tail call i32 @llvm.bswap.i32(i32 %96)
  %43 = tail call i32 @llvm.bswap.i32(i32 %97)
  %44 = tail call i32 @llvm.bswap.i32(i32 %98)
  %45 = tail call i32 @llvm.bswap.i32(i32 %99)
  %46 = tail call i32 @llvm.bswap.i32(i32 %100)
  %47 = tail call i32 @llvm.bswap.i32(i32 %101)
  %48 = tail call i32 @llvm.bswap.i32(i32 %102)
  br label %49

49:                                               ; preds = %40, %13
  %50 = phi i32 [ -1939339877, %13 ], [ %46, %40 ]
  %51 = phi i32 [ -1411808481, %13 ], [ %47, %40 ]
  %52 = phi i32 [ 432922715, %13 ], [ %48, %40 ]
  %53 = phi i32 [ 2136084049, %13 ], [ %45, %40 ]
  %54 = phi i32 [ 989155237, %13 ], [ %44, %40 ]
  %55 = phi i32 [ 1928556092, %13 ], [ %43, %40 ]
  %56 = phi i32 [ -2052167749, %13 ], [ %42, %40 ]
  %57 = phi i32 [ 1743128938, %13 ], [ %41, %40 ]
  %58 = shl i32 %11, 3
  %59 = zext i32 %58 to i64
  %60 = getelementptr inbounds nuw i32, ptr addrspace(1) %4, i64 %59
  store i32 %57, ptr addrspace(1) %60, align 4, !tbaa !3
  %61 = getelementptr inbounds nuw i8, ptr addrspace(1) %60, i64 4
  store i32 %56, ptr addrspace(1) %61, align 4, !tbaa !3
  %62 = getelementptr inbounds nuw i8, ptr addrspace(1) %60, i64 8
  store i32 %55, ptr addrspace(1) %62, align 4, !tbaa !3
  %63 = getelementptr inbounds nuw i8, ptr addrspace(1) %60, i64 12
  store i32 %54, ptr addrspace(1) %63, align 4, !tbaa !3
  %64 = getelementptr inbounds nuw i8, ptr addrspace(1) %60, i64 16
  store i32 %53, ptr addrspace(1) %64, align 4, !tbaa !3
  %65 = getelementptr inbounds nuw i8, ptr addrspace(1) %60, i64 20
  store i32 %50, ptr addrspace(1) %65, align 4, !tbaa !3
  %66 = getelementptr inbounds nuw i8, ptr addrspace(1) %60, i64 24
  store i32 %51, ptr addrspace(1) %66, align 4, !tbaa !3
  %67 = getelementptr inbounds nuw i8, ptr addrspace(1) %60, i64 28
  store i32 %52, ptr addrspace(1) %67, align 4, !tbaa !3
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #16
  br label %180

68:                                               ; preds = %72
  %69 = add nuw nsw i32 %35, 1
  %70 = icmp eq i32 %69, %22
  br i1 %70, label %93, label %71

71:                                               ; preds = %93, %68
  br label %104

72:                                               ; preds = %29, %72
  %73 = phi i32 [ 0, %29 ], [ %91, %72 ]
  %74 = shl nuw nsw i32 %73, 2
  %75 = add nuw nsw i32 %74, %39
  %76 = tail call fastcc i32 @padded_byte(ptr addrspace(1) noundef %18, i32 noundef %20, i32 noundef %75)
  %77 = shl nuw i32 %76, 24
  %78 = or disjoint i32 %75, 1
  %79 = tail call fastcc i32 @padded_byte(ptr addrspace(1) noundef %18, i32 noundef %20, i32 noundef %78)
  %80 = shl nuw nsw i32 %79, 16
  %81 = or disjoint i32 %80, %77
  %82 = or disjoint i32 %75, 2
  %83 = tail call fastcc i32 @padded_byte(ptr addrspace(1) noundef %18, i32 noundef %20, i32 noundef %82)
  %84 = shl nuw nsw i32 %83, 8
  %85 = or disjoint i32 %81, %84
  %86 = or disjoint i32 %75, 3
  %87 = tail call fastcc i32 @padded_byte(ptr addrspace(1) noundef %18, i32 noundef %20, i32 noundef %86)
  %88 = or disjoint i32 %85, %87
  %89 = zext nneg i32 %73 to i64
  %90 = getelementptr inbounds nuw i32, ptr %6, i64 %89
  store i32 %88, ptr %90, align 4, !tbaa !3
  %91 = add nuw nsw i32 %73, 1
  %92 = icmp eq i32 %91, 16
  br i1 %92, label %68, label %72, !llvm.loop !20

93:                                               ; preds = %68
  store i32 %25, ptr %26, align 4, !tbaa !3
  store i32 %27, ptr %28, align 4, !tbaa !3
  br label %71

94:                                               ; preds = %148
  %95 = add i32 %177, %30
  %96 = add i32 %113, %31
  %97 = add i32 %112, %32
  %98 = add i32 %111, %33
  %99 = add i32 %176, %34
  %100 = add i32 %109, %38
  %101 = add i32 %108, %37
  %102 = add i32 %107, %36
  %103 = icmp eq i32 %69, %22
  br i1 %103, label %40, label %29, !llvm.loop !21

104:                                              ; preds = %71, %148
  %105 = phi i32 [ %178, %148 ], [ 0, %71 ]
  %106 = phi i32 [ %107, %148 ], [ %36, %71 ]
  %107 = phi i32 [ %108, %148 ], [ %37, %71 ]
  %108 = phi i32 [ %109, %148 ], [ %38, %71 ]
  %109 = phi i32 [ %176, %148 ], [ %34, %71 ]
  %110 = phi i32 [ %111, %148 ], [ %33, %71 ]
  %111 = phi i32 [ %112, %148 ], [ %32, %71 ]
  %112 = phi i32 [ %113, %148 ], [ %31, %71 ]
  %113 = phi i32 [ %177, %148 ], [ %30, %71 ]
  %114 = and i32 %105, 15
  %115 = zext nneg i32 %114 to i64
  %116 = getelementptr inbounds nuw i32, ptr %6, i64 %115
  %117 = load i32, ptr %116, align 4, !tbaa !3
  %118 = icmp samesign ugt i32 %105, 15
  br i1 %118, label %119, label %148

119:                                              ; preds = %104
  %120 = add nuw nsw i32 %105, 1
  %121 = and i32 %120, 15
  %122 = zext nneg i32 %121 to i64
  %123 = getelementptr inbounds nuw i32, ptr %6, i64 %122
  %124 = load i32, ptr %123, align 4, !tbaa !3
  %125 = add nuw nsw i32 %105, 14
  %126 = and i32 %125, 15
  %127 = zext nneg i32 %126 to i64
  %128 = getelementptr inbounds nuw i32, ptr %6, i64 %127
  %129 = load i32, ptr %128, align 4, !tbaa !3
  %130 = tail call i32 @llvm.fshl.i32(i32 %124, i32 %124, i32 25)
  %131 = tail call i32 @llvm.fshl.i32(i32 %124, i32 %124, i32 14)
  %132 = xor i32 %130, %131
  %133 = lshr i32 %124, 3
  %134 = xor i32 %132, %133
  %135 = add nuw nsw i32 %105, 9
  %136 = and i32 %135, 15
  %137 = zext nneg i32 %136 to i64
  %138 = getelementptr inbounds nuw i32, ptr %6, i64 %137
  %139 = load i32, ptr %138, align 4, !tbaa !3
  %140 = tail call i32 @llvm.fshl.i32(i32 %129, i32 %129, i32 15)
  %141 = tail call i32 @llvm.fshl.i32(i32 %129, i32 %129, i32 13)
  %142 = xor i32 %140, %141
  %143 = lshr i32 %129, 10
  %144 = xor i32 %142, %143
  %145 = add i32 %139, %117
  %146 = add i32 %145, %134
  %147 = add i32 %146, %144
  store i32 %147, ptr %116, align 4, !tbaa !3
  br label %148

148:                                              ; preds = %119, %104
  %149 = phi i32 [ %147, %119 ], [ %117, %104 ]
  %150 = tail call i32 @llvm.fshl.i32(i32 %109, i32 %109, i32 26)
  %151 = tail call i32 @llvm.fshl.i32(i32 %109, i32 %109, i32 21)
  %152 = xor i32 %150, %151
  %153 = tail call i32 @llvm.fshl.i32(i32 %109, i32 %109, i32 7)
  %154 = xor i32 %152, %153
  %155 = add i32 %106, %154
  %156 = and i32 %108, %109
  %157 = xor i32 %109, -1
  %158 = and i32 %107, %157
  %159 = or i32 %158, %156
  %160 = add i32 %155, %159
  %161 = zext nneg i32 %105 to i64
  %162 = getelementptr inbounds nuw i32, ptr addrspace(4) @round_constants, i64 %161
  %163 = load i32, ptr addrspace(4) %162, align 4, !tbaa !3
  %164 = add i32 %160, %149
  %165 = add i32 %164, %163
  %166 = tail call i32 @llvm.fshl.i32(i32 %113, i32 %113, i32 30)
  %167 = tail call i32 @llvm.fshl.i32(i32 %113, i32 %113, i32 19)
  %168 = xor i32 %166, %167
  %169 = tail call i32 @llvm.fshl.i32(i32 %113, i32 %113, i32 10)
  %170 = xor i32 %168, %169
  %171 = xor i32 %111, %112
  %172 = and i32 %171, %113
  %173 = and i32 %111, %112
  %174 = xor i32 %172, %173
  %175 = add i32 %174, %170
  %176 = add i32 %165, %110
  %177 = add i32 %175, %165
  %178 = add nuw nsw i32 %105, 1
  %179 = icmp eq i32 %178, 64
  br i1 %179, label %94, label %104, !llvm.loop !22

180:                                              ; preds = %5, %49
  ret void
}

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: read)
define internal fastcc range(i32 0, 256) i32 @padded_byte(ptr addrspace(1) noundef readonly captures(none) %0, i32 noundef %1, i32 noundef range(i32 0, -64) %2) unnamed_addr #9 {
  %4 = icmp ult i32 %2, %1
  br i1 %4, label %5, label %10

5:                                                ; preds = %3
  %6 = zext i32 %2 to i64
  %7 = getelementptr inbounds nuw i8, ptr addrspace(1) %0, i64 %6
  %8 = load i8, ptr addrspace(1) %7, align 1, !tbaa !14
  %9 = zext i8 %8 to i32
  br label %13

10:                                               ; preds = %3
  %11 = icmp eq i32 %2, %1
  %12 = select i1 %11, i32 128, i32 0
  br label %13

13:                                               ; preds = %10, %5
  %14 = phi i32 [ %9, %5 ], [ %12, %10 ]
  ret i32 %14
}

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.bswap.i32(i32) #3

; Function Attrs: nofree noinline norecurse nounwind memory(argmem: readwrite)
define dso_local ptx_kernel void @monte_carlo(i32 noundef %0, i32 noundef %1, ptr addrspace(1) noundef captures(none) %2, ptr addrspace(1) noundef writeonly captures(none) %3) local_unnamed_addr #10 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = mul nuw nsw i32 %5, %6
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nuw nsw i32 %7, %8
  %10 = icmp eq i32 %0, 0
  br i1 %10, label %15, label %11

11:                                               ; preds = %4
  %12 = mul i32 %9, 1013904226
  %13 = add i32 %12, -1640531535
  %14 = xor i32 %13, %1
  br label %20

15:                                               ; preds = %20, %4
  %16 = phi i32 [ 0, %4 ], [ %35, %20 ]
  %17 = zext nneg i32 %9 to i64
  %18 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %17
  store i32 %16, ptr addrspace(1) %18, align 4, !tbaa !3
  %19 = atomicrmw add ptr addrspace(1) %2, i32 %16 monotonic, align 4
  ret void

20:                                               ; preds = %11, %20
  %21 = phi i32 [ %25, %20 ], [ %14, %11 ]
  %22 = phi i32 [ %35, %20 ], [ 0, %11 ]
  %23 = phi i32 [ %36, %20 ], [ 0, %11 ]
  %24 = tail call fastcc i32 @xorshift(i32 noundef %21)
  %25 = tail call fastcc i32 @xorshift(i32 noundef %24)
  %26 = lshr i32 %24, 1
  %27 = zext nneg i32 %26 to i64
  %28 = lshr i32 %25, 1
  %29 = zext nneg i32 %28 to i64
  %30 = mul nuw nsw i64 %27, %27
  %31 = mul nuw nsw i64 %29, %29
  %32 = add nuw nsw i64 %31, %30
  %33 = icmp samesign ult i64 %32, 4611686018427387904
  %34 = zext i1 %33 to i32
  %35 = add i32 %22, %34
  %36 = add nuw i32 %23, 1
  %37 = icmp eq i32 %36, %0
  br i1 %37, label %15, label %20, !llvm.loop !23
}

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none)
define internal fastcc i32 @xorshift(i32 noundef %0) unnamed_addr #11 {
  %2 = shl i32 %0, 13
  %3 = xor i32 %2, %0
  %4 = lshr i32 %3, 17
  %5 = xor i32 %4, %3
  %6 = shl i32 %5, 5
  %7 = xor i32 %6, %5
  ret i32 %7
}

; Function Attrs: nofree noinline norecurse nosync nounwind memory(argmem: readwrite)
define dso_local ptx_kernel void @vm(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2) local_unnamed_addr #8 {
  %4 = alloca [32 x i32], align 4
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = and i32 %5, 1
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %7
  %9 = load i32, ptr addrspace(1) %8, align 4, !tbaa !3
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #16
  %10 = lshr i32 %5, 1
  %11 = add nuw nsw i32 %10, 1
  store i32 %11, ptr %4, align 4, !tbaa !3
  br label %12

12:                                               ; preds = %89, %3
  %13 = phi i32 [ 0, %3 ], [ %24, %89 ]
  %14 = phi i32 [ 1, %3 ], [ %90, %89 ]
  %15 = phi i32 [ %9, %3 ], [ %91, %89 ]
  %16 = zext i32 %15 to i64
  %17 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %16
  %18 = load i32, ptr addrspace(1) %17, align 4, !tbaa !3
  %19 = add i32 %15, 1
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %20
  %22 = load i32, ptr addrspace(1) %21, align 4, !tbaa !3
  %23 = add i32 %15, 2
  %24 = add i32 %13, 1
  switch i32 %18, label %98 [
    i32 0, label %25
    i32 1, label %29
    i32 2, label %38
    i32 3, label %46
    i32 4, label %56
    i32 5, label %66
    i32 6, label %76
    i32 7, label %89
    i32 8, label %82
    i32 9, label %92
  ]

25:                                               ; preds = %12
  %26 = add i32 %14, 1
  %27 = zext i32 %14 to i64
  %28 = getelementptr inbounds nuw i32, ptr %4, i64 %27
  store i32 %22, ptr %28, align 4, !tbaa !3
  br label %89

29:                                               ; preds = %12
  %30 = xor i32 %22, -1
  %31 = add i32 %14, %30
  %32 = zext i32 %31 to i64
  %33 = getelementptr inbounds nuw i32, ptr %4, i64 %32
  %34 = load i32, ptr %33, align 4, !tbaa !3
  %35 = zext i32 %14 to i64
  %36 = getelementptr inbounds nuw i32, ptr %4, i64 %35
  store i32 %34, ptr %36, align 4, !tbaa !3
  %37 = add i32 %14, 1
  br label %89

38:                                               ; preds = %12
  %39 = add i32 %14, -1
  %40 = zext i32 %39 to i64
  %41 = getelementptr inbounds nuw i32, ptr %4, i64 %40
  %42 = load i32, ptr %41, align 4, !tbaa !3
  %43 = sub i32 %39, %22
  %44 = zext i32 %43 to i64
  %45 = getelementptr inbounds nuw i32, ptr %4, i64 %44
  store i32 %42, ptr %45, align 4, !tbaa !3
  br label %89

46:                                               ; preds = %12
  %47 = add i32 %14, -1
  %48 = zext i32 %47 to i64
  %49 = getelementptr inbounds nuw i32, ptr %4, i64 %48
  %50 = load i32, ptr %49, align 4, !tbaa !3
  %51 = add i32 %14, -2
  %52 = zext i32 %51 to i64
  %53 = getelementptr inbounds nuw i32, ptr %4, i64 %52
  %54 = load i32, ptr %53, align 4, !tbaa !3
  %55 = add nsw i32 %54, %50
  store i32 %55, ptr %53, align 4, !tbaa !3
  br label %89

56:                                               ; preds = %12
  %57 = add i32 %14, -1
  %58 = zext i32 %57 to i64
  %59 = getelementptr inbounds nuw i32, ptr %4, i64 %58
  %60 = load i32, ptr %59, align 4, !tbaa !3
  %61 = add i32 %14, -2
  %62 = zext i32 %61 to i64
  %63 = getelementptr inbounds nuw i32, ptr %4, i64 %62
  %64 = load i32, ptr %63, align 4, !tbaa !3
  %65 = mul nsw i32 %64, %60
  store i32 %65, ptr %63, align 4, !tbaa !3
  br label %89

66:                                               ; preds = %12
  %67 = add i32 %14, -1
  %68 = zext i32 %67 to i64
  %69 = getelementptr inbounds nuw i32, ptr %4, i64 %68
  %70 = load i32, ptr %69, align 4, !tbaa !3
  %71 = add i32 %14, -2
  %72 = zext i32 %71 to i64
  %73 = getelementptr inbounds nuw i32, ptr %4, i64 %72
  %74 = load i32, ptr %73, align 4, !tbaa !3
  %75 = sub nsw i32 %74, %70
  store i32 %75, ptr %73, align 4, !tbaa !3
  br label %89

76:                                               ; preds = %12
  %77 = add i32 %14, -1
  %78 = zext i32 %77 to i64
  %79 = getelementptr inbounds nuw i32, ptr %4, i64 %78
  %80 = load i32, ptr %79, align 4, !tbaa !3
  %81 = ashr i32 %80, 1
  store i32 %81, ptr %79, align 4, !tbaa !3
  br label %89

82:                                               ; preds = %12
  %83 = add i32 %14, -1
  %84 = zext i32 %83 to i64
  %85 = getelementptr inbounds nuw i32, ptr %4, i64 %84
  %86 = load i32, ptr %85, align 4, !tbaa !3
  %87 = icmp eq i32 %86, 0
  %88 = select i1 %87, i32 %22, i32 %23
  br label %89

89:                                               ; preds = %82, %25, %29, %38, %46, %56, %66, %76, %92, %12
  %90 = phi i32 [ %83, %82 ], [ %26, %25 ], [ %37, %29 ], [ %39, %38 ], [ %47, %46 ], [ %57, %56 ], [ %67, %66 ], [ %14, %76 ], [ %14, %92 ], [ %14, %12 ]
  %91 = phi i32 [ %88, %82 ], [ %23, %25 ], [ %23, %29 ], [ %23, %38 ], [ %23, %46 ], [ %23, %56 ], [ %23, %66 ], [ %23, %76 ], [ %23, %92 ], [ %22, %12 ]
  br label %12, !llvm.loop !24

92:                                               ; preds = %12
  %93 = add i32 %14, -1
  %94 = zext i32 %93 to i64
  %95 = getelementptr inbounds nuw i32, ptr %4, i64 %94
  %96 = load i32, ptr %95, align 4, !tbaa !3
  %97 = and i32 %96, 1
  store i32 %97, ptr %95, align 4, !tbaa !3
  br label %89

98:                                               ; preds = %12
  %99 = add i32 %14, -1
  %100 = zext i32 %99 to i64
  %101 = getelementptr inbounds nuw i32, ptr %4, i64 %100
  %102 = load i32, ptr %101, align 4, !tbaa !3
  %103 = shl nuw nsw i32 %5, 1
  %104 = zext nneg i32 %103 to i64
  %105 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %104
  store i32 %102, ptr addrspace(1) %105, align 4, !tbaa !3
  %106 = getelementptr inbounds nuw i8, ptr addrspace(1) %105, i64 4
  store i32 %24, ptr addrspace(1) %106, align 4, !tbaa !3
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #16
  ret void
}

; Function Attrs: convergent noinline norecurse nounwind
define dso_local ptx_kernel void @bitonic_sort(ptr addrspace(1) noundef captures(none) %0) local_unnamed_addr #4 {
  %2 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %3 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = shl i32 %3, 9
  %5 = add i32 %4, %2
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %6
  %8 = load i32, ptr addrspace(1) %7, align 4, !tbaa !3
  %9 = zext nneg i32 %2 to i64
  %10 = getelementptr inbounds nuw i32, ptr addrspace(3) @keys, i64 %9
  store i32 %8, ptr addrspace(3) %10, align 4, !tbaa !3
  %11 = add i32 %5, 256
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %12
  %14 = load i32, ptr addrspace(1) %13, align 4, !tbaa !3
  %15 = getelementptr inbounds nuw i8, ptr addrspace(3) %10, i64 1024
  store i32 %14, ptr addrspace(3) %15, align 4, !tbaa !3
  %16 = shl nuw nsw i32 %2, 1
  br label %17

17:                                               ; preds = %1, %23
  %18 = phi i32 [ 2, %1 ], [ %24, %23 ]
  %19 = lshr exact i32 %18, 1
  br label %26

20:                                               ; preds = %23
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %21 = load i32, ptr addrspace(3) %10, align 4, !tbaa !3
  store i32 %21, ptr addrspace(1) %7, align 4, !tbaa !3
  %22 = load i32, ptr addrspace(3) %15, align 4, !tbaa !3
  store i32 %22, ptr addrspace(1) %13, align 4, !tbaa !3
  ret void

23:                                               ; preds = %26
  %24 = shl nuw nsw i32 %18, 1
  %25 = icmp samesign ult i32 %18, 257
  br i1 %25, label %17, label %20, !llvm.loop !25

26:                                               ; preds = %17, %26
  %27 = phi i32 [ %19, %17 ], [ %44, %26 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %28 = add nuw nsw i32 %27, 1023
  %29 = and i32 %28, %2
  %30 = sub nsw i32 %16, %29
  %31 = zext i32 %30 to i64
  %32 = getelementptr inbounds nuw i32, ptr addrspace(3) @keys, i64 %31
  %33 = load i32, ptr addrspace(3) %32, align 4, !tbaa !3
  %34 = add nsw i32 %30, %27
  %35 = zext i32 %34 to i64
  %36 = getelementptr inbounds nuw i32, ptr addrspace(3) @keys, i64 %35
  %37 = load i32, ptr addrspace(3) %36, align 4, !tbaa !3
  %38 = tail call i32 @llvm.smin.i32(i32 %33, i32 %37)
  %39 = tail call i32 @llvm.smax.i32(i32 %33, i32 %37)
  %40 = and i32 %30, %18
  %41 = icmp eq i32 %40, 0
  %42 = select i1 %41, i32 %38, i32 %39
  store i32 %42, ptr addrspace(3) %32, align 4, !tbaa !3
  %43 = select i1 %41, i32 %39, i32 %38
  store i32 %43, ptr addrspace(3) %36, align 4, !tbaa !3
  %44 = lshr i32 %27, 1
  %45 = icmp eq i32 %44, 0
  br i1 %45, label %23, label %26, !llvm.loop !26
}

; Function Attrs: convergent noinline norecurse nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)
define dso_local ptx_kernel void @spmv(i32 noundef %0, ptr addrspace(1) noundef readonly captures(none) %1, ptr addrspace(1) noundef readonly captures(none) %2, ptr addrspace(1) noundef readonly captures(none) %3, ptr addrspace(1) noundef readonly captures(none) %4, ptr addrspace(1) noundef writeonly captures(none) %5) local_unnamed_addr #12 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %9 = mul nuw nsw i32 %7, %8
  %10 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nuw nsw i32 %9, %10
  %12 = lshr i32 %11, 5
  %13 = and i32 %11, 31
  %14 = icmp ult i32 %12, %0
  br i1 %14, label %15, label %60

15:                                               ; preds = %6
  %16 = zext nneg i32 %12 to i64
  %17 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %16
  %18 = load i32, ptr addrspace(1) %17, align 4, !tbaa !3
  %19 = add i32 %18, %13
  %20 = getelementptr inbounds nuw i8, ptr addrspace(1) %17, i64 4
  %21 = load i32, ptr addrspace(1) %20, align 4, !tbaa !3
  %22 = icmp ult i32 %19, %21
  br i1 %22, label %25, label %23

23:                                               ; preds = %25, %15
  %24 = phi double [ 0.000000e+00, %15 ], [ %36, %25 ]
  br label %41

25:                                               ; preds = %15, %25
  %26 = phi i32 [ %37, %25 ], [ %19, %15 ]
  %27 = phi double [ %36, %25 ], [ 0.000000e+00, %15 ]
  %28 = zext i32 %26 to i64
  %29 = getelementptr inbounds nuw double, ptr addrspace(1) %3, i64 %28
  %30 = load double, ptr addrspace(1) %29, align 8, !tbaa !27
  %31 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %28
  %32 = load i32, ptr addrspace(1) %31, align 4, !tbaa !3
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds nuw double, ptr addrspace(1) %4, i64 %33
  %35 = load double, ptr addrspace(1) %34, align 8, !tbaa !27
  %36 = tail call double @llvm.fma.f64(double %30, double %35, double %27)
  %37 = add i32 %26, 32
  %38 = icmp ult i32 %37, %21
  br i1 %38, label %25, label %23, !llvm.loop !29

39:                                               ; preds = %41
  %40 = icmp eq i32 %13, 0
  br i1 %40, label %58, label %60

41:                                               ; preds = %23, %41
  %42 = phi i32 [ %56, %41 ], [ 16, %23 ]
  %43 = phi double [ %55, %41 ], [ %24, %23 ]
  %44 = bitcast double %43 to i64
  %45 = trunc i64 %44 to i32
  %46 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %45, i32 %42, i32 31)
  %47 = zext i32 %46 to i64
  %48 = lshr i64 %44, 32
  %49 = trunc nuw i64 %48 to i32
  %50 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %49, i32 %42, i32 31)
  %51 = zext i32 %50 to i64
  %52 = shl nuw i64 %51, 32
  %53 = or disjoint i64 %52, %47
  %54 = bitcast i64 %53 to double
  %55 = fadd double %43, %54
  %56 = lshr i32 %42, 1
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %39, label %41, !llvm.loop !30

58:                                               ; preds = %39
  %59 = getelementptr inbounds nuw double, ptr addrspace(1) %5, i64 %16
  store double %55, ptr addrspace(1) %59, align 8, !tbaa !27
  br label %60

60:                                               ; preds = %39, %58, %6
  ret void
}

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fma.f64(double, double, double) #3

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #13

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32) #13

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32) #13

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.fshl.i32(i32, i32, i32) #14

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smin.i32(i32, i32) #14

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #14

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx42,+ptx64,+sm_75" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { convergent noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx42,+ptx64,+sm_75" }
attributes #5 = { convergent noinline norecurse nounwind memory(inaccessiblemem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx42,+ptx64,+sm_75" }
attributes #6 = { convergent nocallback nounwind }
attributes #7 = { nofree noinline norecurse nosync nounwind memory(argmem: write) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx42,+ptx64,+sm_75" }
attributes #8 = { nofree noinline norecurse nosync nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx42,+ptx64,+sm_75" }
attributes #9 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: read) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx42,+ptx64,+sm_75" }
attributes #10 = { nofree noinline norecurse nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx42,+ptx64,+sm_75" }
attributes #11 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx42,+ptx64,+sm_75" }
attributes #12 = { convergent noinline norecurse nounwind memory(argmem: readwrite, inaccessiblemem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx42,+ptx64,+sm_75" }
attributes #13 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #14 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #15 = { convergent }
attributes #16 = { nounwind }

!llvm.module.flags = !{!0, !1}
!llvm.ident = !{!2}
!llvm.errno.tbaa = !{!3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"frame-pointer", i32 2}
!2 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !5, i64 0}
!5 = !{!"omnipotent char", !6, i64 0}
!6 = !{!"Simple C/C++ TBAA"}
!7 = !{!8, !8, i64 0}
!8 = !{!"float", !5, i64 0}
!9 = distinct !{!9, !10, !11}
!10 = !{!"llvm.loop.mustprogress"}
!11 = !{!"llvm.loop.unroll.disable"}
!12 = distinct !{!12, !10, !11}
!13 = distinct !{!13, !10, !11}
!14 = !{!5, !5, i64 0}
!15 = distinct !{!15, !10, !11}
!16 = distinct !{!16, !10, !11}
!17 = distinct !{!17, !10, !11}
!18 = distinct !{!18, !10, !11}
!19 = distinct !{!19, !10, !11}
!20 = distinct !{!20, !10, !11}
!21 = distinct !{!21, !10, !11}
!22 = distinct !{!22, !10, !11}
!23 = distinct !{!23, !10, !11}
!24 = distinct !{!24, !11}
!25 = distinct !{!25, !10, !11}
!26 = distinct !{!26, !10, !11}
!27 = !{!28, !28, i64 0}
!28 = !{!"double", !5, i64 0}
!29 = distinct !{!29, !10, !11}
!30 = distinct !{!30, !10, !11}
