#!/usr/bin/env python3
"""Links as rustc asks, and records what the linker was given: NAME.PROFILE.a beside this file.

Objects and members of rlibs that the output does not depend on are left out, half of what is left at a time.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def members(path):
    """The members of an archive that are bitcode."""
    data, at, names = path.read_bytes(), 8, b""
    while at < len(data):
        header = data[at : at + 60]
        size = int(header[48:58])
        content = data[at + 60 : at + 60 + size]
        name = header[:16].decode().strip()
        if name == "//":
            names = content
        elif name.startswith("/") and name[1:].isdigit():
            name = names[int(name[1:]) :].split(b"\n")[0].decode()
        if content.startswith(b"BC\xc0\xde"):
            yield name.rstrip("/"), content
        at += 60 + size + size % 2


def archive(parts):
    """An archive with GNU's long names."""
    names = b"".join(name.encode() + b"/\n" for name, _ in parts)
    out, at = b"!<arch>\n", 0
    for name, content in [("//", names), *parts]:
        field = "//" if name == "//" else f"/{at}"
        if name != "//":
            at += len(name) + 2
        out += f"{field:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content
        out += b"\n" * (len(content) % 2)
    return out


def main():
    argv, linker = sys.argv[1:], os.environ["WARPSMITH_LINKER"]
    is_input = [a.endswith((".o", ".rlib")) and not a.startswith("-") for a in argv]
    inputs = [Path(a) for a, yes in zip(argv, is_input) if yes]
    options = [a for a, yes in zip(argv, is_input) if not yes]
    output = Path(argv[argv.index("-o") + 1])
    subprocess.run([linker, *argv], check=True)
    expected = output.read_bytes()

    parts = []
    for path in inputs:
        parts += [(path.name, path.read_bytes())] if path.suffix == ".o" else members(path)
    trial = output.with_suffix(".a")

    def same(parts):
        trial.write_bytes(archive(parts))
        run = subprocess.run([linker, *options, trial], capture_output=True)
        return run.returncode == 0 and output.read_bytes() == expected

    count = len(parts) // 2
    while count:
        at = 0
        while at < len(parts):
            rest = parts[:at] + parts[at + count :]
            if rest and same(rest):
                parts = rest
            else:
                at += count
        count //= 2
    assert same(parts)
    # Cargo asks for `name-HASH.ptx` and gives it its name afterwards.
    name = output.stem.split("-")[0]
    # Not a rename: the build folder may be on another file system.
    shutil.move(trial, Path(__file__).parent / f"{name}.{os.environ['RECORD_AS']}.a")


main()
