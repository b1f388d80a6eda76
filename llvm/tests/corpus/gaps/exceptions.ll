; What handles exceptions, where nothing throws: values that `invoke` gives, in phis too; callees by address; what a handler alone reaches and PTX lacks.
target triple = "nvptx64-nvidia-cuda"
@_ZTIi = external constant ptr
@table = constant [2 x ptr] [ptr @twice, ptr @thrice]
declare i32 @__gxx_personality_v0(...)
declare void @missing(ptr)
declare void @__cxa_throw(ptr, ptr, ptr) noreturn
declare void @llvm.eh.return.i64(i64, ptr)
define internal i64 @twice(i64 %x) noinline {
  %r = shl i64 %x, 1
  ret i64 %r
}
define internal i64 @thrice(i64 %x) noinline {
  %r = mul i64 %x, 3
  ret i64 %r
}
define internal {i64, i32} @pair(i64 %x, ...) noinline {
  %a = insertvalue {i64, i32} poison, i64 %x, 0
  %b = insertvalue {i64, i32} %a, i32 5, 1
  ret {i64, i32} %b
}
define ptx_kernel void @unwinding(ptr %out) personality ptr @__gxx_personality_v0 {
entry:
  %first = invoke i64 @twice(i64 21) to label %merge unwind label %pad
other:
  %second = invoke fastcc i64 @thrice(i64 5) to label %merge unwind label %filters
merge:
  %value = phi i64 [ %first, %entry ], [ %second, %other ]
  %is_first = phi i1 [ true, %entry ], [ false, %other ]
  %index = select i1 %is_first, i64 0, i64 1
  %place = getelementptr i64, ptr %out, i64 %index
  store i64 %value, ptr %place
  br i1 %is_first, label %other, label %indirect
indirect:
  %entry_of = getelementptr [2 x ptr], ptr @table, i64 0, i64 %index
  %callee = load ptr, ptr %entry_of
  %third = invoke i64 %callee(i64 7) to label %next unwind label %pad
next:
  %out2 = getelementptr i64, ptr %out, i64 2
  store i64 %third, ptr %out2
  %both = invoke {i64, i32} (i64, ...) @pair(i64 9, i32 1) to label %last unwind label %pad
last:
  %a = extractvalue {i64, i32} %both, 0
  %b = extractvalue {i64, i32} %both, 1
  %wide = zext i32 %b to i64
  %sum = add i64 %a, %wide
  %out3 = getelementptr i64, ptr %out, i64 3
  store i64 %sum, ptr %out3
  %never = icmp ugt i64 %sum, 100
  br i1 %never, label %throws, label %done
throws:
  invoke void @__cxa_throw(ptr null, ptr @_ZTIi, ptr null) to label %unreached unwind label %pad
unreached:
  unreachable
done:
  ret void
pad:
  %caught = landingpad {ptr, i32} cleanup catch ptr @_ZTIi
  %exception = extractvalue {ptr, i32} %caught, 0
  call void @missing(ptr %exception)
  call void @llvm.eh.return.i64(i64 0, ptr %exception)
  resume {ptr, i32} %caught
filters:
  %filtered = landingpad {ptr, i32} filter [1 x ptr] [ptr @_ZTIi]
  resume {ptr, i32} %filtered
}
