"""Random structs and unions with the layout that a C compiler gives them: writes c_layout.tsv.

    python3 c_layout.py [gcc|clang] > c_layout.tsv

A line: kind, members (`T` or `T:width`, signed types), size, alignment, the first bit of each member.
"""
import random, subprocess, sys, tempfile, os

random.seed(13)
TYPES = {"i8": "signed char", "i16": "short", "i32": "int", "i64": "long long", "f32": "float", "f64": "double", "ptr": "void *"}
INTS = ["i8", "i16", "i32", "i64"]
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}

def members():
    made = []
    for _ in range(random.randint(1, 7)):
        if random.random() < 0.6:
            ty = random.choice(INTS)
            width = random.choice([0, 1, 2, 3, 5, 7, random.randint(1, BITS[ty]), BITS[ty]])
            made.append((ty, min(width, BITS[ty])))
        else:
            made.append((random.choice(list(TYPES)), None))
    return made

records = [(random.choice(["struct", "struct", "packed", "union"]), members()) for _ in range(400)]
records = [(kind, ms) for kind, ms in records if any(width != 0 for _, width in ms)]
# C++ and C disagree on packed records with unnamed fields of no bits; neither is of use.
records = [(kind, ms) for kind, ms in records if kind != "packed" or all(width != 0 for _, width in ms)]
source = ["#include <stdio.h>", "#include <string.h>", "#include <stddef.h>",
          "static int first(const unsigned char *p, int n) { for (int i = 0; i < 8 * n; i++) if (p[i / 8] >> i % 8 & 1) return i; return -1; }",
          "int main(void) {"]
for n, (kind, ms) in enumerate(records):
    fields = "".join(
        f" {TYPES[ty]} m{i};" if width is None else f" {TYPES[ty]} {'' if width == 0 else f'm{i}'} : {width};"
        for i, (ty, width) in enumerate(ms))
    attribute = " __attribute__((packed))" if kind == "packed" else ""
    word = "union" if kind == "union" else "struct"
    source.append(f"{{ typedef {word} {{{fields} }}{attribute} R; R r;")
    text = " ".join(ty if width is None else f"{ty}:{width}" for ty, width in ms)
    source.append(f'printf("{kind}\\t{text}\\t%d\\t%d\\t", (int)sizeof(R), (int)_Alignof(R));')
    for i, (ty, width) in enumerate(ms):
        if width == 0:
            source.append('printf("- ");')
        elif width is None:
            source.append(f'printf("%d ", 8 * (int)offsetof(R, m{i}));')
        else:
            source.append(f'memset(&r, 0, sizeof r); r.m{i} = -1; printf("%d ", first((unsigned char *)&r, sizeof r));')
    source.append('puts(""); }')
source.append("}")
with tempfile.TemporaryDirectory() as folder:
    c, exe = os.path.join(folder, "a.c"), os.path.join(folder, "a")
    open(c, "w").write("\n".join(source))
    subprocess.run([sys.argv[1] if len(sys.argv) > 1 else "gcc", "-w", "-O0", "-o", exe, c], check=True)
    print("\n".join(line.rstrip() for line in subprocess.run([exe], check=True, capture_output=True, text=True).stdout.splitlines()))
