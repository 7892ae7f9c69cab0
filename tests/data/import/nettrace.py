# SPDX-License-Identifier: Apache-2.0
# A small nettrace file, from the published description (NetTraceFormat_v5.md), with events of both kinds of heads: python3 nettrace.py OUT
# nettrace.gz beside it is of .NET 8.0.4, whose runtime writes one by itself:
#   DOTNET_EnableEventPipe=1 DOTNET_EventPipeOutputPath=nettrace \
#   DOTNET_EventPipeConfig=Microsoft-DotNETCore-SampleProfiler:0:5,Microsoft-Windows-DotNETRuntime:0x11:5 dotnet W.exe
import struct, sys
out = bytearray(b"Nettrace" + struct.pack("<I", 20) + b"!FastSerialization.1")
def pack(f, *v): return struct.pack("<" + f, *v)
def utf16(s): return s.encode("utf-16-le") + b"\0\0"
def varint(n):
    b = b""
    while n > 127: b += bytes([n & 127 | 128]); n >>= 7
    return b + bytes([n])
def begin(name, version):
    global out
    out += b"\5\5\1" + pack("ii", version, version) + pack("i", len(name)) + name.encode() + b"\6"
def block(name, body):
    global out
    begin(name, 2)
    out += pack("i", len(body))
    out += b"\0" * (-len(out) & 3) + body + b"\6"
def events(name, flags, body): block(name, pack("hhqq", 20, flags, 0, 1 << 40) + body)
def compressed(kind, payload, tid=0, stack=0, time=0): # all fields that there are
    return b"\xcf" + varint(kind) + varint(0) + varint(tid) + varint(1) + varint(tid) + varint(stack) + varint(time) + varint(len(payload)) + payload
def plain(kind, payload, tid, stack, time):
    head = pack("iiqqiiq", kind, 1, tid, tid, 0, stack, time) + bytes(32) + pack("i", len(payload))
    body = head + payload
    body += b"\0" * (-(len(body) + 4) & 3)
    return pack("i", len(body)) + body
def kind(number, provider, event): return compressed(0, pack("i", number) + utf16(provider) + pack("i", event) + utf16("") + pack("qii", 0, 1, 4) + pack("i", 0))
def method(start, length, type, name, module=7): return pack("QQQIII", 1, module, start, length, 0, 0) + utf16(type) + utf16(name) + utf16("void ()") + pack("HQ", 0, 0)
begin("Trace", 4)
out += pack("8h", 2026, 11, 5, 27, 13, 6, 31, 250) + pack("qqiiii", 1000, 1000000, 8, 4711, 2, 1000000) + b"\6"
events("MetadataBlock", 1, kind(1, "Microsoft-DotNETCore-SampleProfiler", 0) + kind(2, "Microsoft-Windows-DotNETRuntime", 10) +
       kind(3, "Microsoft-Windows-DotNETRuntimeRundown", 144) + kind(4, "Microsoft-Windows-DotNETRuntimeRundown", 154))
def stacks(first, *all): block("StackBlock", pack("ii", first, len(all)) + b"".join(pack("i", 8 * len(s)) + pack("%dQ" % len(s), *s) for s in all))
stacks(1, [0x1010, 0x2020, 0x3000], [0x2030, 0x3000]) # 0x3000 is behind the last byte of Main, where its call returns to
events("EventBlock", 1, compressed(1, pack("i", 2), 4712, 1, 2000) + compressed(1, pack("i", 2), 4712, 1, 1000) + compressed(2, pack("IIHQ", 100, 0, 0, 5000000000), 4712, 2, 500))
block("SPBlock", pack("qi", 6000, 0))
stacks(1, [0x9000])
events("EventBlock", 0, plain(1, pack("i", 1), 4713, 1, 7000) + plain(1, pack("i", 1), 4713, 99, 8000))
events("EventBlock", 1, compressed(3, method(0x1000, 0x100, "App.Work", "Leaf")) + compressed(3, method(0x2000, 0x100, "App.Work", "Run")) +
       compressed(3, method(0x2f00, 0x100, "", "Main")) + compressed(4, pack("QQII", 7, 8, 0, 0) + utf16("/app/App.dll") + utf16("")))
out += b"\1"
open(sys.argv[1], "wb").write(out)
