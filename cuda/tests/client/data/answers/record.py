#!/usr/bin/env python3
"""Makes the calls of calls.txt in a driver, and prints the lines with their answers: `CALL => CODE x=VALUE`.

A call that ends the process, or does not come back, is answered `crash` or `hang`, and its section is made again without it.

usage: record.py CALLS [LIBRARY] > ANSWERS
"""
import ctypes
import struct
import subprocess
import sys

FORMATS = {"u8": "<B", "u16": "<H", "u32": "<I", "i32": "<i", "u64": "<Q", "f32": "<f"}
ROOM = 4096


def parse(path):
    """The texts, and the sections: names, and their lines."""
    texts, sections, name, text = {}, [], None, None
    for line in open(path):
        line = line.rstrip("\n")
        if text is not None:
            if line == "end":
                texts[name] = "\n".join(text) + "\n"
                text = None
            else:
                text.append(line)
        elif line.startswith("text "):
            name, text = line[5:], []
        elif line.startswith("section "):
            sections.append((line[8:], []))
        elif line and not line.startswith("#"):
            sections[-1][1].append(line)
    return texts, sections


class Machine:
    def __init__(self, library, texts):
        self.library = ctypes.CDLL(library)
        self.cells, self.keep = {}, []
        self.texts = {name: ctypes.create_string_buffer(text.encode()) for name, text in texts.items()}

    def cell(self, name):
        if name not in self.cells:
            # Whole pages, so that a cell can be registered.
            raw = ctypes.create_string_buffer(2 * ROOM)
            at = -ctypes.addressof(raw) % ROOM
            self.keep.append(raw)
            self.cells[name] = (ctypes.c_char * ROOM).from_buffer(raw, at)
        return self.cells[name]

    def value(self, word):
        if word == "null":
            return 0
        if word[0] == '"':
            self.keep.append(ctypes.create_string_buffer(word[1:-1].encode()))
            return ctypes.addressof(self.keep[-1])
        if word[0] == "$":
            return ctypes.addressof(self.texts[word[1:]])
        if word[0].isdigit() or word[0] == "-":
            return int(word, 0) & 0xFFFFFFFFFFFFFFFF
        place, _, more = word.lstrip("&").partition("+")
        if word[0] == "&":
            return ctypes.addressof(self.cell(place)) + int(more or "0", 0)
        return (struct.unpack_from("<Q", self.cell(place))[0] + int(more or "0", 0)) & 0xFFFFFFFFFFFFFFFF

    def put(self, words):
        found = b""
        for word in words[1:]:
            kind, _, value = word.partition(":")
            mask = (1 << 8 * struct.calcsize(FORMATS[kind])) - 1
            found += struct.pack(FORMATS[kind], self.value(value) & mask)
        self.cell(words[0])[:] = found.ljust(ROOM, b"\0")

    def call(self, line):
        call, _, shown = line.partition(" -> ")
        words = call.split()
        try:
            function = getattr(self.library, words[0])
        except AttributeError:
            return "absent"
        function.restype = ctypes.c_uint32
        code = function(*[ctypes.c_uint64(self.value(word)) for word in words[1:]])
        answer = str(code)
        for item in shown.split(",") if shown else []:
            name, _, kind = item.partition(":")
            cell, _, more = name.partition("+")
            found = struct.unpack_from(FORMATS[kind], self.cell(cell), int(more or 0))[0]
            answer += f" {name}={found}"
        return answer


def work(path, library, wanted, skipped):
    texts, sections = parse(path)
    machine = Machine(library, texts)
    for number, line in enumerate(dict(sections)[wanted]):
        if line.startswith("put "):
            machine.put(line.split()[1:])
        elif number not in skipped:
            print(f"{number} ", end="", flush=True)
            print(machine.call(line), flush=True)


def main():
    path, library = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "libcuda.so.1"
    if len(sys.argv) > 3:
        return work(path, library, sys.argv[3], {int(word) for word in sys.argv[4:]})
    for name, lines in parse(path)[1]:
        lost = {}
        while True:
            command = [sys.executable, __file__, path, library, name, *map(str, lost)]
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60)
                output, bad = done.stdout, "crash" if done.returncode != 0 else None
            except subprocess.TimeoutExpired as error:
                output, bad = (error.stdout or b"").decode(), "hang"
            answers = {}
            for row in output.splitlines():
                number, _, answer = row.partition(" ")
                answers[int(number)] = answer
            pending = [number for number, answer in answers.items() if not answer]
            if bad is None or not pending:
                break
            lost[pending[0]] = bad
        print(f"section {name}", flush=True)
        for number, line in enumerate(lines):
            if not line.startswith("put "):
                print(f"{line} => {lost.get(number) or answers.get(number, 'lost')}", flush=True)


main()
