#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# After SIGINT everything has one end: a pipe that takes nothing more is given up, and when the time is over before the first
# step, each is left out and counted, and the file is whole.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
[ -z "${SAN-}" ] || skip "sanitizers do not let a library be preloaded"
$CC -O2 -fPIC -shared -o late.so "$TOP/tests/programs/late_clock.c" -ldl || fail "cannot compile"
trap 'kill $(jobs -p) 2>/dev/null' EXIT
busy() { while :; do : $(true); done; } # forks: mappings, threads and waits

# Nobody reads the FIFO. A first signal is noticed though the recorder waits for room, a second one ends it.
mkfifo full
sleep 100 <full & reader=$!
busy & load=$!
precord -q -a -F 4999 --raw-stacks --call-graph=dwarf -o full 2>err.txt & job=$!
sleep 0.7
for _ in $(seq 300); do # the first one ends the recording, another one the wait for room
	kill -INT $job 2>/dev/null || break
	case $(awk '{ print $3 }' /proc/$job/stat 2>/dev/null) in Z | '') break ;; esac
	sleep 0.1
done
kill $reader
wait $job
status=$?
kill $load
[ $status = 125 ] && grep -q "'full' takes no more data" err.txt || { cat err.txt; fail "full: status $status"; }

# As if the first step had taken all the time.
busy & load=$!
LD_PRELOAD=$PWD/late.so precord -a -F 999 --call-graph=dwarf --off-cpu -o late.trace 2>err.txt & job=$!
begun $job late.trace
sleep 0.5
kill -INT $job
wait $job || { cat err.txt; fail "late: status $?"; }
kill $load
grep -q "no time was left for all: accounts of threads' CPU time not read: [1-9]" err.txt || { cat err.txt; fail "late: no word of the accounts"; }
grep -q "no time was left for all: samples in the ring buffers not read: [1-9]" err.txt || { cat err.txt; fail "late: no word of the samples"; }
preport -i late.trace info >info.txt 2>&1 && grep -q '^File  *complete' info.txt || { cat info.txt err.txt; fail "late: the file is not complete"; }
grep -q '^Note .*no time was left' info.txt || { cat info.txt; fail "late: the file does not say so"; }
exit 0
