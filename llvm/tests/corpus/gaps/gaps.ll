; A kernel for each construct that producers write and that PTX has nothing like (the table in llvm/tests/gaps.rs). Each gets the address of eight words.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@text = private unnamed_addr constant [6 x i8] c"device", align 1
; As rustc writes the place of a panic: packed, with an address that is not aligned in it.
@place = private constant <{ ptr, [2 x i8], ptr, i32 }> <{ ptr @text, [2 x i8] c"\05\07", ptr getelementptr inbounds (i8, ptr @text, i64 2), i32 41 }>, align 8
@table = private constant [2 x ptr] [ptr @twice, ptr @thrice], align 8
@counter = internal global i64 40, align 8
@in_space_1 = internal addrspace(1) global i32 9, align 4
@as_integer = private constant i64 ptrtoint (ptr @counter to i64), align 8
@maybe = extern_weak global i32
@in_shared = internal addrspace(3) global [8 x i32] undef, align 4
@also_shared = internal global [8 x i32] zeroinitializer, section ".shared", align 4
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @construct, ptr null }]
@constructed = internal global i64 0, align 8
@_ZTVN10__cxxabiv117__class_type_infoE = external global [0 x ptr]
@type_information = internal constant { ptr, ptr } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv117__class_type_infoE, i64 2), ptr @text }
@virtual_functions = internal constant [4 x ptr] [ptr null, ptr @type_information, ptr @__cxa_pure_virtual, ptr @twice]
declare void @__cxa_pure_virtual()
module asm ".global .align 8 .u64 assembled;"

define internal void @construct() {
  store i64 11, ptr @constructed
  ret void
}

define internal i64 @twice(i64 %x) noinline {
  %r = mul i64 %x, 2
  ret i64 %r
}

define internal i64 @thrice(i64 %x) noinline {
  %r = mul i64 %x, 3
  ret i64 %r
}

; 1: aggregates as parameters of kernels and functions; 11: their addresses are global through inttoptr.
define ptx_kernel void @aggregate_parameters([2 x i64] %slice, { i32, i8 } %pair) {
  %address = extractvalue [2 x i64] %slice, 0
  %len = extractvalue [2 x i64] %slice, 1
  %out = inttoptr i64 %address to ptr
  %a = extractvalue { i32, i8 } %pair, 0
  %b = extractvalue { i32, i8 } %pair, 1
  %wide = zext i32 %a to i64
  %byte = sext i8 %b to i64
  store i64 %len, ptr %out
  %1 = getelementptr i64, ptr %out, i64 1
  store i64 %wide, ptr %1
  %2 = getelementptr i64, ptr %out, i64 2
  store i64 %byte, ptr %2
  ret void
}

define internal { i64, ptr } @both({ ptr, i64 } %x, i64 %more) noinline {
  %p = extractvalue { ptr, i64 } %x, 0
  %n = extractvalue { ptr, i64 } %x, 1
  %sum = add i64 %n, %more
  %r0 = insertvalue { i64, ptr } poison, i64 %sum, 0
  %r1 = insertvalue { i64, ptr } %r0, ptr %p, 1
  ret { i64, ptr } %r1
}

; 2: values of aggregates: built, passed, returned, loaded, stored, merged.
define ptx_kernel void @aggregate_values(ptr %out) {
  %slot = alloca { ptr, i64 }, align 8
  %a = insertvalue { ptr, i64 } undef, ptr %out, 0
  %b = insertvalue { ptr, i64 } %a, i64 30, 1
  store { ptr, i64 } %b, ptr %slot
  %c = load { ptr, i64 }, ptr %slot
  %first = load i64, ptr %out
  %is = icmp eq i64 %first, 0
  br i1 %is, label %yes, label %no
yes:
  %d = call { i64, ptr } @both({ ptr, i64 } %c, i64 12)
  br label %end
no:
  br label %end
end:
  %e = phi { i64, ptr } [ %d, %yes ], [ zeroinitializer, %no ]
  %n = extractvalue { i64, ptr } %e, 0
  %p = extractvalue { i64, ptr } %e, 1
  store i64 %n, ptr %p
  ret void
}

; 3: initialisers that hold addresses, packed.
define ptx_kernel void @initialisers(ptr %out) {
  %text = load ptr, ptr @place
  %c = load i8, ptr %text
  %second = load ptr, ptr getelementptr inbounds (i8, ptr @place, i64 10), align 1
  %d = load i8, ptr %second
  %line = load i32, ptr getelementptr inbounds (i8, ptr @place, i64 18), align 1
  %c64 = zext i8 %c to i64
  %d64 = zext i8 %d to i64
  %l64 = zext i32 %line to i64
  store i64 %c64, ptr %out
  %1 = getelementptr i64, ptr %out, i64 1
  store i64 %d64, ptr %1
  %2 = getelementptr i64, ptr %out, i64 2
  store i64 %l64, ptr %2
  %address = load i64, ptr @as_integer
  %counter = inttoptr i64 %address to ptr
  %v = load i64, ptr %counter
  %3 = getelementptr i64, ptr %out, i64 3
  store i64 %v, ptr %3
  %null = icmp eq ptr @maybe, null
  %n64 = zext i1 %null to i64
  %4 = getelementptr i64, ptr %out, i64 4
  store i64 %n64, ptr %4
  ret void
}

; 4: memory of the stack: of bytes, in any block, of a computed size, copied in overlapping parts.
define ptx_kernel void @stack(ptr %out) {
  %bytes = alloca [24 x i8], align 8
  %n = load i64, ptr %out
  %size = add i64 %n, 16
  br label %next
next:
  %late = alloca i64, align 8
  %dynamic = alloca i8, i64 %size, align 8
  store i64 513, ptr %late
  call void @llvm.memset.p0.i64(ptr %bytes, i8 1, i64 24, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %bytes, ptr %late, i64 8, i1 false)
  %at = getelementptr i8, ptr %bytes, i64 1
  call void @llvm.memmove.p0.p0.i64(ptr %at, ptr %bytes, i64 3, i1 false)
  %r = load i64, ptr %bytes
  store i64 %r, ptr %dynamic
  %r2 = load i64, ptr %dynamic
  store i64 %r2, ptr %out
  ret void
}

define internal i64 @always(i64 %x) alwaysinline {
  %r = add i64 %x, 5
  ret i64 %r
}

define internal i64 @never(i64 %x, i64 %dead) noinline {
  %r = call i64 @always(i64 %x)
  ret i64 %r
}

; 5: calls that are inlined, and those that are not.
define ptx_kernel void @inlining(ptr %out) {
  %r = call i64 @never(i64 6, i64 99)
  store i64 %r, ptr %out
  ret void
}

; 6: blocks of memory of known and computed sizes, volatile too.
define ptx_kernel void @blocks_of_memory(ptr %out) {
  %from = alloca [4 x i64], align 8
  call void @llvm.memset.p0.i64(ptr %from, i8 2, i64 32, i1 true)
  %zero = load i64, ptr %out
  %n = add i64 %zero, 13
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %out, ptr align 8 %from, i64 %n, i1 false)
  ret void
}

; 7: arithmetic that saturates, overflows, counts.
define ptx_kernel void @arithmetic(ptr %out) {
  %zero = load i64, ptr %out
  %z8 = trunc i64 %zero to i8
  %a = add i8 %z8, 100
  %o = call { i8, i1 } @llvm.sadd.with.overflow.i8(i8 %a, i8 100)
  %o0 = extractvalue { i8, i1 } %o, 0
  %o1 = extractvalue { i8, i1 } %o, 1
  %s = sext i8 %o0 to i64
  %flag = zext i1 %o1 to i64
  %scaled = mul i64 %flag, 1000
  %w0 = add i64 %s, %scaled
  store i64 %w0, ptr %out
  %sat = call i8 @llvm.ssub.sat.i8(i8 -100, i8 %a)
  %w1 = sext i8 %sat to i64
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %w1, ptr %p1
  %f = call i16 @llvm.fshl.i16(i16 4660, i16 -21555, i16 20)
  %w2 = zext i16 %f to i64
  %p2 = getelementptr i64, ptr %out, i64 2
  store i64 %w2, ptr %p2
  %cmp = call i8 @llvm.scmp.i8.i64(i64 -1, i64 %zero)
  %w3 = sext i8 %cmp to i64
  %p3 = getelementptr i64, ptr %out, i64 3
  store i64 %w3, ptr %p3
  %swapped = call i48 @llvm.bswap.i48(i48 1108152157446)
  %w4 = zext i48 %swapped to i64
  %p4 = getelementptr i64, ptr %out, i64 4
  store i64 %w4, ptr %p4
  %inf = uitofp i64 %zero to double
  %big = fdiv double 1.0, %inf
  %clamped = call i20 @llvm.fptosi.sat.i20.f64(double %big)
  %w5 = sext i20 %clamped to i64
  %p5 = getelementptr i64, ptr %out, i64 5
  store i64 %w5, ptr %p5
  %class = call i1 @llvm.is.fpclass.f64(double %big, i32 512)
  %c64 = zext i1 %class to i64
  %lz = call i8 @llvm.ctlz.i8(i8 %z8, i1 false)
  %lz64 = zext i8 %lz to i64
  %w6 = add i64 %c64, %lz64
  %p6 = getelementptr i64, ptr %out, i64 6
  store i64 %w6, ptr %p6
  %masked = call ptr @llvm.ptrmask.p0.i64(ptr inttoptr (i64 12345 to ptr), i64 -16)
  %w7 = ptrtoint ptr %masked to i64
  %p7 = getelementptr i64, ptr %out, i64 7
  store i64 %w7, ptr %p7
  ret void
}

; 8: atomics of every width and order; a fence of one thread is not an instruction.
define ptx_kernel void @atomics(ptr %out) {
  %byte = getelementptr i8, ptr %out, i64 1
  %old = atomicrmw sub ptr %byte, i8 3 seq_cst
  %nand = atomicrmw nand ptr %out, i64 -1 acq_rel
  fence syncscope("singlethread") seq_cst
  fence seq_cst
  %p1 = getelementptr i64, ptr %out, i64 1
  %x = cmpxchg weak ptr %p1, i64 0, i64 77 acquire monotonic
  %ok = extractvalue { i64, i1 } %x, 1
  %h = getelementptr i16, ptr %p1, i64 1
  %max = atomicrmw umax ptr %h, i16 9 syncscope("block") monotonic
  %p2 = getelementptr i64, ptr %out, i64 2
  %ok64 = zext i1 %ok to i64
  store atomic i64 %ok64, ptr %p2 release, align 8
  %p3 = getelementptr i64, ptr %out, i64 3
  %f = atomicrmw fsub ptr %p3, float 1.5 seq_cst
  %l = load atomic i32, ptr %p3 acquire, align 4
  ret void
}

; 9: what is never reached; 10: undef, poison and freeze.
define ptx_kernel void @nothing_is_undefined(ptr %out) {
  %zero = load i64, ptr %out
  switch i64 %zero, label %never [ i64 0, label %a
                                   i64 1, label %b ]
a:
  br label %end
b:
  br label %end
never:
  unreachable
end:
  %x = phi i64 [ 21, %a ], [ undef, %b ]
  %y = freeze i64 poison
  %same = sub i64 %y, %y
  %r = add i64 %x, %same
  store i64 %r, ptr %out
  ret void
}

; 11: generic pointers to variables of every space.
define ptx_kernel void @spaces(ptr %out) {
  %g = load i32, ptr addrspacecast (ptr addrspace(1) @in_space_1 to ptr)
  %g64 = zext i32 %g to i64
  store i64 %g64, ptr %out
  %s = addrspacecast ptr addrspace(3) @in_shared to ptr
  store i32 6, ptr %s
  %direct = load i32, ptr addrspace(3) @in_shared
  store i32 7, ptr @also_shared
  %section = load i32, ptr @also_shared
  %both = add i32 %direct, %section
  %b64 = zext i32 %both to i64
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %b64, ptr %p1
  %is = call i1 @llvm.nvvm.isspacep.shared(ptr %s)
  %section_is = call i1 @llvm.nvvm.isspacep.shared(ptr @also_shared)
  %out_is = call i1 @llvm.nvvm.isspacep.global(ptr %out)
  %i1 = zext i1 %is to i64
  %i2 = zext i1 %section_is to i64
  %i3 = zext i1 %out_is to i64
  %t1 = add i64 %i1, %i2
  %t2 = add i64 %t1, %i3
  %p2 = getelementptr i64, ptr %out, i64 2
  store i64 %t2, ptr %p2
  ret void
}

; 12: constant expressions where they are used.
define ptx_kernel void @constant_expressions(ptr %out) {
  %c = load i8, ptr getelementptr inbounds ([6 x i8], ptr @text, i64 0, i64 3)
  %c64 = zext i8 %c to i64
  store i64 %c64, ptr %out
  %v = load <4 x i16>, ptr %out
  %w = add <4 x i16> %v, splat (i16 2)
  %p1 = getelementptr i64, ptr %out, i64 1
  store <4 x i16> %w, ptr %p1
  ret void
}

; 13: calls through addresses.
define ptx_kernel void @indirect_calls(ptr %out) {
  %zero = load i64, ptr %out
  %n = add i64 %zero, 1
  %slot = getelementptr [2 x ptr], ptr @table, i64 0, i64 %n
  %f = load ptr, ptr %slot
  %r = call i64 %f(i64 14)
  store i64 %r, ptr %out
  ret void
}

; 14: 128 bits, divided and converted: what ends LLVM's own back end.
define ptx_kernel void @wide(ptr %out) {
  %zero = load i64, ptr %out
  %z = zext i64 %zero to i128
  %a = add i128 %z, 1000000000000000000000000000000
  %q = udiv i128 %a, 1000000000000
  %low = trunc i128 %q to i64
  store i64 %low, ptr %out
  %f = uitofp i128 %a to double
  %bits = bitcast double %f to i64
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %bits, ptr %p1
  %back = fptosi double %f to i128
  %shifted = lshr i128 %back, 64
  %high = trunc i128 %shifted to i64
  %p2 = getelementptr i64, ptr %out, i64 2
  store i64 %high, ptr %p2
  ret void
}

; 15: odd widths.
define ptx_kernel void @odd(ptr %out) {
  %zero = load i64, ptr %out
  %z = trunc i64 %zero to i33
  %a = sub i33 %z, 1
  %wide = sext i33 %a to i64
  store i64 %wide, ptr %out
  %b = mul i33 %a, 4294967297
  %b64 = zext i33 %b to i64
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %b64, ptr %p1
  %c = zext i64 %zero to i256
  %d = add i256 %c, 5
  %e = shl i256 %d, 200
  %f = mul i256 %e, 3
  %g = lshr i256 %f, 198
  %h = trunc i256 %g to i64
  %p2 = getelementptr i64, ptr %out, i64 2
  store i64 %h, ptr %p2
  %i3 = trunc i64 13 to i3
  %s3 = sext i3 %i3 to i64
  %p3 = getelementptr i64, ptr %out, i64 3
  store i64 %s3, ptr %p3
  ret void
}

; 16: vectors: of bits, of three, of pointers; shuffled, reduced, indexed.
define ptx_kernel void @vectors(ptr %out) {
  %zero = load i64, ptr %out
  %i = trunc i64 %zero to i32
  %v = insertelement <4 x i32> <i32 1, i32 2, i32 3, i32 4>, i32 9, i32 %i
  %less = icmp slt <4 x i32> %v, splat (i32 4)
  %bits = bitcast <4 x i1> %less to i4
  %w0 = zext i4 %bits to i64
  store i64 %w0, ptr %out
  %chosen = select <4 x i1> %less, <4 x i32> %v, <4 x i32> splat (i32 100)
  %sum = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %chosen)
  %w1 = zext i32 %sum to i64
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %w1, ptr %p1
  %three = shufflevector <4 x i32> %v, <4 x i32> poison, <3 x i32> <i32 3, i32 1, i32 0>
  %p2 = getelementptr i64, ptr %out, i64 2
  store <3 x i32> %three, ptr %p2
  %ps = getelementptr i64, ptr %out, <2 x i64> <i64 4, i64 5>
  %q = extractelement <2 x ptr> %ps, i32 1
  %mask = icmp ne <8 x i8> <i8 1, i8 0, i8 1, i8 0, i8 0, i8 0, i8 0, i8 1>, zeroinitializer
  store <8 x i1> %mask, ptr %q
  ret void
}

%S = type { i64, [3 x i32] }

define internal i64 @by_value(ptr byval(%S) align 8 %s, i32 %i) noinline {
  %at = getelementptr %S, ptr %s, i32 0, i32 1, i32 %i
  %x = load i32, ptr %at
  store i32 0, ptr %at
  %x64 = zext i32 %x to i64
  ret i64 %x64
}

; 17: structs by value: written by the callee, as they were for the caller.
define ptx_kernel void @by_value_kernel(ptr %out) {
  %s = alloca %S, align 8
  %at = getelementptr %S, ptr %s, i32 0, i32 1, i32 2
  store i32 19, ptr %at
  %a = call i64 @by_value(ptr byval(%S) align 8 %s, i32 2)
  %b = call i64 @by_value(ptr byval(%S) align 8 %s, i32 2)
  %r = add i64 %a, %b
  store i64 %r, ptr %out
  ret void
}

; 18: a product and a sum that may become one operation do: 2^-46 is left of what would be 0.
define ptx_kernel void @contract(ptr %out) {
  %zero = load i64, ptr %out
  %z = sitofp i64 %zero to float
  %a = fadd float %z, 0x3FF0000020000000
  %m = fmul contract float %a, %a
  %s = fsub contract float %m, 0x3FF0000040000000
  %bits = bitcast float %s to i32
  %w0 = zext i32 %bits to i64
  store i64 %w0, ptr %out
  ret void
}

; 19: switches of narrow and wide integers.
define ptx_kernel void @switches(ptr %out) {
  %zero = load i64, ptr %out
  %t = trunc i64 %zero to i1
  switch i1 %t, label %no [ i1 false, label %yes ]
no:
  ret void
yes:
  %o = add i64 %zero, -2
  switch i64 %o, label %no [ i64 -2, label %found
                             i64 9223372036854775807, label %no ]
found:
  store i64 23, ptr %out
  ret void
}

; 20: inline assembly with several results, a tied operand and registers of its own.
define ptx_kernel void @assembly(ptr %out) {
  %r = call { i32, i32 } asm "{ .reg .b32 t; add.u32 t, $2, $3; mul.lo.u32 $0, t, 2; sub.u32 $1, t, $2; }", "=&r,=&r,r,0"(i32 5, i32 7)
  %a = extractvalue { i32, i32 } %r, 0
  %b = extractvalue { i32, i32 } %r, 1
  %a64 = zext i32 %a to i64
  store i64 %a64, ptr %out
  %b64 = zext i32 %b to i64
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %b64, ptr %p1
  call void asm sideeffect "st.global.u64 [assembled], $0;", "l,~{memory}"(i64 31)
  %c = call i64 asm sideeffect "ld.global.u64 $0, [assembled];", "=l,~{memory}"()
  %p2 = getelementptr i64, ptr %out, i64 2
  store i64 %c, ptr %p2
  ret void
}

; 21: linkage: what may be dropped and replaced, and constructors.
define linkonce_odr i64 @replaceable() noinline {
  ret i64 25
}
@other_name = alias i64 (), ptr @replaceable

define ptx_kernel void @linkage(ptr %out) {
  %r = call i64 @other_name()
  store i64 %r, ptr %out
  %c = load i64, ptr @constructed
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %c, ptr %p1
  ret void
}

; 22: attributes that matter.
define ptx_kernel void @attributes(ptr align 16 %out, ptr noalias readonly align 16 %in) #0 {
  %x = load <2 x i64>, ptr %in, align 16
  store <2 x i64> %x, ptr %out, align 16
  ret void
}

; 23: metadata of loads and loops.
define ptx_kernel void @metadata(ptr %out) {
  %first = load i64, ptr %out, !range !0, !noundef !1
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i64 [ %first, %0 ], [ %more, %loop ]
  %more = add i64 %sum, %i
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 5
  br i1 %done, label %end, label %loop, !llvm.loop !2
end:
  store i64 %more, ptr %out
  ret void
}

; 24: arguments without declared types.
define internal i64 @sum(i32 %n, ...) noinline {
  %list = alloca ptr, align 8
  call void @llvm.va_start.p0(ptr %list)
  %a = va_arg ptr %list, i32
  %b = va_arg ptr %list, i64
  %c = va_arg ptr %list, double
  call void @llvm.va_end.p0(ptr %list)
  %a64 = zext i32 %a to i64
  %c64 = fptosi double %c to i64
  %ab = add i64 %a64, %b
  %abc = add i64 %ab, %c64
  ret i64 %abc
}

define ptx_kernel void @variable_arguments(ptr %out) {
  %r = call i64 (i32, ...) @sum(i32 3, i32 1, i64 20, double 300.0)
  store i64 %r, ptr %out
  ret void
}

; 26: remainders of floats; addresses of blocks.
define ptx_kernel void @remainders(ptr %out) {
  %zero = load i64, ptr %out
  %z = sitofp i64 %zero to double
  %a = fadd double %z, 7.5
  %r = frem double %a, 2.0
  %bits = bitcast double %r to i64
  store i64 %bits, ptr %out
  indirectbr ptr blockaddress(@remainders, %here), [label %here]
here:
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 3, ptr %p1
  ret void
}

define internal void @last(ptr %out) noinline {
  store i64 17, ptr %out
  ret void
}

define internal void @before_last(ptr %out) noinline {
  musttail call void @last(ptr %out)
  ret void
}

; 26: a call that must be the last is a call; memory of the stack that is given back early is given back at the end.
define ptx_kernel void @last_calls(ptr %out) {
  %stack = call ptr @llvm.stacksave.p0()
  %x = alloca ptr, align 8
  store ptr %out, ptr %x
  %p = load ptr, ptr %x
  call void @before_last(ptr %p)
  call void @llvm.stackrestore.p0(ptr %stack)
  ret void
}

; 27: what says something to an optimiser only.
define ptx_kernel void @hints(ptr %out) {
  %x = alloca i64, align 8
  call void @llvm.lifetime.start.p0(ptr %x)
  store i64 8, ptr %x
  %zero = load i64, ptr %out
  %is = icmp eq i64 %zero, 0
  call void @llvm.assume(i1 %is)
  call void @llvm.donothing()
  %e = call i64 @llvm.expect.i64(i64 %zero, i64 1)
  %k = call i1 @llvm.is.constant.i64(i64 %zero)
  %v = load i64, ptr %x
  %k64 = zext i1 %k to i64
  %r = add i64 %v, %k64
  %r2 = add i64 %r, %e
  call void @llvm.lifetime.end.p0(ptr %x)
  store i64 %r2, ptr %out
  ret void
}

; 28: intrinsics of NVPTX that are no single instruction.
define ptx_kernel void @nvvm(ptr %out) {
  %d = call double @llvm.nvvm.lohi.i2d(i32 0, i32 1073741824)
  %bits = bitcast double %d to i64
  store i64 %bits, ptr %out
  %hi = call i32 @llvm.nvvm.d2i.hi(double %d)
  %h64 = zext i32 %hi to i64
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %h64, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %s = call { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32 1, i32 33, i32 0, i32 31)
  %v = extractvalue { i32, i1 } %s, 0
  %ok = extractvalue { i32, i1 } %s, 1
  %v64 = zext i32 %v to i64
  %ok64 = zext i1 %ok to i64
  %both = add i64 %v64, %ok64
  %p2 = getelementptr i64, ptr %out, i64 2
  store i64 %both, ptr %p2
  %vote = call i1 @llvm.nvvm.vote.any.sync(i32 1, i1 true)
  %vote64 = zext i1 %vote to i64
  %p3 = getelementptr i64, ptr %out, i64 3
  store i64 %vote64, ptr %p3
  ret void
}

; 29: what may be assumed and need not, and what a GPU has no answer for.
define ptx_kernel void @assumptions(ptr %out) {
  call void @llvm.assume(i1 true) [ "align"(ptr %out, i64 8), "nonnull"(ptr %out) ]
  call void @llvm.var.annotation.p0.p0(ptr %out, ptr @text, ptr @text, i32 1, ptr null)
  %caller = call ptr @llvm.returnaddress(i32 0)
  %frame = call ptr @llvm.frameaddress.p0(i32 0)
  %caller64 = ptrtoint ptr %caller to i64
  %frame64 = ptrtoint ptr %frame to i64
  %nowhere = or i64 %caller64, %frame64
  store i64 %nowhere, ptr %out
  %rounding = call i32 @llvm.get.rounding()
  %is = call i1 @llvm.public.type.test(ptr %out, metadata !"type")
  %is32 = zext i1 %is to i32
  %both = add i32 %rounding, %is32
  %both64 = zext i32 %both to i64
  %1 = getelementptr i64, ptr %out, i64 1
  store i64 %both64, ptr %1
  %table = alloca [2 x i32], align 4
  %entry = getelementptr i32, ptr %table, i64 1
  store i32 4, ptr %entry
  %second = call ptr @llvm.load.relative.i64(ptr %table, i64 4)
  %four = load i32, ptr %second
  %four64 = zext i32 %four to i64
  %2 = getelementptr i64, ptr %out, i64 2
  store i64 %four64, ptr %2
  ret void
}

; 30: vectors of several, an element of each in turn, and back.
define ptx_kernel void @turns(ptr %out) {
  %x = insertelement <2 x i8> <i8 1, i8 2>, i8 1, i32 0
  %v = call <6 x i8> @llvm.vector.interleave3.v6i8(<2 x i8> %x, <2 x i8> <i8 3, i8 4>, <2 x i8> <i8 5, i8 6>)
  %long = shufflevector <6 x i8> %v, <6 x i8> zeroinitializer, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  store <8 x i8> %long, ptr %out, align 8
  %parts = call { <2 x i8>, <2 x i8>, <2 x i8> } @llvm.vector.deinterleave3.v6i8(<6 x i8> %v)
  %third = extractvalue { <2 x i8>, <2 x i8>, <2 x i8> } %parts, 2
  %bits = bitcast <2 x i8> %third to i16
  %bits64 = zext i16 %bits to i64
  %1 = getelementptr i64, ptr %out, i64 1
  store i64 %bits64, ptr %1
  ret void
}

; 31: atomic changes of vectors.
define ptx_kernel void @atomic_vectors(ptr %out) {
  %old = atomicrmw fadd ptr %out, <2 x half> <half 1.0, half -2.0> seq_cst
  %next = atomicrmw fmax ptr %out, <2 x half> <half 3.0, half -4.0> syncscope("block") monotonic
  %1 = getelementptr i64, ptr %out, i64 1
  store <2 x half> %next, ptr %1
  %2 = getelementptr i64, ptr %out, i64 2
  %f = atomicrmw fsub ptr %2, <2 x float> <float 1.0, float 0.0> acq_rel
  %mine = alloca <2 x half>
  store <2 x half> <half 2.0, half 5.0>, ptr %mine
  %own = atomicrmw fmin ptr %mine, <2 x half> <half 4.0, half 4.0> monotonic
  %left = load <2 x half>, ptr %mine
  %3 = getelementptr i64, ptr %out, i64 3
  store <2 x half> %left, ptr %3
  ret void
}

; 32: conditions as parameters, as `bool` is in CUDA.
define ptx_kernel void @conditions(ptr %out, i1 zeroext %yes, i1 zeroext %no, <5 x i1> %bits) {
  %1 = select i1 %yes, i64 3, i64 4
  store i64 %1, ptr %out
  %2 = select i1 %no, i64 5, i64 6
  %at = getelementptr i64, ptr %out, i64 1
  store i64 %2, ptr %at
  %number = bitcast <5 x i1> %bits to i5
  %3 = zext i5 %number to i64
  %last = getelementptr i64, ptr %out, i64 2
  store i64 %3, ptr %last
  ret void
}

; 33: what C++ writes for classes: a function that is not defined, and what the run-time library knows types by.
define ptx_kernel void @classes(ptr %out) {
  %information = load ptr, ptr getelementptr inbounds (ptr, ptr @virtual_functions, i64 1)
  %name = getelementptr ptr, ptr %information, i64 1
  %text = load ptr, ptr %name
  %letter = load i8, ptr %text
  %1 = zext i8 %letter to i64
  store i64 %1, ptr %out
  %function = load ptr, ptr getelementptr inbounds (ptr, ptr @virtual_functions, i64 3)
  %2 = call i64 %function(i64 8)
  %next = getelementptr i64, ptr %out, i64 1
  store i64 %2, ptr %next
  %pure = load ptr, ptr getelementptr inbounds (ptr, ptr @virtual_functions, i64 2)
  %is = icmp eq ptr %pure, @__cxa_pure_virtual
  %3 = zext i1 %is to i64
  %last = getelementptr i64, ptr %out, i64 2
  store i64 %3, ptr %last
  ret void
}

; 34: comments, directives, numbers of texts and scopes in assembly.
define ptx_kernel void @assembly_texts(ptr %out) {
  %a = call i32 asm "// first\0A\09.pragma \22nounroll\22; add.u32 $0, $1, 1 /* and */ // last", "=r,r"(i32 4)
  %1 = zext i32 %a to i64
  store i64 %1, ptr %out
  %b = call i32 asm "{ .reg .u32 i; .reg .pred q; mov.u32 i, 0; mov.u32 $0, 0; L${:uid}: add.u32 $0, $0, 3; add.u32 i, i, 1; setp.lt.u32 q, i, 4; @q bra L${:uid}; } { .reg .f32 i; .reg .pred q; mov.f32 i, 0f00000000; L${:uid}: add.f32 i, i, 0f3F800000; setp.lt.f32 q, i, 0f40A00000; @q bra L${:uid}; { .reg .u32 i; mov.u32 i, 100; add.u32 $0, $0, i; } { .reg .u32 n; cvt.rzi.u32.f32 n, i; add.u32 $0, $0, n; } }", "=&r"()
  %2 = zext i32 %b to i64
  %next = getelementptr i64, ptr %out, i64 1
  store i64 %2, ptr %next
  ret void
}

; 35: numbers with a fixed point, and products of polynomials.
declare i32 @llvm.smul.fix.i32(i32, i32, i32 immarg)
declare i32 @llvm.umul.fix.i32(i32, i32, i32 immarg)
declare i8 @llvm.smul.fix.sat.i8(i8, i8, i32 immarg)
declare i64 @llvm.sdiv.fix.i64(i64, i64, i32 immarg)
declare i16 @llvm.sdiv.fix.sat.i16(i16, i16, i32 immarg)
declare i16 @llvm.udiv.fix.sat.i16(i16, i16, i32 immarg)
declare <2 x i32> @llvm.udiv.fix.v2i32(<2 x i32>, <2 x i32>, i32 immarg)
declare i40 @llvm.clmul.i40(i40, i40)
define ptx_kernel void @fixed_point(ptr %out) {
  %zero = load i64, ptr %out
  %z = trunc i64 %zero to i32
  %z16 = trunc i64 %zero to i16
  %z8 = trunc i64 %zero to i8
  ; -1.75 * 1.5, rounded down
  %a = add i32 %z, -7
  %a1 = call i32 @llvm.smul.fix.i32(i32 %a, i32 6, i32 2)
  %a2 = sext i32 %a1 to i64
  store i64 %a2, ptr %out
  %b = add i32 %z, -1
  %b1 = call i32 @llvm.umul.fix.i32(i32 %b, i32 %b, i32 32)
  %c = add i8 %z8, -128
  %c1 = call i8 @llvm.smul.fix.sat.i8(i8 %c, i8 %c, i32 7)
  %b2 = zext i32 %b1 to i64
  %c2 = zext i8 %c1 to i64
  %c3 = shl i64 %c2, 32
  %bc = or i64 %b2, %c3
  %at1 = getelementptr i64, ptr %out, i64 1
  store i64 %bc, ptr %at1
  ; -1 / 3 with 31 bits, rounded down
  %d = sub i64 %zero, 2147483648
  %d1 = call i64 @llvm.sdiv.fix.i64(i64 %d, i64 6442450944, i32 31)
  %at2 = getelementptr i64, ptr %out, i64 2
  store i64 %d1, ptr %at2
  %e = add i16 %z16, -32768
  %e1 = call i16 @llvm.sdiv.fix.sat.i16(i16 %e, i16 -1, i32 15)
  %e2 = call i16 @llvm.udiv.fix.sat.i16(i16 %e, i16 5, i32 16)
  %e3 = zext i16 %e1 to i64
  %e4 = zext i16 %e2 to i64
  %e5 = shl i64 %e4, 16
  %e6 = or i64 %e3, %e5
  %at3 = getelementptr i64, ptr %out, i64 3
  store i64 %e6, ptr %at3
  %f = insertelement <2 x i32> <i32 7, i32 100>, i32 %z, i32 0
  %f1 = call <2 x i32> @llvm.udiv.fix.v2i32(<2 x i32> %f, <2 x i32> <i32 3, i32 7>, i32 4)
  %at4 = getelementptr i64, ptr %out, i64 4
  store <2 x i32> %f1, ptr %at4
  %g = trunc i64 %zero to i40
  %g1 = xor i40 %g, -1
  %g2 = call i40 @llvm.clmul.i40(i40 %g1, i40 -549755813885)
  %g3 = zext i40 %g2 to i64
  %at5 = getelementptr i64, ptr %out, i64 5
  store i64 %g3, ptr %at5
  ret void
}

; 36: vectors whose elements masks and numbers select.
declare <4 x i16> @llvm.vector.compress.v4i16(<4 x i16>, <4 x i1>, <4 x i16>)
declare i32 @llvm.experimental.cttz.elts.i32.v4i16(<4 x i16>, i1 immarg)
declare <8 x i1> @llvm.get.active.lane.mask.v8i1.i32(i32, i32)
declare i32 @llvm.experimental.get.vector.length.i64(i64, i32 immarg, i1 immarg)
declare i16 @llvm.experimental.vector.extract.last.active.v4i16(<4 x i16>, <4 x i1>, i16)
declare <4 x i1> @llvm.experimental.vector.match.v4i16.v2i16(<4 x i16>, <2 x i16>, <4 x i1>)
declare <2 x i32> @llvm.vector.partial.reduce.add.v2i32.v4i32(<2 x i32>, <4 x i32>)
declare <4 x i16> @llvm.vector.splice.left.v4i16(<4 x i16>, <4 x i16>, i32)
declare <4 x i16> @llvm.vector.splice.right.v4i16(<4 x i16>, <4 x i16>, i32)
define ptx_kernel void @lanes(ptr %out) {
  %zero = load i64, ptr %out
  %z = trunc i64 %zero to i16
  %v = insertelement <4 x i16> <i16 0, i16 0, i16 5, i16 6>, i16 %z, i32 0
  %m = icmp ne <4 x i16> %v, <i16 0, i16 1, i16 5, i16 0>
  %1 = call <4 x i16> @llvm.vector.compress.v4i16(<4 x i16> %v, <4 x i1> %m, <4 x i16> <i16 1, i16 2, i16 3, i16 4>)
  store <4 x i16> %1, ptr %out
  %2 = call i32 @llvm.experimental.cttz.elts.i32.v4i16(<4 x i16> %v, i1 false)
  %long = add i64 %zero, 1000
  %3 = call i32 @llvm.experimental.get.vector.length.i64(i64 %long, i32 8, i1 false)
  %4 = call i16 @llvm.experimental.vector.extract.last.active.v4i16(<4 x i16> %v, <4 x i1> %m, i16 9)
  %5 = zext i16 %4 to i32
  %6 = mul i32 %3, 100
  %7 = mul i32 %5, 10000
  %8 = add i32 %2, %6
  %9 = add i32 %8, %7
  %10 = zext i32 %9 to i64
  %at1 = getelementptr i64, ptr %out, i64 1
  store i64 %10, ptr %at1
  %base = trunc i64 %zero to i32
  %near = sub i32 %base, 3
  %11 = call <8 x i1> @llvm.get.active.lane.mask.v8i1.i32(i32 %near, i32 -1)
  %12 = bitcast <8 x i1> %11 to i8
  %13 = zext i8 %12 to i64
  %14 = call <4 x i1> @llvm.experimental.vector.match.v4i16.v2i16(<4 x i16> %v, <2 x i16> <i16 6, i16 0>, <4 x i1> <i1 1, i1 0, i1 1, i1 1>)
  %15 = bitcast <4 x i1> %14 to i4
  %16 = zext i4 %15 to i64
  %17 = shl i64 %16, 8
  %18 = or i64 %13, %17
  %at2 = getelementptr i64, ptr %out, i64 2
  store i64 %18, ptr %at2
  %wide = zext <4 x i16> %v to <4 x i32>
  %19 = call <2 x i32> @llvm.vector.partial.reduce.add.v2i32.v4i32(<2 x i32> <i32 10, i32 20>, <4 x i32> %wide)
  %at3 = getelementptr i64, ptr %out, i64 3
  store <2 x i32> %19, ptr %at3
  %20 = call <4 x i16> @llvm.vector.splice.left.v4i16(<4 x i16> %v, <4 x i16> <i16 7, i16 8, i16 9, i16 10>, i32 3)
  %at4 = getelementptr i64, ptr %out, i64 4
  store <4 x i16> %20, ptr %at4
  %21 = call <4 x i16> @llvm.vector.splice.right.v4i16(<4 x i16> %v, <4 x i16> <i16 7, i16 8, i16 9, i16 10>, i32 1)
  %at5 = getelementptr i64, ptr %out, i64 5
  store <4 x i16> %21, ptr %at5
  ret void
}

; Registers of 16 bits, vectors in registers, pointers in their own spaces, plain accesses that a guard may leave out.

@line_of_assembly = internal addrspace(3) global [8 x i32] undef, align 16

define ptx_kernel void @assembly_operands(ptr %out) {
  %halves = call { <2 x half>, <2 x half>, i16 } asm "mov.b32 $0, $3; mov.b32 $1, $4; mov.b16 $2, $5;", "=r,=r,=c,r,r,c"(<2 x half> <half 1.0, half 2.0>, <4 x i8> <i8 1, i8 2, i8 3, i8 4>, i16 -2)
  %first = extractvalue { <2 x half>, <2 x half>, i16 } %halves, 0
  %word = bitcast <2 x half> %first to i32
  %wide = zext i32 %word to i64
  store i64 %wide, ptr %out
  %second = extractvalue { <2 x half>, <2 x half>, i16 } %halves, 1
  %bytes = bitcast <2 x half> %second to i32
  %third = extractvalue { <2 x half>, <2 x half>, i16 } %halves, 2
  %low = zext i32 %bytes to i64
  %high = zext i16 %third to i64
  %moved = shl i64 %high, 32
  %both = or i64 %low, %moved
  %out1 = getelementptr i64, ptr %out, i64 1
  store i64 %both, ptr %out1
  call void asm sideeffect "st.shared.v4.b32 [$0 + 16], { $1, $2, $3, $4 };", "r,r,r,r,r"(ptr addrspace(3) @line_of_assembly, i32 10, i32 -11, i32 12, i32 13)
  call void asm sideeffect "st.shared::cta.b8 [$0], $1; st.weak.shared.u16 [$0 + 2], $2;", "l,r,h"(ptr addrspace(3) @line_of_assembly, i32 257, i16 513)
  %loaded = call { i32, i32, float, i32 } asm sideeffect "ld.shared.v2.b32 { $0, $1 }, [$4 + 16]; ld.shared.f32 $2, [$4 + 24]; ld.shared.s8 $3, [$4 + 20];", "=r,=r,=f,=r,l"(ptr addrspace(3) @line_of_assembly)
  %l0 = extractvalue { i32, i32, float, i32 } %loaded, 0
  %l1 = extractvalue { i32, i32, float, i32 } %loaded, 1
  %l2 = extractvalue { i32, i32, float, i32 } %loaded, 2
  %l3 = extractvalue { i32, i32, float, i32 } %loaded, 3
  %sum = add i32 %l0, %l1
  %l2bits = bitcast float %l2 to i32
  %sum2 = add i32 %sum, %l2bits
  %sum3 = mul i32 %l3, 100
  %sum4 = add i32 %sum2, %sum3
  %sum5 = sext i32 %sum4 to i64
  %out2 = getelementptr i64, ptr %out, i64 2
  store i64 %sum5, ptr %out2
  %near = load i32, ptr addrspace(3) @line_of_assembly, align 4
  %kept = and i32 %near, -65281
  %near64 = zext i32 %kept to i64
  %out3 = getelementptr i64, ptr %out, i64 3
  store i64 %near64, ptr %out3
  %global = addrspacecast ptr %out to ptr addrspace(1)
  %never = call i32 asm sideeffect "mov.u32 $0, 0x7; @$2 ld.global.b32 { $0 }, [ $1 + 4 ];", "=r,l,b"(ptr addrspace(1) %global, i1 false)
  %some = call i64 asm sideeffect "mov.u64 $0, 0x7; @$2 ld.global.b64 { $0 }, [ $1 + 0 ];", "=l,l,b"(ptr addrspace(1) %global, i1 true)
  %never64 = zext i32 %never to i64
  %found = add i64 %never64, %some
  call void asm sideeffect "@$2 st.global.b64 [ $0 + 32 ], { $1 };", "l,l,b"(ptr addrspace(1) %global, i64 %found, i1 true)
  call void asm sideeffect "@!$2 st.global.b64 [ $0 + 40 ], { $1 };", "l,N,b"(ptr addrspace(1) %global, i64 %found, i1 true)
  ret void
}

define ptx_kernel void @assembly_memory(ptr %out) {
  %cell = alloca i64, align 8
  store i64 5, ptr %cell
  %seven = load volatile i64, ptr %cell
  call void asm sideeffect "", "rm,m,*m,~{memory}"(float 1.0, i32 3, ptr elementtype(i64) %cell)
  call void asm sideeffect "{ .reg .u64 t; ld.u64 t, $0; add.u64 t, t, $1; mad.lo.u64 t, t, $2, $2; st.u64 $0, t; }", "=*m,li,lr"(ptr elementtype(i64) %cell, i64 7, i64 %seven)
  %cell2 = load i64, ptr %cell
  store i64 %cell2, ptr %out
  ret void
}

define ptx_kernel void @wide_sums(ptr %out) {
  %slots = alloca [2 x i256], align 32
  %second = getelementptr i256, ptr %slots, i64 1
  store volatile i256 2041694201525630780780247644590609268735, ptr %slots
  store volatile i256 6277101735386680763495507056286727952638980837032266301441, ptr %second
  %a = load volatile i256, ptr %slots
  %b = load volatile i256, ptr %second
  %sum = add i256 %a, %b
  %difference = sub i256 %a, %b
  store i256 %sum, ptr %out, align 8
  %out4 = getelementptr i64, ptr %out, i64 4
  store i256 %difference, ptr %out4, align 8
  %index = alloca i32
  store volatile i32 11, ptr %index
  %i = load volatile i32, ptr %index
  %element = extractelement <16 x i8> <i8 0, i8 3, i8 6, i8 9, i8 12, i8 15, i8 18, i8 21, i8 24, i8 27, i8 30, i8 33, i8 36, i8 39, i8 42, i8 45>, i32 %i
  %element64 = zext i8 %element to i64
  %lowest = load i64, ptr %out
  %both = or i64 %lowest, %element64
  store i64 %both, ptr %out
  ret void
}

; NVVM IR, where LLVM has a name for each mode.

declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare { i32, i1 } @llvm.nvvm.shfl.sync.i32(i32, i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.vote.sync(i32, i32, i1)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32(i32, i32)

define ptx_kernel void @nvvm_modes(ptr %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %s = call { i32, i1 } @llvm.nvvm.shfl.sync.i32(i32 1, i32 0, i32 77, i32 %lane, i32 31)
  %word = extractvalue { i32, i1 } %s, 0
  %wide = zext i32 %word to i64
  store i64 %wide, ptr %out
  %v = call { i32, i1 } @llvm.nvvm.vote.sync(i32 1, i32 3, i1 true)
  %ballot = extractvalue { i32, i1 } %v, 0
  %a = call { i32, i1 } @llvm.nvvm.vote.sync(i32 1, i32 0, i1 true)
  %all = extractvalue { i32, i1 } %a, 1
  %m = call { i32, i1 } @llvm.nvvm.match.all.sync.i32(i32 1, i32 5)
  %same = extractvalue { i32, i1 } %m, 1
  %both = and i1 %all, %same
  %bit = zext i1 %both to i32
  %sum = shl i32 %bit, 4
  %bits = or i32 %sum, %ballot
  %bits64 = zext i32 %bits to i64
  %next = getelementptr i64, ptr %out, i64 1
  store i64 %bits64, ptr %next
  ret void
}

attributes #0 = { "nvvm.maxntid"="64" "nvvm.minctasm"="2" }
!0 = !{i64 0, i64 10}
!1 = !{}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.disable"}

; Seven elements under each of the 128 masks; the words that come out are folded into one.
declare <7 x i8> @llvm.vector.compress.v7i8(<7 x i8>, <7 x i1>, <7 x i8>)
define ptx_kernel void @compressed(ptr %out) {
entry:
  br label %loop
loop:
  %mask = phi i7 [ 0, %entry ], [ %next, %loop ]
  %folded = phi i64 [ 0, %entry ], [ %sum, %loop ]
  %bits = bitcast i7 %mask to <7 x i1>
  %v = call <7 x i8> @llvm.vector.compress.v7i8(<7 x i8> <i8 1, i8 2, i8 3, i8 4, i8 5, i8 6, i8 7>, <7 x i1> %bits, <7 x i8> <i8 11, i8 12, i8 13, i8 14, i8 15, i8 16, i8 17>)
  %word = bitcast <7 x i8> %v to i56
  %wide = zext i56 %word to i64
  %times = mul i64 %folded, 1000003
  %sum = add i64 %times, %wide
  %next = add i7 %mask, 1
  %again = icmp ne i7 %next, 0
  br i1 %again, label %loop, label %end
end:
  store i64 %sum, ptr %out
  ret void
}

; The number of an address is that of the generic one, wherever its section puts the variable: null is none of them.
define ptx_kernel void @section_addresses(ptr %out) {
  %instruction = ptrtoint ptr @also_shared to i64
  %as_null = icmp eq i64 %instruction, 0
  %constant_is_null = icmp eq i64 ptrtoint (ptr @also_shared to i64), 0
  %null = or i1 %as_null, %constant_is_null
  %null64 = zext i1 %null to i64
  store i64 %null64, ptr %out
  %generic = getelementptr i8, ptr @also_shared, i64 4
  %apart = ptrtoint ptr %generic to i64
  %distance = sub i64 %apart, ptrtoint (ptr @also_shared to i64)
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %distance, ptr %p1
  %back = inttoptr i64 %apart to ptr
  store i32 12, ptr %back
  %read = load i32, ptr getelementptr (i8, ptr @also_shared, i64 4)
  %read64 = zext i32 %read to i64
  %p2 = getelementptr i64, ptr %out, i64 2
  store i64 %read64, ptr %p2
  %offset = ptrtoint ptr addrspace(3) @in_shared to i64
  %below = icmp ult i64 %offset, 4096
  %below64 = zext i1 %below to i64
  %p3 = getelementptr i64, ptr %out, i64 3
  store i64 %below64, ptr %p3
  ret void
}

declare void @llvm.lifetime.start.p0(ptr)

; The same through a variable that is written twice, read by two sums; a difference of what is read in another block too, and of what another pointer may
; have changed, is rounded twice.
define ptx_kernel void @contract_variables(ptr %out) {
  %p = alloca float
  %q = alloca float
  %keep = alloca ptr
  %zero = load i64, ptr %out
  %z = sitofp i64 %zero to float
  %a = fadd float %z, 0x3FF0000020000000
  call void @llvm.lifetime.start.p0(ptr %p)
  store float 2.0, ptr %p
  %m = fmul contract float %a, %a
  store float %m, ptr %p
  %m0 = load float, ptr %p
  %m1 = load float, ptr %p
  %s = fadd contract float %m0, 0xBFF0000040000000
  %t = fadd contract float 0xBFF0000040000000, %m1
  %u = fsub contract float %m1, 0x3FF0000040000000
  store ptr %q, ptr %keep
  store float %m, ptr %q
  %other = load ptr, ptr %keep
  store float 3.0, ptr %other
  %m2 = load float, ptr %q
  %v = fadd contract float %m2, 0xBFF0000040000000
  %b0 = bitcast float %s to i32
  %w0 = zext i32 %b0 to i64
  store i64 %w0, ptr %out
  %b1 = bitcast float %t to i32
  %w1 = zext i32 %b1 to i64
  %o1 = getelementptr i64, ptr %out, i64 1
  store i64 %w1, ptr %o1
  %b2 = bitcast float %u to i32
  %w2 = zext i32 %b2 to i64
  %o2 = getelementptr i64, ptr %out, i64 2
  store i64 %w2, ptr %o2
  %b3 = bitcast float %v to i32
  %w3 = zext i32 %b3 to i64
  %o3 = getelementptr i64, ptr %out, i64 3
  store i64 %w3, ptr %o3
  ret void
}

; Functions on blocks of memory of clang's headers for CUDA.
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal ptr @_ZL6memcpyPvPKvm(ptr %to, ptr %from, i64 %size) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  ret ptr %to
}

define internal ptr @_ZL6memsetPvim(ptr %to, i32 %byte, i64 %size) {
  %b = trunc i32 %byte to i8
  call void @llvm.memset.p0.i64(ptr %to, i8 %b, i64 %size, i1 false)
  ret ptr %to
}

define ptx_kernel void @block_functions(ptr %out) {
  %a = alloca [4 x i64]
  %b = alloca [4 x i64]
  %set = call ptr @_ZL6memsetPvim(ptr %a, i32 257, i64 16)
  %a2 = getelementptr i64, ptr %a, i64 2
  store i64 7, ptr %a2
  %copied = call ptr @_ZL6memcpyPvPKvm(ptr %b, ptr %a, i64 24)
  %b1 = getelementptr i64, ptr %copied, i64 1
  %x = load i64, ptr %b1
  %b2 = getelementptr i64, ptr %b, i64 2
  %y = load i64, ptr %b2
  store i64 %x, ptr %out
  %o1 = getelementptr i64, ptr %out, i64 1
  store i64 %y, ptr %o1
  ret void
}
