#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Find the instructions of kernel functions in dumps of the kernel's memory, as objdump writes them.

Usage: kernel_code.py LISTING FOLDER ARCH THEIRS OURS

LISTING is what "preport annotate --format=csv" printed, of one event. The files of FOLDER hold memory, their names are the
addresses of the first byte. Instructions of functions that are in one of them are written to THEIRS and OURS, in the forms that
same_instructions.py reads, but for those that are shown as bytes and what objdump makes of the same bytes. Prints a line a function:
name, module, instructions, and how many of them were left out.
"""
import csv
import os
import subprocess
import sys

MACHINES = {"x86_64": "i386:x86-64", "aarch64": "aarch64"}


def functions(listing):
    """(name, module), [(address, text)] for each function, without its last instruction, whose end nobody says."""
    rows, last = [], None
    for row in csv.DictReader(open(listing, newline="")):
        key = row["function"], row["module"]
        if key != last and rows:
            yield last, rows
            rows = []
        last = key
        rows.append((int(row["address"], 16), row["instruction"]))
    if rows:
        yield last, rows


def objdump(folder, arch, start, end):
    for name in os.listdir(folder):
        base = int(name, 16)
        if base <= start and end <= base + os.path.getsize(os.path.join(folder, name)):
            text = subprocess.run(
                ["objdump", "-Dw", "-b", "binary", "-m", MACHINES[arch], f"--adjust-vma={base:#x}",
                 f"--start-address={start:#x}", f"--stop-address={end:#x}", os.path.join(folder, name)],
                env={**os.environ, "LC_ALL": "C"}, stdout=subprocess.PIPE, check=True, text=True).stdout
            return [line for line in text.split("\n") if line.count("\t") >= 2 and line.split(":")[0].strip()]
    return None


def main():
    listing, folder, arch, theirs, ours = sys.argv[1:]
    with open(theirs, "w") as out_theirs, open(ours, "w") as out_ours:
        for (name, module), rows in functions(listing):
            if not module.startswith("["):
                continue
            lines = objdump(folder, arch, rows[0][0], rows[-1][0])
            if lines is None:
                continue
            spans = [(address, behind, text) for (address, text), (behind, _) in zip(rows, rows[1:])]
            known = {address: behind - address for address, behind, text in spans if not text.startswith(".byte")}
            at = {int(line.split(":")[0], 16): line for line in lines}
            both = [row for row in spans if row[0] in known and row[0] in at]
            for address, behind, text in both:
                out_theirs.write(at[address] + "\n")
                out_ours.write(f"{address:x}\t{behind - address}\t{text}\n")
            print(name, module, len(spans), len(spans) - len(both))


main()
