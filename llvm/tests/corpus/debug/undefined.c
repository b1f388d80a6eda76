/* What nothing defines, called by a function that is inlined. */
extern int nowhere(int);

static inline __attribute__((always_inline)) int helper(int x) {
    return nowhere(x) + 1;
}

__attribute__((nvptx_kernel)) void k(int *out) {
    *out = helper(3);
}
