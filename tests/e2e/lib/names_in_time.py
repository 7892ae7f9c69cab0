# SPDX-License-Identifier: Apache-2.0
# names_in_time.py TIMES SCRIPT PATTERN: have the samples of a perf script the names of what ran at their time? TIMES, written by the program,
# has lines "NAME BEGIN END" (ns, CLOCK_MONOTONIC); PATTERN's group is a name. Prints the first wrong ones, then how many are right and wrong.
import bisect
import re
import sys

runs = sorted((int(begin), int(end), name) for name, begin, end in (line.split() for line in open(sys.argv[1])))
begins = [run[0] for run in runs]
right = wrong = 0


def judge(time, names):
    global right, wrong
    at = bisect.bisect(begins, time) - 1
    if not names or at < 0 or time > runs[at][1]:
        return
    if names == {runs[at][2]}:
        right += 1
        return
    wrong += 1
    if wrong <= 5:
        print("at", time, "ran", runs[at][2], "named", sorted(names))


time, names = 0, set()
for line in open(sys.argv[2], errors="replace"):
    head = re.match(r"\S.*?\s(\d+)\.(\d+):", line)
    if head:
        judge(time, names)
        time, names = int(head[1]) * 10**9 + int(head[2].ljust(9, "0")), set()
    names |= set(re.findall(sys.argv[3], line))
judge(time, names)
print(right, wrong)
