// The atomic types of OpenCL 2, with pointers to generic, global and group memory.
kernel void objects(global atomic_int *i, global atomic_uint *u, global atomic_long *l, global atomic_float *f, local atomic_int *group, global atomic_flag *flag, global int *out) {
    if (get_local_id(0) == 0) atomic_init(group, 0);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add(i, 3); atomic_fetch_sub_explicit(i + 1, 2, memory_order_relaxed, memory_scope_device); atomic_fetch_max_explicit(i + 2, (int)get_local_id(0) - 3, memory_order_acq_rel, memory_scope_device);
    atomic_fetch_min(i + 3, -(int)get_local_id(0)); atomic_fetch_or(i + 4, 1 << get_local_id(0)); atomic_fetch_xor(i + 5, 5); atomic_fetch_and(i + 6, ~(1 << get_local_id(0)));
    atomic_fetch_max(u, (uint)get_local_id(0) - 4u); atomic_fetch_min_explicit(u + 1, (uint)get_local_id(0) + 2u, memory_order_relaxed);
    atomic_fetch_add_explicit(l, (long)1 << 32, memory_order_release, memory_scope_all_svm_devices); atomic_fetch_add_explicit(f, 0.5f, memory_order_relaxed, memory_scope_device); atomic_fetch_add_explicit(group, 1, memory_order_relaxed, memory_scope_work_group);
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        out[0] = atomic_load(group); int expected = 1; out[1] = atomic_compare_exchange_strong(group, &expected, 9); out[2] = expected; out[3] = atomic_compare_exchange_weak_explicit(group, &expected, 9, memory_order_acq_rel, memory_order_acquire, memory_scope_work_group); out[4] = expected;
        out[5] = atomic_load_explicit(group, memory_order_acquire, memory_scope_work_group); out[6] = atomic_exchange(group, 4); atomic_store_explicit(group, 6, memory_order_release, memory_scope_work_group); out[7] = atomic_load(group);
        out[8] = atomic_flag_test_and_set(flag); out[9] = atomic_flag_test_and_set_explicit(flag, memory_order_acquire); atomic_flag_clear(flag); out[10] = atomic_flag_test_and_set(flag);
        float half_ = 0.5f; out[11] = atomic_compare_exchange_strong(f + 1, &half_, 2.5f); atomic_store(f + 2, half_); out[12] = (int)atomic_exchange_explicit(f + 3, 7.0f, memory_order_seq_cst, memory_scope_device);
        generic atomic_int *any = out[13] ? (generic atomic_int *)group : (generic atomic_int *)(i + 7); out[14] = atomic_fetch_add_explicit(any, 1, (memory_order)out[15], memory_scope_device);
    }
}
