#!/bin/sh
# make.sh FIRST LAST FOLDER: programs of csmith as kernels, with the checksum that gcc's program prints in the name of the file. Needs csmith, libcsmith-dev,
# gcc and clang-22 (all in Debian). Every fourth is as large as csmith makes them by itself, the others are small. `cargo xtask csmith` calls it and
# runs what it made.
set -e
mkdir -p "$3"
out=$(cd "$3" && pwd)
work=$(mktemp -d)
cd "$work"
for seed in $(seq "$1" "$2"); do
    pointers=$([ $((seed % 2)) = 0 ] && echo --no-pointers || true)
    size=$([ $((seed % 4)) = 3 ] || echo --max-funcs 4 --max-block-depth 3 --no-packed-struct)
    csmith --seed "$seed" --no-argc $size $pointers > program.c
    # Pointers to members of packed structs make some programs undefined: the host reads what is not aligned, the engine faults. gcc's build of
    # those ends at the first such access, without a checksum.
    gcc -w -O1 -fsanitize=alignment -fno-sanitize-recover=alignment -I/usr/include/csmith program.c -o program
    hash=$(timeout 2 ./program 2>/dev/null | sed -n 's/^checksum = //p') || continue
    [ -n "$hash" ] || continue
    # What the kernel needs of csmith's run-time library, without the host's headers.
    cat > kernel.c <<'C'
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned long uint64_t;
typedef unsigned long size_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32767-1)
#define INT32_MIN (-2147483647-1)
#define INT64_MIN (-9223372036854775807L-1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define SCHAR_MIN INT8_MIN
#define SHRT_MIN INT16_MIN
#define INT_MIN INT32_MIN
#define LONG_MIN INT64_MIN
#define SCHAR_MAX INT8_MAX
#define SHRT_MAX INT16_MAX
#define INT_MAX INT32_MAX
#define LONG_MAX INT64_MAX
#define UCHAR_MAX UINT8_MAX
#define USHRT_MAX UINT16_MAX
#define UINT_MAX UINT32_MAX
#define ULONG_MAX UINT64_MAX
#define CHAR_BIT 8
static void *memset(void *p, int x, size_t n) { for (size_t i = 0; i < n; i++) ((char *)p)[i] = x; return p; }
#define printf(...) 0
#define STATIC static
#define UNDEFINED(x) x
#define FUNC_NAME(x) (safe_##x)
#define assert(x)
#define LOG_INDEX
#define LOG_EXEC
#define fabs __builtin_fabs
#define fabsf __builtin_fabsf
#define FLT_MAX __FLT_MAX__
#define DBL_MAX __DBL_MAX__
static uint32_t crc32_tab[256]; static uint32_t crc32_context = 0xFFFFFFFFUL;
static void crc32_gentab(void) { for (int i = 0; i < 256; i++) { uint32_t crc = i; for (int j = 8; j > 0; j--) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1; crc32_tab[i] = crc; } }
static void crc32_byte(uint8_t b) { crc32_context = ((crc32_context >> 8) & 0x00FFFFFF) ^ crc32_tab[(crc32_context ^ b) & 0xFF]; }
static void transparent_crc(uint64_t val, char *name, int flag) { for (int i = 0; i < 8; i++) crc32_byte(val >> 8 * i); }
static void transparent_crc_bytes(char *p, int n, char *name, int flag) { for (int i = 0; i < n; i++) crc32_byte(p[i]); }
static uint32_t result;
static void platform_main_begin(void) {} static void platform_main_end(uint32_t crc, int flag) { result = crc; }
C
    # The functions that are safe against undefined behaviour are csmith's own.
    cat /usr/include/csmith/safe_math.h >> kernel.c
    sed -e '/#include/d' -e 's/^int main (void)/static int program_main(void)/' program.c >> kernel.c
    echo '__attribute__((nvptx_kernel)) void kernel(uint32_t *out) { program_main(); *out = result; }' >> kernel.c
    for level in O0 O1 O3; do
        clang-22 --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx83 -$level -w -fno-builtin \
            -emit-llvm -c kernel.c -o "$out/seed$seed-$level-$hash.bc" || { cp kernel.c /tmp/csmith-failed.c; exit 1; }
    done
done
rm -r "$work"
