#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The wall clock goes an hour back and forth again during a recording: times in the file go on as if nothing
# had happened, --time finds them by the wall clock of the beginning, and files that are named by the time are
# whole, each with a name of its own. Only the recorder sees the steps: other programs have a right to their clock.
# slow: it waits for clocks
set -u
. "$TOP/tests/e2e/lib/recording.bash"
[ -z "$SAN" ] || skip "a sanitizer wants to be loaded first"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"

# Every second half of a second it is an hour ago.
cat >steps.c <<'SRC'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long long began;
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	struct timespec now;
	int failed = (int)syscall(SYS_clock_gettime, clock, ret);
	if (failed || clock != CLOCK_REALTIME)
		return failed;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	long long at = now.tv_sec * 10LL + now.tv_nsec / 100000000;
	if (!began)
		began = at;
	if ((at - began) / 5 % 2)
		ret->tv_sec -= 3600;
	return 0;
}
SRC
$CC -O1 -shared -fPIC -o steps.so steps.c || fail "cannot compile"
ahead ./shares paced 100 & victim=$!
trap 'kill $victim' EXIT
# record FILE ENOUGH OPTION...: for 3 seconds at least, and until the victim has had half a second of a CPU and ENOUGH
record() {
	local file=$1 enough=$2 recorder
	shift 2
	LD_PRELOAD=$PWD/steps.so precord -q -F 499 -p $victim -o $file "$@" 2>err.txt & recorder=$!
	begun $recorder $file
	sleep 3
	burn 500 $victim
	for _ in $(seq 1200); do $enough && break; sleep 0.1; done
	kill -TERM $recorder
	wait $recorder || { cat err.txt; fail "precord -o $file $*"; }
}

before=$(date +%s)
record c.trace true
after=$(date +%s)
preport -i c.trace script --no-chain --format=json >c.json 2>/dev/null
sed -n 's/^{"kind": "sample", "time_ns": "*\([0-9]*\).*/\1/p' c.json >times.txt
sort -nc times.txt || fail "times go back"
awk -v most=$((after - before + 1)) 'NR == 1 { first = $1 } { last = $1 }
	END { print NR " samples in " (last - first) / 1e9 " s"
	      exit !(NR > 50 && last - first > 1e9 && last - first < most * 1e9) }' times.txt || fail "times are not those of the recording"

# samples FROM TO: how many --time finds between two times of the wall clock
wall() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }
samples() {
	preport -i c.trace --time="$(wall "$1"),$(wall "$2")" --by process --limit 100 --format=csv 2>/dev/null |
		columns samples | awk '{ n += $1 } END { print n + 0 }'
}
all=$(wc -l <times.txt)
found=$(samples $((before - 1)) $((after + 1)))
[ "$found" = "$all" ] || fail "--time by the wall clock finds $found of $all samples"
found=$(samples $((before - 3601)) $((before - 1)))
[ "$found" = 0 ] || fail "--time finds $found samples an hour before"

several() { [ "$(ls s.trace.2* 2>/dev/null | wc -l)" -ge 4 ]; }
record s.trace several --switch-output=400ms
total=0
for file in s.trace.2*; do
	preport -i "$file" info --format=json >info.json || fail "$file does not read"
	grep -q '"complete": "true"' info.json || fail "$file is not complete"
	total=$((total + $(sed -n 's/^  "samples": \([0-9]*\),$/\1/p' info.json)))
done
set -- s.trace.2*
echo "$# files, $total samples"
[ $# -ge 4 ] && [ $total -gt 50 ] || fail "$# files with $total samples"
exit 0
