// What C++ programmers write: virtual functions, members by pointer, templates, lambdas, destructors, memory.
#include "kernel.h"
#undef KERNEL
#ifdef __NVPTX__
#define KERNEL extern "C" __attribute__((nvptx_kernel))
#else
#define KERNEL extern "C"
#endif
using size_t=decltype(sizeof 0);
inline void*operator new(size_t,void*p)noexcept{return p;}
// Virtual functions, of several bases and of virtual ones.
struct Shape{virtual ~Shape(){}virtual int area()const=0;virtual int kind()const{return 0;}int id=3;};
struct Sq:Shape{int s;Sq(int s):s(s){}int area()const override{return s*s;}};
struct Rect:Shape{int a,b;Rect(int a,int b):a(a),b(b){}int area()const override{return a*b;}int kind()const override{return 2;}};
struct Log{static inline u64 h=0;virtual ~Log(){h=h*7+1;}virtual void note(int x){h=h*31+x;}};
struct Both:Rect,Log{Both(int a):Rect(a,a+1){}~Both(){h=h*3+5;}void note(int x)override{h+=x*area();}int area()const override{return Rect::area()+1;}};
struct VA{int v;VA(int v):v(v){}virtual int get(){return v;}};struct VB:virtual VA{VB():VA(1){}int b=10;int get()override{return v+b;}};struct VC:virtual VA{VC():VA(2){}int c=20;virtual int cc(){return c+v;}};struct VD:VB,VC{VD(int x):VA(x){}int get()override{return VB::get()*2;}int cc()override{return VC::cc()+b;}};
NOINLINE static int call(const Shape*s){return s->area()*10+s->kind()+s->id*1000;}
KERNEL void virtuals(u64*p){Log::h=0;Sq a(p[0]%10);Rect b(p[1]%10,3);{Both c(p[2]%7);Shape*s[]={&a,&b,&c};int k=8;for(auto x:s)p[k++]=call(x);Log*l=&c;l->note(4);p[k++]=l->h;p[20]=static_cast<Both*>(l)==&c;p[21]=(char*)l-(char*)&c;}p[22]=Log::h;VD d(p[3]%100);VB*vb=&d;VC*vc=&d;VA*va=&d;p[23]=vb->get();p[24]=vc->cc();p[25]=va->get();p[26]=d.v+vb->v+vc->v;p[27]=sizeof(VD);Shape*h=new Rect(4,5);p[28]=call(h);delete h;Log*l2=new Both(2);delete l2;p[29]=Log::h;Sq*arr=new Sq[3]{1,2,3};p[30]=arr[0].area()+arr[1].area()+arr[2].area();delete[]arr;}
// Pointers to members.
struct M{int a,b;int f(int x){return a+x;}int g(int x){return b*x;}virtual int h(int x){return a-x;}};struct N:M{int h(int x)override{return b-x;}};
KERNEL void members(u64*p){N m;m.a=p[0]%100;m.b=p[1]%100;int M::*d[]={&M::a,&M::b};int(M::*f[])(int)={&M::f,&M::g,&M::h};for(int i=0;i<3;i++)p[8+i]=(m.*f[(i+p[2])%3])(5);p[11]=m.*d[p[3]&1];M*q=&m;p[12]=(q->*f[p[0]%3])(3);int M::*nul=nullptr;p[13]=nul==nullptr;p[14]=f[0]==f[1];int(N::*ng)(int)=f[2];p[15]=(m.*ng)(1);}
// Templates.
template<class...T>struct Tup;template<>struct Tup<>{};template<class H,class...T>struct Tup<H,T...>:Tup<T...>{H h;constexpr Tup(H h,T...t):Tup<T...>(t...),h(h){}};
template<int I,class H,class...T>constexpr auto&get(Tup<H,T...>&t){if constexpr(I==0)return t.h;else return get<I-1,T...>(t);}
template<class...T>constexpr auto sum(T...t){return(t+...);}
template<class T>concept Num=requires(T a){a+a;a*a;};
template<Num T,int R,int C>struct Mat{T d[R][C]{};template<int K>constexpr Mat<T,R,K>operator*(const Mat<T,C,K>&o)const{Mat<T,R,K>r;for(int i=0;i<R;i++)for(int j=0;j<K;j++)for(int k=0;k<C;k++)r.d[i][j]+=d[i][k]*o.d[k][j];return r;}constexpr bool operator==(const Mat&)const=default;};
template<class D>struct Base{int twice(){return 2*static_cast<D*>(this)->val();}};struct Der:Base<Der>{int v;int val(){return v+1;}};
constexpr int fib(int n){return n<2?n:fib(n-1)+fib(n-2);}
template<int...I>struct Seq{static constexpr int v[]={fib(I)...};};
KERNEL void templates(u64*p){Tup<int,double,char,u64>t(p[0],2.5,'x',p[1]);p[8]=get<0>(t)+get<3>(t)+(u64)(get<1>(t)*4)+get<2>(t);p[9]=sum((int)p[0]&255,3ul,(char)4,true);Mat<i64,2,3>a;Mat<i64,3,2>b;for(int i=0;i<6;i++){a.d[i/3][i%3]=p[i]&0xffff;b.d[i/2][i%2]=p[i]>>48;}auto c=a*b;p[10]=c.d[0][0];p[11]=c.d[1][1];p[12]=c==a*b;Der d;d.v=p[2];p[13]=d.twice();p[14]=Seq<1,5,10,15>::v[p[3]&3];constexpr auto m=[]{Mat<int,2,2>m;m.d[0][1]=m.d[1][0]=m.d[0][0]=1;auto r=m;for(int i=0;i<10;i++)r=r*m;return r;}();p[15]=m.d[0][0];}
// Lambdas, and what hides their types.
template<class>struct Fn;template<class R,class...A>struct Fn<R(A...)>{alignas(16)char b[48];R(*c)(void*,A...)=nullptr;void(*del)(void*)=nullptr;template<class F>Fn(F f){static_assert(sizeof(F)<=48);new(b)F(f);c=[](void*q,A...a)->R{return(*(F*)q)(a...);};del=[](void*q){((F*)q)->~F();};}~Fn(){if(del)del(b);}R operator()(A...a){return c(b,a...);}};
template<class F>static void each(int n,F&&f){for(int i=0;i<n;i++)f(i);}
KERNEL void lambdas(u64*p){u64 acc=0;each(10,[&](int i){acc=acc*3+i+p[i&7];});p[8]=acc;int k=p[1]%50;Fn<int(int)>f=[k](int x){return x+k;};Fn<int(int)>g=[k,j=p[2]%9,acc](int x)mutable{acc++;return int(x*k-j+acc);};p[9]=f(3);p[10]=g(4);p[11]=g(4);Fn<int(int)>*t[]={&f,&g};p[12]=(*t[p[3]&1])(1);auto rec=[](auto self,int n)->u64{return n<2?1:n*self(self,n-1);};p[13]=rec(rec,12);int(*raw)(int)=[](int x){return x*x;};p[14]=raw(12);auto[x,y]=[&]{struct{int a;u64 b;}s{1,p[4]};return s;}();p[15]=x+y;p[16]=[]<class T>(T a,T b){return a<b?b:a;}(p[5],p[6]);}
// What is destroyed, moved and set up once. `malloc` is declared after `new` has been used.
struct Counted{static inline int live=0,total=0;int v;Counted(int v):v(v){live++;total++;}Counted(const Counted&o):v(o.v){live++;total+=10;}Counted(Counted&&o):v(o.v){o.v=-1;live++;total+=100;}~Counted(){live--;}};
template<class T>struct Uniq{T*p;explicit Uniq(T*p=nullptr):p(p){}Uniq(Uniq&&o):p(o.p){o.p=nullptr;}Uniq&operator=(Uniq&&o){if(this!=&o){delete p;p=o.p;o.p=nullptr;}return*this;}~Uniq(){delete p;}T*operator->(){return p;}explicit operator bool(){return p;}};
template<class T>struct Vec{T*d=nullptr;int n=0,c=0;void push(T t){if(n==c){c=c?c*2:2;T*e=(T*)__builtin_malloc(sizeof(T)*c);for(int i=0;i<n;i++){new(e+i)T((T&&)d[i]);d[i].~T();}__builtin_free(d);d=e;}new(d+n++)T((T&&)t);}T*begin(){return d;}T*end(){return d+n;}~Vec(){for(auto&x:*this)x.~T();__builtin_free(d);}};
static Counted&single(int v){static Counted c(v);return c;}
KERNEL void raii(u64*p){Counted::live=Counted::total=0;{Vec<Counted>v;for(int i=0;i<7;i++)v.push(Counted(i*3));int s=0;for(auto&c:v)s+=c.v;p[8]=s;Uniq<Counted>u(new Counted(5)),w((Uniq<Counted>&&)u);p[9]=!!u;p[10]=w->v;u=Uniq<Counted>(new Counted(6));p[11]=Counted::live;}p[12]=Counted::live;p[13]=Counted::total;p[14]=single(7).v+single(8).v;p[15]=Counted::live;}
// Operators.
namespace deep::er{enum class Op:u8{Add,Sub,Mul,Div=200};inline constexpr Op all[]={Op::Add,Op::Mul,Op::Div,Op::Sub};}
using deep::er::Op;
static i64 ap(Op o,i64 a,i64 b=3){switch(o){case Op::Add:return a+b;case Op::Sub:return a-b;case Op::Mul:return a*b;case Op::Div:return b?a/b:0;}__builtin_unreachable();}
constexpr u64 operator""_h(const char*s,size_t n){u64 h=1469598103934665603ul;while(n--)h=(h^(u8)*s++)*1099511628211ul;return h;}
struct Fx{i64 r;constexpr Fx(double d):r(d*65536){}constexpr Fx(i64 r,int):r(r){}friend constexpr Fx operator*(Fx a,Fx b){return Fx((i128)a.r*b.r>>16,0);}friend Fx operator+(Fx a,Fx b){return Fx(a.r+b.r,0);}Fx&operator+=(Fx o){r+=o.r;return*this;}Fx operator++(int){Fx t=*this;r+=65536;return t;}operator bool()const{return r;}Fx operator-()const{return Fx(-r,0);}i64&operator[](int){return r;}Fx*operator->(){return this;}i64 operator()(int a,int b)const{return r*a+b;}};
KERNEL void operators(u64*p){i64 a=p[0]>>32;for(auto o:deep::er::all)a=ap(o,a),p[8+(int)o%4]=a;p[16]="hash me"_h;p[17]=ap(Op::Sub,a,p[1]);Fx x(1.5),y((i64)(p[2]>>30),0);x+=y*x;p[18]=x++.r;p[19]=(-x)->r;p[20]=x(2,3);x[0]=9;p[21]=x.r+!!x;}
// What the run-time library has: forms of `new`, and functions that throw.
namespace std { enum class align_val_t : size_t {}; struct nothrow_t {}; extern const nothrow_t nothrow; void __throw_length_error(const char *); void __throw_bad_alloc(); void __throw_out_of_range_fmt(const char *, ...); }
void *operator new(size_t, const std::nothrow_t &) noexcept; void *operator new[](size_t, const std::nothrow_t &) noexcept; void *operator new(size_t, std::align_val_t); void operator delete(void *, std::align_val_t) noexcept; void operator delete(void *, size_t, std::align_val_t) noexcept;
extern "C" void *calloc(size_t, size_t); extern "C" void *malloc(size_t); extern "C" void free(void *);
struct alignas(256) Wide { u64 x[32]; };
NOINLINE static u64 checked(u64 *v, u64 n, u64 at) { if (at >= n) std::__throw_out_of_range_fmt("%zu of %zu", at, n); if (n > 1000) std::__throw_length_error("too long"); if (!v) std::__throw_bad_alloc(); return v[at]; }
KERNEL void forms_of_new(u64 *p) { u64 *z = (u64 *)calloc(4, 8); p[8] = z[0] + z[3]; free(z); u64 *a = new (std::nothrow) u64[4]; for (int i = 0; i < 4; i++) a[i] = p[i]; p[9] = checked(a, 4, p[5] % 4); delete[] a; Wide *w = new Wide, *v = new Wide; p[10] = (u64)w % 256 + (u64)v % 256; w->x[31] = p[6]; v->x[0] = p[7]; p[11] = w->x[31] ^ v->x[0]; p[12] = w == v; delete w; delete v; delete (Wide *)nullptr; int *n = new (std::nothrow) int(5); p[13] = *n; delete n; void *(*by)(size_t) = p[0] ? (void *(*)(size_t))operator new : nullptr; u64 *m = (u64 *)by(8); *m = p[1]; p[14] = *m; operator delete(m); }
#ifdef __NVPTX__
extern "C" __attribute__((nvptx_kernel)) void thrown(u64 *p) { p[8] = checked(p, 2000, 5); }
#endif
