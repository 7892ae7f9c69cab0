# SPDX-License-Identifier: Apache-2.0
# A file as simpleperf report-sample --protobuf writes it, from its report_sample.proto: python3 simpleperf.py OUT
import struct, sys
def varint(n):
    n &= (1 << 64) - 1; out = b""
    while n > 127: out += bytes([n & 127 | 128]); n >>= 7
    return out + bytes([n])
def num(field, n): return varint(field << 3) + varint(n)
def msg(field, b): return varint(field << 3 | 2) + varint(len(b)) + b
def text(field, s): return msg(field, s.encode())
def call(vaddr, file, symbol, method=0): return msg(3, num(1, vaddr) + num(2, file) + num(3, symbol) + (num(4, method) if method else b""))
def sample(time, tid, count, event, *calls): return msg(1, num(1, time) + num(2, tid) + b"".join(calls) + num(4, count) + num(5, event))
def switch(time, tid, on): return msg(6, num(1, on) + num(2, time) + num(3, tid))
leaf, outer, read, java, none = call(0x1010, 0, 0), call(0x1020, 0, 1), call(0xffffffc010, 1, 0), call(0x40, 2, 0, 2), call(0x99, 0, -1)
T = 1000000000
records = [
    sample(T, 4712, 250000, 0, leaf, outer), sample(T + 1000000, 4712, 250000, 0, leaf, outer), switch(T + 1500000, 4712, 0),
    sample(T + 2000000, 4712, 300000, 0, read, leaf, outer), sample(T + 3000000, 4711, 1000000, 1, java, outer),
    sample(T + 4000000, 4711, 1000000, 1, none), msg(2, num(1, 5) + num(2, 2)),
    msg(3, num(1, 0) + text(2, "/system/lib64/libapp.so") + text(3, "ns::leaf(int)") + text(3, "outer") + text(4, "_ZN2ns4leafEi") + text(4, "outer")),
    msg(3, num(1, 1) + text(2, "[kernel.kallsyms]") + text(3, "sys_read")), msg(3, num(1, 2) + text(2, "[JIT app cache]") + text(3, "com.example.App.run")),
    msg(4, num(1, 4711) + num(2, 4711) + text(3, "com.example.app")), msg(4, num(1, 4712) + num(2, 4711) + text(3, "worker")),
    msg(5, text(1, "cpu-cycles:u") + text(1, "cpu-clock") + text(2, "com.example.app") + num(6, 0)),
]
open(sys.argv[1], "wb").write(b"SIMPLEPERF" + struct.pack("<H", 1) + b"".join(struct.pack("<I", len(r)) + r for r in records) + struct.pack("<I", 0))
