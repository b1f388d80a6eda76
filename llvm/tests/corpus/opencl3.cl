// What the work items of sub-groups and of groups compute together, and the spaces of generic pointers.
kernel void sub_groups(global int *in, global int *out) {
    int i = get_local_linear_id(), x = in[i];
    global int *o = out + i * 16;
    o[0] = get_sub_group_local_id(); o[1] = get_sub_group_size(); o[2] = get_max_sub_group_size(); o[3] = get_sub_group_id(); o[4] = get_num_sub_groups();
    o[5] = sub_group_reduce_add(x); o[6] = sub_group_reduce_min(x); o[7] = (int)sub_group_reduce_max((uint)x);
    o[8] = sub_group_scan_inclusive_add(x); o[9] = sub_group_scan_exclusive_add(x); o[10] = sub_group_scan_exclusive_max(x); o[11] = sub_group_scan_inclusive_min(x);
    o[12] = sub_group_all(x > -90); o[13] = sub_group_any(x == in[3]); o[14] = sub_group_broadcast(x, 5);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    o[15] = (int)(sub_group_reduce_add((long)x << 32) >> 32) + (int)sub_group_scan_inclusive_max((float)x) + (int)sub_group_reduce_min((double)x);
}
kernel void groups(global int *in, global int *out) {
    int i = get_local_linear_id(), x = in[i];
    global int *o = out + i * 16;
    o[0] = work_group_reduce_add(x); o[1] = work_group_reduce_min(x); o[2] = (int)work_group_reduce_max((uint)x);
    o[3] = work_group_scan_inclusive_add(x); o[4] = work_group_scan_exclusive_add(x); o[5] = work_group_scan_inclusive_max(x); o[6] = work_group_scan_exclusive_min(x);
    o[7] = work_group_all(x > -90); o[8] = work_group_any(x == in[3]); o[9] = work_group_all(x < 1000); o[10] = work_group_any(x == 1000);
    o[11] = work_group_broadcast(x, get_local_size(0) - 1, 1); o[12] = (int)(work_group_scan_inclusive_add((ulong)x << 32) >> 32);
    o[13] = (int)work_group_scan_exclusive_add((float)x); o[14] = (int)work_group_reduce_max((double)x);
    for (int n = 0; n < 3; n++) o[15] = work_group_reduce_add(x + n);
}
kernel void spaces(global int *out, local int *group, int which) {
    int own = 0;
    generic int *p = which == 0 ? (generic int *)out : which == 1 ? (generic int *)group : (generic int *)&own;
    out[0] = (to_global(p) != 0) + 2 * (to_local(p) != 0) + 4 * (to_private(p) != 0);
    *p = 0;
    if (which == 0) *to_global(p) = 17;
    if (which == 1) { *to_local(p) = 18; out[1] = *p; }
    if (which == 2) { *to_private(p) = 19; out[1] = own; }
}
kernel void tangents(global double *d, global float *f) { d[1] = tanpi(d[0]); f[1] = tanpi(f[0]); }
