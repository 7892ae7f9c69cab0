#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a profile of so many MB for tests/bench/importers: always the same bytes.

Usage: importers.py collapsed|unsorted|pprof|pprof-all-different|cpuprofile|perf-script MB
       importers.py repeat MB FILE
"""
import random
import sys

FUNCTIONS = [f"{a}::{b}_{n}" for n in range(40) for a in ("std", "net", "json", "db", "app") for b in ("read", "write", "parse", "poll", "run")]
random.seed(1)


class Stacks:
    """Walks through a tree of calls: neighbours share most of their frames, as in real profiles."""

    def __init__(self, depth=30):
        self.depth = depth
        self.frames = [random.randrange(len(FUNCTIONS)) for _ in range(depth)]

    def next(self):
        keep = self.depth - min(int(random.expovariate(0.3)) + 1, self.depth - 1)
        self.frames = self.frames[:keep] + [random.randrange(len(FUNCTIONS)) for _ in range(self.depth - keep)]
        return self.frames


def collapsed(size):
    stacks, made, lines = Stacks(), 0, []
    while made < size:
        line = ";".join(FUNCTIONS[f] for f in stacks.next()) + f" {random.randrange(1, 100)}\n"
        made += len(line)
        lines.append(line)
    return lines


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def pprof(size, different):
    """Samples of 2,000 stacks with labels, or each of its own."""
    out = sys.stdout.buffer
    strings = ["", "samples", "count", "id"] + FUNCTIONS
    out.write(field(1, field(1, 1) + field(2, 2)))
    for i in range(len(FUNCTIONS)):
        out.write(field(5, field(1, i + 1) + field(2, i + 4)))
        out.write(field(4, field(1, i + 1) + field(3, 4096 + 16 * i) + field(4, field(1, i + 1) + field(2, 7))))
    stacks, made, known = Stacks(), 0, []
    while made < size:
        if different or len(known) < 2000:
            packed = b"".join(varint(f + 1) for f in reversed(stacks.next()))
            known.append(packed)
        else:
            packed = random.choice(known)
        sample = field(1, packed) + field(2, varint(random.randrange(1, 100)))
        if not different:
            sample += field(3, field(1, 3) + field(3, random.randrange(64)))
        message = field(2, sample)
        made += len(message)
        out.write(message)
    for text in strings:
        out.write(field(6, text.encode()))


def cpuprofile(size):
    """As Node.js writes it: nodes, then numbers."""
    out = sys.stdout
    nodes, made = 20000, 0
    out.write('{"nodes":[')
    for i in range(1, nodes + 1):
        children = [c for c in range(2 * i, 2 * i + 2) if c <= nodes]
        out.write(("," if i > 1 else "") + '{"id":%d,"callFrame":{"functionName":"%s","scriptId":"%d","url":"file:///srv/app/lib/%d.js","lineNumber":%d,'
                  '"columnNumber":%d},"hitCount":%d,"children":%s}' % (i, FUNCTIONS[i % len(FUNCTIONS)], i % 90, i % 90, i % 500, i % 80, i % 7,
                                                                      str(children).replace(" ", "")))
    count = size // 10
    out.write('],"startTime":1000000,"endTime":%d,"samples":[' % (1000000 + 125 * count))
    out.write(",".join(str(random.randrange(1, nodes + 1)) for _ in range(count)))
    out.write('],"timeDeltas":[')
    out.write(",".join(str(random.randrange(100, 150)) for _ in range(count)))
    out.write("]}")


def perf_script(size):
    stacks, made, number = Stacks(), 0, 0
    while made < size:
        number += 1
        text = f"worker {100 + number % 8}/{200 + number % 8} [{number % 4:03}] {number // 1000}.{number % 1000:03}000: 1000000 cpu-clock: \n"
        text += "".join(f"\t{0x401000 + 64 * f:16x} {FUNCTIONS[f]}+0x{f % 64:x} (/usr/bin/app)\n" for f in reversed(stacks.next())) + "\n"
        made += len(text)
        sys.stdout.write(text)


def main():
    what, size = sys.argv[1], int(sys.argv[2]) * 1000000
    if what == "collapsed":
        sys.stdout.writelines(sorted(collapsed(size)))
    elif what == "unsorted":
        lines = collapsed(size)
        random.shuffle(lines)
        sys.stdout.writelines(lines)
    elif what.startswith("pprof"):
        pprof(size, what != "pprof")
    elif what == "cpuprofile":
        cpuprofile(size)
    elif what == "perf-script":
        perf_script(size)
    else:
        with open(sys.argv[3], "rb") as chunk:
            data = chunk.read()
        for _ in range(size // len(data)):
            sys.stdout.buffer.write(data)


main()
