// Images: samplers from the launch and of the program, coordinates of both kinds, every geometry, queries, stores to channels of every type.
kernel void sampled_1d(read_only image1d_t image, sampler_t s, global const float *at, global float4 *out) { int i = get_global_id(0); out[i] = read_imagef(image, s, at[i * 3]); }
kernel void sampled_2d(read_only image2d_t image, sampler_t s, global const float *at, global float4 *out) { int i = get_global_id(0); out[i] = read_imagef(image, s, (float2)(at[i * 3], at[i * 3 + 1])); }
kernel void sampled_3d(read_only image3d_t image, sampler_t s, global const float *at, global float4 *out) { int i = get_global_id(0); out[i] = read_imagef(image, s, (float4)(at[i * 3], at[i * 3 + 1], at[i * 3 + 2], 0)); }
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void texels(read_only image1d_t a, read_only image1d_buffer_t b, read_only image1d_array_t c, read_only image2d_t d, read_only image2d_array_t e, read_only image3d_t f, global int4 *out, global uint4 *uout, global float4 *fout) {
    const sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    int i = get_global_id(0);
    out[i * 4] = read_imagei(a, edge, i - 1); out[i * 4 + 1] = read_imagei(b, i); out[i * 4 + 2] = read_imagei(c, border, (int2)(i - 1, i)); out[i * 4 + 3] = read_imagei(a, border, i - 0.75f);
    uout[i] = read_imageui(d, border, (int2)(i - 1, 1)); fout[i * 2] = read_imagef(e, edge, (float4)(i - 0.5f, 1.25f, i * 0.6f, 0)); fout[i * 2 + 1] = read_imagef(f, (int4)(i, 1, 1, 0));
}
kernel void queries(read_only image1d_array_t a, read_only image2d_t b, write_only image3d_t c, read_only image2d_array_t d, global int *out) {
    out[0] = get_image_width(a); out[1] = (int)get_image_array_size(a); out[2] = get_image_height(b); int2 two = get_image_dim(b); out[3] = two.x * 100 + two.y; int4 three = get_image_dim(c); out[4] = three.x; out[5] = three.y; out[6] = three.z; out[7] = three.w;
    out[8] = get_image_depth(c); out[9] = (int)get_image_array_size(d); out[10] = get_image_channel_data_type(b) == CLK_UNSIGNED_INT8; out[11] = get_image_channel_order(b) == CLK_RGBA; out[12] = get_image_channel_data_type(c) == CLK_FLOAT;
}
kernel void floats(write_only image1d_t image, global const float4 *from) { int i = get_global_id(0); write_imagef(image, i, from[i]); }
kernel void stores(write_only image2d_t a, write_only image2d_array_t b, write_only image3d_t c, write_only image1d_array_t d) {
    int i = get_global_id(0);
    write_imageui(a, (int2)(i, 1 - i), (uint4)(i, 2, 3, 4)); write_imagei(b, (int4)(i, 1, 1, 0), (int4)(-i, 70000, 5, 6)); write_imagef(c, (int4)(i, 0, 1, 0), (float4)(i, 0.5f, -1, 2)); write_imagei(d, (int2)(0, i), (int4)(i - 9));
}
// A blur as programs have it: rows of a picture, clamped at the edge.
kernel void blur(read_only image2d_t from, write_only image2d_t to) {
    int2 p = (int2)(get_global_id(0), get_global_id(1)); float4 sum = 0;
    for (int y = -1; y <= 1; y++) for (int x = -1; x <= 1; x++) sum += read_imagef(from, edge, p + (int2)(x, y));
    if (p.x < get_image_width(to) && p.y < get_image_height(to)) write_imagef(to, p, sum / 9.0f);
}
