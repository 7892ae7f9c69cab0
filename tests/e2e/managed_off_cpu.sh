#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# With --off-cpu a reader takes the CPU from the thread that it reads, which is a switch, and so a sample of its own. The sample
# before it, of the thread on the CPU, has its script all the same.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
python=$(command -v python3) || skip "there is no Python"

seconds=1
[ -z "${SAN-}" ] || seconds=4 # a recorder with sanitizers knows the interpreter late
cat >busy.py <<'END'
import sys, time
def busy(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
end = time.time() + int(sys.argv[1])
while time.time() < end:
    busy(1000)
END
precord --off-cpu -F 299 -o busy.trace -- "$python" busy.py $seconds 2>precord.txt || { cat precord.txt; fail "busy.py failed"; }
cat precord.txt
preport --event cpu-clock --by script --limit 100000 --format=csv -i busy.trace >scripts.csv || fail "no report"
cat scripts.csv
# Of the samples that fall into Python nearly all; the rest is its start, in C, and what a loaded machine reads too late.
plain_csv <scripts.csv | columns function samples | awk -F'\t' '
	{ all += $2 } $1 == "busy" { busy = $2 }
	END { printf "%d of %d samples are in busy()\n", busy, all; exit !(all && busy > all / 2) }' ||
	fail "samples on the CPU have no script"
exit 0
