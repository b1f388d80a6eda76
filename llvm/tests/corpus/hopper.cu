// Assembly as CUDA's own libraries and compilers write it for sm_90a: tensor copies, accumulators, destinations that are not wanted, ends of threads.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
extern "C" __global__ void copies(void* map, int x, int y, unsigned s, unsigned bar, long pol) {
 asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"::"r"(s),"l"(map),"r"(x),"r"(y),"r"(bar):"memory");
 asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"::"l"(map),"r"(x),"r"(y),"r"(s):"memory");
 asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"::"r"(bar),"r"(1024):"memory");
 asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}"::"r"(bar),"r"(0):"memory");
 asm volatile("fence.proxy.async; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;");
 asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"::"r"(bar),"r"(1));
}
extern "C" __global__ void accumulate(float* d, unsigned long a, unsigned long b){ float f[4]; for(int i=0;i<4;i++) f[i]=d[i];
 asm volatile("wgmma.fence.sync.aligned;\n{ .reg .pred p; setp.ne.b32 p, %6, 0;\n wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;\n}\n wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;":"+f"(f[0]),"+f"(f[1]),"+f"(f[2]),"+f"(f[3]):"l"(a),"l"(b),"r"(1)); for(int i=0;i<4;i++) d[i]=f[i]; }
extern "C" __global__ void ended(int* p, long* q, float* f){ int x,y; unsigned long z; unsigned u; float g; short h;
 asm volatile("exit;"); 
}
extern "C" __global__ void mixed(int* p, unsigned long* q, float* f){ int x,y; unsigned long z; unsigned u; float g; unsigned short h;
 asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }":"=r"(u):"l"(p)); p[0]=u;
 asm volatile("ld.global.cg.v2.u32 {%0,%1}, [%2+8];":"=r"(x),"=r"(y):"l"(p)); p[1]=x+y;
 asm volatile("{ .reg .pred p; setp.eq.s32 p, %2, 0; @!p st.global.v4.b32 [%0+16], {%1,%1,0,%1}; }"::"l"(p),"r"(x),"r"(x));
 asm("mov.b64 {%0,%1}, %2;":"=r"(x),"=r"(y):"l"(q[0])); p[3]=x^y; asm("mov.b64 %0, {%1,%2};":"=l"(z):"r"(x),"r"(y)); q[1]=z;
 asm("lop3.b32 %0, %1, %2, %3, 0xEA;":"=r"(u):"r"(x),"r"(y),"r"(p[4])); p[5]=u; asm("prmt.b32 %0,%1,%2,0x5410;":"=r"(u):"r"(x),"r"(y)); p[6]=u;
 asm("fma.rn.f32 %0, %1, 0f3F800000, %2;":"=f"(g):"f"(f[0]),"f"(f[1])); f[2]=g; asm("cvt.rn.f16.f32 %0, %1;":"=h"(h):"f"(g)); ((unsigned short*)f)[9]=h;
 asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;":"=r"(u):"l"(p),"r"(x)); p[7]=u; asm volatile("red.global.add.u32 [%0], %1;"::"l"(p),"r"(3)); asm volatile("bar.sync 1, 64;"); asm volatile("membar.gl;"); asm volatile("griddepcontrol.wait;");
 asm volatile("mov.u32 %0, %%smid;":"=r"(u)); p[8]=u; asm volatile("mov.u64 %0, %%globaltimer;":"=l"(z)); q[2]=z; asm volatile("{ .reg .pred p, q; setp.lt.and.s32 p|q, %1, %2, 1; selp.s32 %0, 1, 2, p; @q add.s32 %0, %0, 5; }":"=r"(x):"r"(p[1]),"r"(p[2])); p[9]=x;
 asm volatile("{ .reg .b32 lo; .reg .b32 hi; add.cc.u32 lo, %2, %3; addc.u32 hi, %4, 0; mov.b64 %0, {lo, hi}; mov.u32 %1, hi; }":"=l"(z),"=r"(u):"r"(x),"r"(y),"r"(p[3])); q[3]=z+u;

}
