// OpenCL's built-in functions, which the importer provides: `tests/opencl.rs` says what each kernel leaves.
kernel void work_items(global uint *out, local uint *l) {
    uint i = get_global_id(0) + get_global_id(1) * get_global_size(0), x = get_local_id(0) + get_local_id(1) * get_local_size(0);
    l[x] = i * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint dim = out[0] & 1, other = l[get_local_size(0) * get_local_size(1) - 1 - x];
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    out[1 + i] = other + 1000 * get_group_id(1) + 10000 * get_num_groups(0) + 100000 * get_work_dim() + get_global_offset(0) + 1000000 * get_local_size(dim) + get_local_id(7) + get_local_size(7) * 10000000;
}
kernel void integers(global int4 *a, global uchar *b, global long *c, global uint2 *d, global short *s) {
    int4 x = a[0], y = a[1], z = a[2];
    a[3] = clamp(x, y, max(y, z)); a[4] = max(x, y) ^ min(y, z); a[5] = convert_int4(abs_diff(x, y)); a[6] = mad24(x & 0xfff, y & 0xfff, z) + mul24(x & 0xff, y & 0xff); a[7] = rotate(x, y); a[8] = popcount(x) + 100 * clz(y); a[9] = mul_hi(x, y); a[10] = add_sat(x, y) ^ sub_sat(z, y); a[11] = hadd(x, y) ^ rhadd(y, z); a[12] = mad_sat(x, y, z); a[13] = select(x, y, z); a[14] = bitselect(x, y, z); a[15] = any(x) + 2 * all(y) + 4 * any(x & 1); a[16] = max(x, 3) ^ min(y, -3); a[17] = convert_int4_sat(d[1].xyxy); a[18] = as_int4(shuffle(x, (uint4)(3, 2, 1, 0))) ^ shuffle2(x, y, (uint4)(7, 0, 4, 3));
    b[3] = add_sat(b[0], b[1]); b[4] = clamp(b[0], b[1], (uchar)200); b[5] = mul_hi(b[0], b[1]); b[6] = convert_uchar_sat(c[0]); b[7] = convert_uchar_sat(300 - (int)b[0]); b[8] = rotate(b[0], (uchar)3); b[9] = hadd(b[0], b[1]); b[10] = mad_sat(b[0], b[1], b[2]); b[11] = abs_diff(b[0], b[1]); b[12] = popcount(b[0]) + clz((uchar)(b[1] >> 3)); b[13] = select(b[0], b[1], (uchar)(b[2] & 1));
    c[3] = abs(c[0]); c[4] = mad_hi(c[0], c[1], c[2]); c[5] = mul_hi((ulong)c[0], (ulong)c[1]); c[6] = convert_long(b[0]) - convert_long(s[0]); c[7] = mad_sat(c[0], c[1], c[2]); c[8] = rhadd(c[0], c[1]); c[9] = convert_long_sat(1e30f) ^ convert_int_rte(2.5f) ^ (convert_int_rtp(2.1f) << 8) ^ (convert_int_rtn(-2.1f) << 16) ^ convert_int(-2.9f);
    d[2] = upsample((ushort2)(b[0], 2), (ushort2)(3, 0xffff)); s[3] = upsample((char)-1, (uchar)5); s[4] = convert_short_sat((int)s[0] * s[1]); s[5] = add_sat(s[0], s[1]); s[6] = convert_short_sat(convert_ulong(s[2]) | 0xffff);
}
kernel void floats(global float *a, global float4 *b, global double *d, global int *n) {
    float4 x = b[0], y = b[1], z = b[2]; float whole; int e; float4 wholes; int4 es;
    b[3] = clamp(x, -1.0f, y); b[4] = clamp(x, y, y + 4.0f); b[5] = mix(x, y, 0.25f); b[6] = step(x, y) + 2.0f * smoothstep(x, x + 2.0f, y); b[7] = sign(x) + max(x, 0.5f) * min(y, z); b[8] = mad(x, y, z); b[9] = (float4)(cross(x.xyz, y.xyz), 0.0f) + cross(x, z); b[10] = fract(x, &wholes) + wholes * 16.0f; b[11] = frexp(y, &es) + convert_float4(es) * 16.0f; b[12] = modf(x, &wholes) - wholes; b[13] = ldexp(x, 3) + ldexp(y, (int4)(1, 2, 3, 4)); b[14] = select(x, y, isgreater(x, y)); b[15] = maxmag(x, y) - minmag(y, z); b[16] = fmax(x, 0.0f) + fmin(y, z) + fabs(x) + floor(y) * ceil(x) + trunc(z) - rint(x) - round(x); b[17] = pown(x, (int4)(2, 3, 1, 0)) + copysign(x, y) + fdim(x, y) + fmod(y, 2.0f); b[18] = vload4(1, a); vstore4(b[18] + 1.0f, 3, a); b[19].xyz = vload3(1, a); b[19].w = bitselect(1.0f, -2.0f, as_float(0x80000000));
    a[0] = dot(x, y); a[1] = length((float2)(3.0f, 4.0f) * x.x); a[2] = distance((float4)(1, 2, 3, 4), (float4)(2, 3, 4, 5)) + fast_length((float3)(2, 3, 6)); a[3] = normalize((float2)(3.0f, 4.0f)).x;
    vstore_half(x.y, 1, (global half *)(a + 20)); a[21] = vload_half(1, (global half *)(a + 20)); vstore_half4(x, 1, (global half *)(a + 22)); a[26] = dot(vload_half4(1, (global half *)(a + 22)), (float4)(1));
    d[2] = fmin(d[0], d[1]) + mix(d[0], d[1], 0.5) + sqrt(fabs(d[0])) + length((double3)(2, 3, 6)) + degrees(d[0]) - degrees(d[0]) + convert_double(n[0]) + fma(d[0], d[1], 1.0) + (double)convert_float(d[0]);
    n[1] = isnan(x.x) + 2 * isinf(1.0f / (x.x - x.x)) + 4 * isequal(x.x, x.x) + 8 * isless(x.x, y.x) + 16 * signbit(-x.x) + 32 * isfinite(x.y) + 64 * isordered(x.x, y.x) + 128 * isnormal(x.z); n[2] = ilogb(y.y); n[3] = any(isless(x, y)) + 2 * all(isless(x, y)) + 4 * isnotequal(x, y).z; n[4] = isnan(nan((uint)5)) + 2 * signbit(-nan(0u)); n[5] = as_int(nan((uint)5)) & 0xffff;
    n[6] = fabs(native_sin(x.x) - sin(x.x)) < 1e-5f; n[7] = fabs(native_divide(x.x, 3.0f) * 3.0f - x.x) < 1e-4f; n[8] = fabs(native_exp(1.0f) - exp(1.0f)) < 1e-4f && half_recip(4.0f) == 0.25f && fabs(native_rsqrt(4.0f) - 0.5f) < 1e-6f && native_sqrt(16.0f) == 4.0f && fabs(native_log2(8.0f) - 3.0f) < 1e-6f && fabs(native_powr(2.0f, 3.0f) - 8.0f) < 1e-4f; float c; float si = sincos(x.x, &c); n[9] = fabs(si * si + c * c - 1.0f) < 1e-6f && fabs(acospi(-1.0f) - 1.0f) < 1e-6f && fabs(radians(180.0f) - 3.1415927f) < 1e-6f;
}
kernel void atomics(global int *p, global uint *u, global float *f, local int *l, global long *q) {
    if (get_local_id(0) == 0) l[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(l); atomic_add(p, 3); atomic_sub(p + 1, 2); atomic_max(p + 2, (int)get_global_id(0) - 3); atomic_min(u, (uint)get_global_id(0) - 3u); atomic_or(p + 3, 1 << get_local_id(0)); atomic_xor(p + 4, 5); atomic_and(p + 5, ~(1 << get_local_id(0))); atom_add(p + 6, 4); atomic_dec(p + 7); atomic_cmpxchg(p + 8, 0, 9);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) { p[9] = l[0]; f[1] = atomic_xchg(f, 2.5f); }
    prefetch(f, 1);
}
kernel void prints(int x) { printf("%d and %s and %f\n", x, "text", 1.5f); }
kernel void special(global float *a, global double *d, global int *n) {
    for (int i = 0; i < 8; i++) { int q, s; a[8 + i] = remquo(a[i], 0.75f, &q); n[i] = q; a[16 + i] = rootn(a[i], 3); lgamma_r(a[i], &s); n[8 + i] = s; }
    float2 x = rootn((float2)(16.0f, -16.0f), (int2)(-4, 4)); a[24] = x.x; a[25] = x.y; a[26] = rootn(-0.0f, 3); a[27] = rootn(5.0f, 0); int2 q; float2 r = remquo((float2)(1e30f, -7.0f), (float2)(3.0f, 2.0f), &q); a[28] = r.x; a[29] = r.y; n[16] = q.x; n[17] = q.y;
    d[1] = rootn(d[0], 3); d[2] = rootn(d[0], -17); int e; d[3] = remquo(d[0], -0.1, &e); n[18] = e; d[4] = lgamma_r(-1.5, &e); n[19] = e;
}
kernel void copies(global float3 *g, local float3 *l, global short *s, local short *t, int count) {
    event_t event = async_work_group_copy(l, (const global float3 *)g, count, 0);
    event = async_work_group_strided_copy(t, (const global short *)s, count, 2, event);
    wait_group_events(1, &event);
    float3 x = l[count - 1 - get_local_id(0)]; short y = t[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    l[get_local_id(0)] = x + 1.0f; t[get_local_id(0)] = y + 100;
    barrier(CLK_LOCAL_MEM_FENCE);
    event = async_work_group_copy(g, (const local float3 *)l, count, 0);
    async_work_group_strided_copy(s + 1, (const local short *)t, count, 2, event);
    wait_group_events(1, &event);
}
