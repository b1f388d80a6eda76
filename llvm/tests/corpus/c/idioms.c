// What C programmers do and standards do not have: distances between labels.
#include "kernel.h"
KERNEL void distances(u64 *p) { static const int offs[] = {&&a - &&a, &&b - &&a, &&c - &&a}; int i = 0; u64 s = 0; void *pc = &&a + offs[p[0] % 3]; goto *pc; a: s = s * 3 + 1; if (i++ < 4) goto *(&&a + offs[p[i] % 3]); goto end; b: s = s * 5 + 2; if (i++ < 4) goto *(&&a + offs[p[i] % 3]); goto end; c: s = s * 7 + 3; if (i++ < 4) goto *(&&a + offs[p[i] % 3]); end: p[8] = s; }
