// Textures and surfaces.
extern "C" __global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float *out)
{
    out[0] = tex2D<float>(t, 0.5f, 0.5f) + tex1Dfetch<float>(t, 3) + tex3D<float>(t, .1f, .2f, .3f);
    out[1] = tex2DLod<float>(t, 1, 1, 1) + tex2DLayered<float>(t, 1, 1, 1) + texCubemap<float>(t, 1, 0, 0);
    float4 q = tex2Dgather<float4>(t, 1, 1, 0);
    out[2] = q.x + q.w;
    int4 g = tex2DGrad<int4>(t, 1, 2, make_float2(1, 2), make_float2(3, 4));
    out[3] = g.y + texCubemapLayered<float>(t, 1, 0, 0, 2) + tex1DLayered<float>(t, 1, 2);
    surf2Dwrite(1.0f, s, 4, 5);
    surf3Dwrite(make_int4(1, 2, 3, 4), s, 4, 5, 6, cudaBoundaryModeClamp);
    out[4] = surf2Dread<float>(s, 4, 4) + surf1Dread<short>(s, 4, cudaBoundaryModeZero);
    uchar4 c = surf2DLayeredread<uchar4>(s, 1, 2, 3);
    out[5] = c.x + c.y;
    unsigned w;
    asm("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(t));
    out[6] = w;
}
