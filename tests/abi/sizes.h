// Structs of every size to 64 bytes, each of the widest elements that its size allows; and integers of 128 bits.
#define OF_CHAR(F) F(1) F(3) F(5) F(7) F(9) F(11) F(13) F(15) F(17) F(19) F(21) F(23) F(25) F(27) F(29) F(31) \
    F(33) F(35) F(37) F(39) F(41) F(43) F(45) F(47) F(49) F(51) F(53) F(55) F(57) F(59) F(61) F(63)
#define OF_SHORT(F) F(2) F(6) F(10) F(14) F(18) F(22) F(26) F(30) F(34) F(38) F(42) F(46) F(50) F(54) F(58) F(62)
#define OF_INT(F) F(4) F(12) F(20) F(28) F(36) F(44) F(52) F(60)
#define OF_LONG(F) F(8) F(16) F(24) F(32) F(40) F(48) F(56) F(64)
#define EACH(F) OF_CHAR(F) OF_SHORT(F) OF_INT(F) OF_LONG(F)
template <int A> struct Of;
template <> struct Of<1> { typedef signed char T; };
template <> struct Of<2> { typedef short T; };
template <> struct Of<4> { typedef int T; };
template <> struct Of<8> { typedef long long T; };
constexpr int widest(int n) { return n % 8 == 0 ? 8 : n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1; }
#define DECLARE(n) \
    struct S##n { typedef Of<widest(n)>::T T; enum { N = n / widest(n) }; T x[N]; }; \
    extern "C" __device__ S##n f_##n(S##n s, int k);
EACH(DECLARE)
extern "C" __device__ __int128 f_i128(__int128 a, int k);
extern "C" __device__ unsigned __int128 f_u128(signed char k, unsigned __int128 a, unsigned __int128 b);
