#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unpack the ELF file that a compressed kernel image (bzImage) holds. Usage: unpack_kernel.py VMLINUZ VMLINUX"""
import subprocess
import sys

PACKERS = [(b"\x28\xb5\x2f\xfd", ["zstd", "-dc"]), (b"\xfd7zXZ\0", ["xz", "-dc", "--single-stream"]),
           (b"\x1f\x8b\x08", ["gzip", "-dc"])]


def main():
    packed = open(sys.argv[1], "rb").read()
    for magic, command in PACKERS:
        at = packed.find(magic)
        while at >= 0:
            run = subprocess.run(command, input=packed[at:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if run.stdout.startswith(b"\x7fELF"):
                open(sys.argv[2], "wb").write(run.stdout)
                return 0
            at = packed.find(magic, at + 1)
    return 1


sys.exit(main())
