#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Put the instructions that samples fell on into one piece of code, for objdump and for us.

Usage: sampled_code.py ADDRESSES PATHS CODE >OFFSETS

ADDRESSES is the CSV of "preport --by address", PATHS has the path of each module, a line each. CODE gets, for each distinct
address in one of them, the bytes from there on, as many as an instruction can have, and enough padding that whoever disassembles
one after the other is in step again at the next. OFFSETS are those of the addresses in CODE, in hexadecimal.
"""
import csv
import os
import struct
import sys

CODE_LEN = 16  # one more than the longest instruction
NOP = b"\x90" * 32


class Image:
    """The segments of a 64-bit little-endian ELF file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        offset, size, count = struct.unpack_from("<32xQ14xHH", self.data)
        self.segments = [struct.unpack_from("<I4xQQ8xQ", self.data, offset + i * size) for i in range(count)]

    def code(self, address):
        for kind, offset, vaddr, length in self.segments:
            if kind == 1 and vaddr <= address < vaddr + length - CODE_LEN:
                at = offset + address - vaddr
                return self.data[at:at + CODE_LEN]
        return None


def main():
    addresses, paths, code = sys.argv[1:]
    by_name = {}
    for path in open(paths):
        path = path.rstrip("\n")
        if os.path.isfile(path) and open(path, "rb").read(5) == b"\x7fELF\x02":
            by_name.setdefault(os.path.basename(path), path)
    images, seen, at = {}, set(), 0
    with open(code, "wb") as out:
        for row in csv.DictReader(open(addresses)):
            key = row["module"], int(row["address"], 16)
            if key in seen or key[0] not in by_name:
                continue
            seen.add(key)
            if key[0] not in images:
                images[key[0]] = Image(by_name[key[0]])
            found = images[key[0]].code(key[1])
            if found:
                out.write(found + NOP)
                print(f"{at:x}")
                at += len(found + NOP)


main()
