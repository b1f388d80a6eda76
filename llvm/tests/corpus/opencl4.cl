// What those work items of a sub-group that make a call exchange, masks of them, and functions of small extensions.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void exchanges(global int *in, global int *out) {
    int i = get_local_linear_id(), x = in[i];
    global int *o = out + i * 32;
    o[0] = sub_group_shuffle(x, 3 * i & 7); o[1] = sub_group_shuffle_xor(x, 5); o[2] = get_sub_group_local_id() < 2 ? sub_group_shuffle(x, 1) : -1;
    int up = sub_group_shuffle_up(x, 2), down = sub_group_shuffle_down(x, 3);
    o[3] = get_sub_group_local_id() >= 2 ? up : 0; o[4] = get_sub_group_local_id() + 3 < get_sub_group_size() ? down : 0;
    o[5] = sub_group_rotate((short)x, 1); o[6] = sub_group_clustered_rotate(x, 3, 4); o[7] = sub_group_broadcast_first(x); o[8] = sub_group_non_uniform_broadcast(x, 6);
    o[9] = (int)sub_group_shuffle_xor((double)x, 1) + convert_int(sub_group_shuffle_xor(convert_half(x), 1)) + (int)(sub_group_shuffle_xor((long)x << 40, 1) >> 40) + sub_group_shuffle_xor((char)x, 1);
    // Half of them, and each third.
    if (i & 1) {
        uint4 who = sub_group_ballot(x > 0);
        o[10] = sub_group_elect(); o[11] = sub_group_non_uniform_all(x > -60); o[12] = sub_group_non_uniform_any(x == in[1]); o[13] = sub_group_non_uniform_all_equal(x) * 2 + sub_group_non_uniform_all_equal(in[1]);
        o[14] = who.x; o[15] = sub_group_inverse_ballot(who) + 2 * sub_group_ballot_bit_extract(who, 3); o[16] = sub_group_ballot_bit_count(who) + 100 * sub_group_ballot_inclusive_scan(who) + 10000 * sub_group_ballot_exclusive_scan(who);
        o[17] = who.x ? sub_group_ballot_find_lsb(who) + 100 * sub_group_ballot_find_msb(who) : 0; o[18] = who.y | who.z | who.w;
    }
    if (i % 3 == 0) {
        o[19] = sub_group_non_uniform_reduce_add(x); o[20] = sub_group_non_uniform_scan_inclusive_max(x); o[21] = sub_group_non_uniform_scan_exclusive_mul(x | 1); o[22] = (int)sub_group_non_uniform_reduce_min((float)x);
        o[23] = sub_group_non_uniform_reduce_xor(x) + sub_group_non_uniform_scan_exclusive_and((uchar)x); o[24] = sub_group_non_uniform_reduce_logical_and(x & 1) + 2 * sub_group_non_uniform_scan_exclusive_logical_and(x & 2) + 4 * sub_group_non_uniform_reduce_logical_xor(x & 1);
        o[25] = sub_group_clustered_reduce_add(x, 8); o[26] = sub_group_clustered_reduce_or(x, 4u) + (int)sub_group_clustered_reduce_max((double)x, 16);
    }
    o[27] = get_sub_group_eq_mask().x ^ get_sub_group_lt_mask().x; o[28] = get_sub_group_ge_mask().x ^ get_sub_group_gt_mask().x; o[29] = get_sub_group_le_mask().x;
    int4 v = sub_group_broadcast((int4)(x, -x, x + 1, 7), 2); o[30] = v.x + 3 * v.y + 5 * v.z + v.w;
}
// Intel's, which take values of two sub-groups.
int __attribute__((overloadable)) intel_sub_group_shuffle_up(int, int, uint); int __attribute__((overloadable)) intel_sub_group_shuffle_down(int, int, uint); float2 __attribute__((overloadable)) intel_sub_group_shuffle_xor(float2, uint); short __attribute__((overloadable)) intel_sub_group_shuffle(short, uint);
kernel void pairs(global int *in, global int *out) {
    int i = get_local_linear_id(), x = in[i];
    global int *o = out + i * 4;
    o[0] = intel_sub_group_shuffle_up(-i, x, 5); o[1] = intel_sub_group_shuffle_down(x, -i, 5); float2 f = intel_sub_group_shuffle_xor((float2)(x, i), 3); o[2] = (int)f.x * 1000 + (int)f.y; o[3] = intel_sub_group_shuffle((short)x, 31 - i & 31);
}
int __attribute__((overloadable)) work_group_reduce_mul(int); int __attribute__((overloadable)) work_group_scan_inclusive_xor(int); int __attribute__((overloadable)) work_group_reduce_logical_or(int);
kernel void more_of_groups(global int *in, global int *out) { int i = get_local_linear_id(), x = in[i]; out[i * 4] = work_group_reduce_mul(x | 1); out[i * 4 + 1] = work_group_scan_inclusive_xor(x); out[i * 4 + 2] = work_group_reduce_logical_or(x == in[1]); }
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void small(global uint *u, global int *s, global float *f, global half *h, global double *d) {
    u[4] = dot((uchar4)(1, 255, 3, 200), (uchar4)(255, 255, 2, 9)); s[0] = dot((char4)(1, -128, 3, 100), (char4)(-1, -128, 2, -9)); s[1] = dot((uchar4)(200, 1, 2, 3), (char4)(-100, 1, 1, 1)); u[5] = dot_acc_sat((uchar4)(255), (uchar4)(255), 0xffffff00u);
    s[2] = dot_acc_sat((char4)(100), (char4)(100), 0x7ffffff0); s[3] = dot_4x8packed_ss_int(u[0], u[1]); u[6] = dot_4x8packed_uu_uint(u[0], u[1]); s[4] = dot_4x8packed_su_int(u[0], u[1]); s[5] = dot_acc_sat_4x8packed_us_int(u[0], u[1], -5);
    u[7] = bit_reverse(u[0]); u[8] = bitfield_insert(u[0], u[1], 5, 9); u[9] = bitfield_extract_unsigned(u[0], 7, 13); s[6] = bitfield_extract_signed(u[0], 4, 12); s[7] = bitfield_extract_signed((int)u[1], 3, 32 - 3); s[8] = bitfield_insert((int)u[0], -1, 3, 0) ^ bitfield_insert(s[0], s[1], 0, 32);
    s[9] = bitfield_extract_signed((short)u[0], 2, 0) + bit_reverse((uchar)u[0]); ulong2 l = bitfield_insert((ulong2)(u[0], ~0ul), (ulong2)(5, 0), 60, 3); u[10] = l.x >> 32; u[11] = l.y >> 32;
    vstore_half4_rtz((float4)(1.0006f, -1.0006f, 65519.0f, 1e-9f), 0, h); vstore_half_rtp(1.0001f, 4, h); vstore_half_rtn(-1.0001, 5, h); vstore_half_rtp(1e-9f, 6, h); vstore_half_rte(1.0006f, 7, h);
    f[0] = convert_float_rtz(0x1ffffff); f[1] = convert_float_rtp(0x1000001u); f[2] = convert_float_rtn(-0x1000001); f[3] = convert_float_rtz(1.0 / 3); f[4] = convert_float_rtp((char)-7); f[5] = convert_float_rte(0x1000001ul); d[0] = convert_double_rtz(0x7fffffffffffffffl); d[1] = convert_double_rtn((uint)3); f[6] = convert_float(convert_half_rtz(2049.9f));
    s[10] = get_fence((generic int *)s) == CLK_GLOBAL_MEM_FENCE;
}
kernel void prints(global float *f) { printf("%.1v4f|%v2d|%v3hhu|%d %s %v2hlx|%v2lu|%v2f\n", vload4(0, f), (int2)(-1, 2), (uchar3)(1, 250, 3), 5, "s", (uint2)(255, 16), (ulong2)(1, 1ul << 40), (double2)(0.5, -2)); }
constant float taps[3] = {0.25f, 0.5f, 0.25f}; constant struct { int of; constant float *at; } table[2] = {{3, taps}, {2, taps + 1}};
float __attribute__((noinline)) weighted(constant float *w, int n, global const float *x) { float sum = 0; for (int i = 0; i < n; i++) sum += w[i] * x[i]; return sum; }
kernel void filters(constant float *w, constant int *n, global const float *x, global float *y) { int i = get_global_id(0); constant float *p = i & 1 ? w : table[i >> 1 & 1].at; y[i] = weighted(p, i & 1 ? *n : table[i >> 1 & 1].of, x + i); }
